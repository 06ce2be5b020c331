/** What one reader's request is answered from: their clusters, and what is known of them. */
import { CRDS, NODES } from '../../drift/gather.ts'
import type { DriftSource } from '../../drift/source.ts'
import { storeSource } from '../../drift/store-source.ts'
import type { GroupResource } from '../../kube/group-resource.ts'
import type { ReadScope } from '../../store/read-scope.ts'
import type { Access } from '../access/access.ts'
import type { CatalogCache, CatalogCluster } from '../catalog.ts'
import type { BriefCache } from './brief-cache.ts'
import type { JudgementParts, Judgements } from './judgements.ts'
import type { Manner } from './manner.ts'
import type { OneAtATime } from './one-at-a-time.ts'

export interface FleetView extends Manner {
  readonly scope: ReadScope
  /** Those of the scope, sorted by name. */
  readonly clusters: readonly CatalogCluster[]
  readonly judgements: Judgements
  readonly now: number
  /** Once for all who see the same; `what` names what is worked out. */
  compared<Found>(what: string, compare: (source: DriftSource) => Promise<Found>): Promise<Found>
}

export interface FleetParts extends JudgementParts {
  readonly catalog: CatalogCache
  readonly access: Pick<Access, 'scope'>
  /** How long an answer may take that goes through a proxy. */
  readonly proxiedListMilliseconds?: number | undefined
}

export interface ViewParts extends FleetParts {
  readonly judgements: Judgements
  readonly comparisons: BriefCache<unknown>
  readonly turns: OneAtATime
}

export function viewOf(
  { store, catalog, clock, judgements, comparisons, turns }: ViewParts,
  scope: ReadScope,
  manner: Manner,
): FleetView {
  const current = catalog.current()
  const ids = new Set(scope.map(({ id }) => id))
  const clusters = current.clusters.filter(({ id }) => ids.has(id))
  const now = clock.now()
  const source = () =>
    storeSource({
      ...{ store, catalog: current, maxStalenessMilliseconds: 0, now },
      isVisible: ({ id }) => ids.has(id),
      scopeOf: (of) => scopeOf(scope, of),
    })
  return {
    ...{ scope, clusters, judgements, now },
    ...manner,
    async compared<Found>(what: string, compare: (source: DriftSource) => Promise<Found>) {
      const key = JSON.stringify([what, manner, scope])
      return (await comparisons.get(key, () => turns.run(() => compare(source())))) as Found
    },
  }
}

/** Who may see some namespaces only may see nothing that is in none. */
function scopeOf(scope: ReadScope, of: GroupResource): ReadScope {
  const isInNone = [NODES, CRDS].some((type) => type.resource === of.resource)
  return isInNone ? scope.filter(({ namespaces }) => namespaces === 'every-namespace') : scope
}
