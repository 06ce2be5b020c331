/**
 * What a get or list is about: the type, the clusters that are asked, what the reader may see there.
 *
 * Rights come first, as in kube-apiserver: who may not see a type is not told whether it exists.
 */
import type { FastifyRequest } from 'fastify'
import { apiVersionOf } from '../../kube/group-resource.ts'
import { matchesLabels } from '../../kube/label-selector.ts'
import type { ResourcePath } from '../../kube/request-path.ts'
import type { ClusterCondition, Search } from '../../kube/search.ts'
import { methodNotAllowed, noSuchResource, StatusError } from '../../kube/status-error.ts'
import type { ReadScope } from '../../store/read-scope.ts'
import type { Access, ReadVerb } from '../access/access.ts'
import { clusterNotFound } from '../access/forbidden.ts'
import type { CatalogCache, CatalogCluster, FoundType, ServedResource } from '../catalog.ts'
import type { Surface } from '../prefixes.ts'

export interface AskedParts {
  readonly access: Access
  readonly catalog: CatalogCache
}

export interface Question {
  readonly request: FastifyRequest
  readonly surface: Surface
  readonly path: ResourcePath
  readonly search: Search
  readonly verb: ReadVerb
}

export interface Asked {
  readonly type: FoundType
  /** As the path spells it: `apps/v1`. */
  readonly apiVersion: string
  /** The clusters that are asked and have the type, sorted by name. */
  readonly served: readonly ServedResource[]
  /** Exactly those, with the namespaces that the reader may see. */
  readonly scope: ReadScope
  /** Names of clusters that are asked and visible, but from which the type is not mirrored. */
  readonly lacking: readonly string[]
  /** Names of clusters that are asked and have the type, but are left out by `strictVersion`. */
  readonly otherVersions: readonly string[]
}

/** The path names no group that anyone serves: answered with a text, not with a Status. */
export class UnknownGroup extends Error {
  override readonly name = 'UnknownGroup'
}

/**
 * By a catalog that knows what was committed before, should the one at hand know no such thing.
 *
 * @throws as {@link whatIsAsked}.
 */
export async function askedByNow(parts: AskedParts, question: Question): Promise<Asked> {
  try {
    return whatIsAsked(parts, question)
  } catch (error) {
    if (!isOfCatalog(error)) throw error
    await parts.catalog.refresh()
    return whatIsAsked(parts, question)
  }
}

/** A reader's rights are those to known clusters. */
function isOfCatalog(error: unknown): boolean {
  if (error instanceof UnknownGroup) return true
  return error instanceof StatusError && ['NotFound', 'Forbidden'].includes(error.reason)
}

/**
 * @throws 403 when nothing of it may be seen, 404 for a type or cluster that is not there, 405 for
 *   the deprecated watch paths; {@link UnknownGroup}.
 */
function whatIsAsked(parts: AskedParts, question: Question): Asked {
  const { path, surface } = question
  if (path.watch) throw methodNotAllowed()
  const scope = readScope(parts, question)
  const resolution = parts.catalog.resolve(path, scope)
  if (!resolution.found) {
    if (surface.kind === 'member') refuseUnknownCluster(parts, surface.cluster)
    throw resolution.because === 'group-unknown' ? new UnknownGroup() : noSuchResource()
  }
  const type = resolution.found
  refuseMisplaced(path, type)
  const apiVersion = apiVersionOf(path)
  const { clusters, strictVersion } = question.search
  const having = type.served.filter(({ cluster }) => isAskedCluster(cluster, clusters))
  const isShown = ({ resource }: ServedResource) =>
    !strictVersion || resource.apiVersion === apiVersion
  const served = having.filter(isShown)
  const otherVersions = having.filter((one) => !isShown(one)).map(({ cluster }) => cluster.name)
  const ids = new Set(served.map(({ cluster }) => cluster.id))
  const lacking = clustersLacking(type, scope, {
    known: parts.catalog.current().clusters,
    asked: clusters,
  })
  const shown = scope.filter(({ id }) => ids.has(id))
  return { type, apiVersion, served, scope: shown, lacking, otherVersions }
}

function clustersLacking(
  { served }: FoundType,
  scope: ReadScope,
  {
    known,
    asked,
  }: {
    readonly known: readonly CatalogCluster[]
    readonly asked: readonly ClusterCondition[]
  },
): readonly string[] {
  const visible = new Set(scope.map(({ id }) => id))
  const having = new Set(served.map(({ cluster }) => cluster.id))
  return known
    .filter(({ id }) => visible.has(id) && !having.has(id))
    .filter((cluster) => isAskedCluster(cluster, asked))
    .map(({ name }) => name)
}

function readScope({ access, catalog }: AskedParts, question: Question): ReadScope {
  const { request, path, surface, search, verb } = question
  const { group, resource, name } = path
  // A namespace in the path of a cluster-scoped type is no narrower question, but a wrong path.
  const everywhere = catalog.resolve(path, catalog.current().clusters)
  const namespace = everywhere.found?.namespaced === false ? undefined : path.namespace
  const of = { group, resource, verb, ...(namespace && { namespace }), ...(name && { name }) }
  const clusters = surface.kind === 'member' ? [surface.cluster] : ('every-cluster' as const)
  // Clusters given by name are refused by name, when the reader may see none of them.
  for (const condition of search.clusters) {
    if (condition.on === 'name' && condition.operator === 'In') {
      access.scope(request.identity, { ...of, clusters: condition.values })
    }
  }
  return access.scope(request.identity, { ...of, clusters })
}

function refuseUnknownCluster({ catalog }: AskedParts, name: string): void {
  const known = catalog.current().clusters.some((cluster) => cluster.name === name)
  if (!known) throw clusterNotFound(name)
}

/** A namespaced object has no path without a namespace, and the reverse. */
function refuseMisplaced(path: ResourcePath, type: FoundType): void {
  const misplaced = type.namespaced
    ? path.name !== undefined && path.namespace === undefined
    : path.namespace !== undefined
  if (misplaced) throw noSuchResource()
}

/** Do all conditions on clusters hold for this one? */
export function isAskedCluster(
  cluster: CatalogCluster,
  conditions: readonly ClusterCondition[],
): boolean {
  return conditions.every((condition) => isAsked(cluster, condition))
}

function isAsked(cluster: CatalogCluster, condition: ClusterCondition): boolean {
  if (condition.on === 'label') return matchesLabels([condition.requirement], cluster.labels)
  return condition.values.includes(cluster.name) === (condition.operator === 'In')
}
