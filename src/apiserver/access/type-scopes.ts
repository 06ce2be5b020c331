/** What a reader may list of many types at once; types of one scope are put together. */
import { StatusError } from '../../kube/status-error.ts'
import type { ReadScope } from '../../store/read-scope.ts'
import type { TypeScope } from '../../store/type-scope.ts'
import type { CatalogCluster, ClusterResource } from '../catalog.ts'
import type { Identity } from '../identity.ts'
import type { Access, VisibleCluster } from './access.ts'

export interface ScopeQuestion {
  readonly identity: Identity
  /** Which types, among those that the reader may see in the cluster. */
  readonly isWanted: (resource: ClusterResource, cluster: CatalogCluster) => boolean
  /** Left out: every namespace. */
  readonly namespace?: string | undefined
}

type Type = TypeScope['types'][number]

export function typeScopes(access: Access, question: ScopeQuestion): readonly TypeScope[] {
  const scopes = new Map<string, { types: Type[]; scope: ReadScope }>()
  for (const { type, clusters } of wantedTypes(access.visible(question.identity), question)) {
    const scope = scopeOf(access, question, type).filter(({ id }) => clusters.has(id))
    if (scope.length === 0) continue
    const key = JSON.stringify(scope)
    const same = scopes.get(key)
    if (same) same.types.push(type)
    else scopes.set(key, { types: [type], scope })
  }
  return [...scopes.values()]
}

function wantedTypes(
  visible: readonly VisibleCluster[],
  { isWanted }: ScopeQuestion,
): Iterable<{ readonly type: Type; readonly clusters: ReadonlySet<number> }> {
  const types = new Map<number, { type: Type; clusters: Set<number> }>()
  for (const { cluster, resources } of visible) {
    for (const resource of resources.filter((each) => isWanted(each, cluster))) {
      const { typeId: id, group, resource: name } = resource
      const known = types.get(id) ?? { type: { id, group, resource: name }, clusters: new Set() }
      known.clusters.add(cluster.id)
      types.set(id, known)
    }
  }
  return types.values()
}

/** Nothing, where listing is refused: one type among many is left out then. */
function scopeOf(
  access: Access,
  { identity, namespace }: ScopeQuestion,
  { group, resource }: Type,
): ReadScope {
  const asked = { group, resource, verb: 'list', clusters: 'every-cluster' } as const
  try {
    return access.scope(identity, { ...asked, ...(namespace !== undefined && { namespace }) })
  } catch (error) {
    if (error instanceof StatusError && error.reason === 'Forbidden') return []
    throw error
  }
}
