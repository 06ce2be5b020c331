/**
 * In which version a type is listed, seen from the whole fleet: the newest that a member serves and
 * that most members serve too. So one version shows as many clusters as can be in full.
 */
import type { GroupResource } from '../kube/group-resource.ts'
import type { Catalog } from '../store/catalog.ts'
import { keyOf } from './sync-list.ts'

interface Served {
  clusters: number
  readonly byVersion: Map<string, number>
}

export class FleetVersions {
  #types = new Map<string, Served>()

  /** Takes over what the members serve now, each as its own syncer last stored it. */
  learn({ clusters }: Pick<Catalog, 'clusters'>): void {
    const types = new Map<string, Served>()
    for (const resource of clusters.flatMap(({ resources }) => resources)) {
      const key = keyOf(resource)
      const served = types.get(key) ?? { clusters: 0, byVersion: new Map() }
      types.set(key, served)
      served.clusters++
      for (const version of resource.servedVersions) {
        served.byVersion.set(version, (served.byVersion.get(version) ?? 0) + 1)
      }
    }
    this.#types = types
  }

  /** @param served - apiVersions of one member, best first; never empty. */
  prefer(type: GroupResource, served: readonly string[]): string {
    const known = this.#types.get(keyOf(type))
    const common = served.find(
      (version) => known && (known.byVersion.get(version) ?? 0) * 2 > known.clusters,
    )
    return common ?? served[0]!
  }
}
