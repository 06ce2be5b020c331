/** Which types are served at all, in which versions: by any member, or by ourselves. */
import type { GroupVersionResource } from '../kube/group-resource.ts'
import { apiVersionOf } from '../kube/group-resource.ts'
import type { Catalog, CatalogCache } from './catalog.ts'

/** @param own - what the root serves, whatever is mirrored. */
export function servedTypes(
  catalog: Pick<CatalogCache, 'current'>,
  own: readonly GroupVersionResource[],
): (type: GroupVersionResource) => boolean {
  const ofRoot = new Set(own.map((type) => keyOf(apiVersionOf(type), type.resource)))
  const mirrored = new WeakMap<Catalog, ReadonlySet<string>>()
  return (type) => {
    const current = catalog.current()
    const known = mirrored.get(current) ?? typesIn(current)
    mirrored.set(current, known)
    const key = keyOf(apiVersionOf(type), type.resource)
    return known.has(key) || ofRoot.has(key)
  }
}

function typesIn({ clusters }: Catalog): ReadonlySet<string> {
  const types = clusters.flatMap(({ resources }) =>
    resources.flatMap(({ servedVersions, resource }) =>
      servedVersions.map((apiVersion) => keyOf(apiVersion, resource)),
    ),
  )
  return new Set(types)
}

function keyOf(apiVersion: string, resource: string): string {
  return `${apiVersion} ${resource}`
}
