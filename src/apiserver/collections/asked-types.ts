/** Which types of which clusters a request for a collection is about, and what may be seen of each. */
import type { TypePattern } from '../../kube/collection-resource.ts'
import { type GroupResource, parseApiVersion } from '../../kube/group-resource.ts'
import type { Search } from '../../kube/search.ts'
import type { ReadScope } from '../../store/read-scope.ts'
import { type TypeScope, typesOf } from '../../store/type-scope.ts'
import type { Access } from '../access/access.ts'
import { typeScopes } from '../access/type-scopes.ts'
import type { CatalogCluster, ClusterResource, ServedResource } from '../catalog.ts'
import type { Identity } from '../identity.ts'
import { isAskedCluster } from '../routes/asked.ts'
import type { DescribedType } from './documents.ts'

export interface CollectionQuestion {
  readonly identity: Identity
  readonly patterns: readonly TypePattern[]
  readonly search: Pick<Search, 'clusters'>
}

export interface AskedTypes {
  /** Types that the reader may not list are left out. */
  readonly scopes: readonly TypeScope[]
  readonly served: readonly ServedResource[]
  /** Patterns that no type meets which the reader may list there. */
  readonly unmatched: readonly TypePattern[]
  /** All types that the reader may list in the clusters that are asked. */
  readonly listable: () => readonly GroupResource[]
  /** Names of the clusters that are asked and have none of the types. */
  readonly lacking: readonly string[]
}

export function askedTypes(access: Access, question: CollectionQuestion): AskedTypes {
  const { identity, patterns, search } = question
  const isAsked = (cluster: CatalogCluster) => isAskedCluster(cluster, search.clusters)
  const scopes = typeScopes(access, {
    identity,
    isWanted: (resource, cluster) =>
      isAsked(cluster) && patterns.some((pattern) => matches(pattern, resource)),
  })
  const visible = new Set(
    scopes.flatMap(({ types, scope }) =>
      types.flatMap((type) => scope.map((cluster) => `${type.id} ${cluster.id}`)),
    ),
  )
  const all = access.visible(identity)
  const served = all.flatMap(({ cluster, resources }) =>
    resources
      .filter(({ typeId }) => visible.has(`${typeId} ${cluster.id}`))
      .map((resource) => ({ cluster, resource, servesVersion: true })),
  )
  const having = new Set(served.map(({ cluster }) => cluster.id))
  const asked = all.map(({ cluster }) => cluster).filter(isAsked)
  return {
    ...{ scopes, served },
    unmatched: patterns.filter(
      (pattern) => !served.some(({ resource }) => matches(pattern, resource)),
    ),
    listable: () =>
      typesOf(typeScopes(access, { identity, isWanted: (_, cluster) => isAsked(cluster) })),
    lacking: asked.filter(({ id }) => !having.has(id)).map(({ name }) => name),
  }
}

/** In any of the versions that the member serves it in, and of the groups that it was moved from. */
function matches({ group, version, resource }: TypePattern, of: ClusterResource): boolean {
  if (resource !== undefined && resource !== of.resource) return false
  if (group === undefined || (group === of.group && version === undefined)) return true
  return of.servedVersions
    .map(parseApiVersion)
    .some((served) => served.group === group && served.version === (version ?? served.version))
}

/** Each type once in each version that its objects have. */
export function describeTypes(served: readonly ServedResource[]): readonly DescribedType[] {
  const described = served.map(({ resource: { apiVersion, kind, resource } }) => {
    const { group, version } = parseApiVersion(apiVersion)
    return { group, version, kind, resource }
  })
  const byText = new Map(described.map((type) => [JSON.stringify(type), type]))
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, type]) => type)
}

/** All clusters of which something is asked; of which namespaces is not said here. */
export function clustersAsked({ scopes }: AskedTypes): ReadScope {
  return scopes.flatMap(({ scope }) => scope)
}
