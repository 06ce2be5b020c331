/**
 * Clusters and objects from the store, in one pass over all clusters, within a reader's scope.
 *
 * The rows are streamed and selected by SQL; what is not in step is said, not guessed.
 */

import { parseFieldSelector } from '../kube/field-selector.ts'
import type { GroupResource } from '../kube/group-resource.ts'
import type { KubeObject } from '../kube/kube-object.ts'
import { timestamp } from '../kube/timestamp.ts'
import { type Catalog, type CatalogCluster, SYNCER_GRACE_MILLISECONDS } from '../store/catalog.ts'
import type { StoredClusterResource } from '../store/cluster-resources.ts'
import type { Store } from '../store/connect.ts'
import { listObjects } from '../store/list-objects.ts'
import type { ListRequest, ObjectCondition, RawRow } from '../store/list-request.ts'
import type { ReadScope } from '../store/read-scope.ts'
import { textAt } from './field.ts'
import type { DriftSource, Problem, ReadRequest, SourceCluster } from './source.ts'

export interface StoreSourceOptions {
  readonly store: Store
  readonly catalog: Catalog
  /** What the reader may see of a type; of all types, clusters without a scope do not exist. */
  readonly scopeOf: (of: GroupResource) => ReadScope
  /** Clusters that exist for the reader. */
  readonly isVisible: (cluster: CatalogCluster) => boolean
  readonly now: number
  /** A mirror that is behind its cluster by at most this is compared nevertheless. */
  readonly maxStalenessMilliseconds: number
}

/** For whoever may read the database itself. */
export function everyCluster(catalog: Catalog): Pick<StoreSourceOptions, 'scopeOf' | 'isVisible'> {
  const scope = catalog.clusters.map(({ id, name }) => ({
    ...{ id, name },
    namespaces: 'every-namespace' as const,
  }))
  return { scopeOf: () => scope, isVisible: () => true }
}

export function storeSource(options: StoreSourceOptions): DriftSource {
  const clusters = options.catalog.clusters.filter(options.isVisible)
  const byName = new Map(clusters.map((cluster) => [cluster.name, cluster]))
  return {
    async clusters() {
      return clusters.map((cluster) => sourceCluster(cluster, options))
    },
    async read(request, each) {
      const problems = new Map<string, Problem>()
      const allowed = new Map(options.scopeOf(request.of).map((scoped) => [scoped.name, scoped]))
      const scope = request.clusters.flatMap((name) => {
        const cluster = byName.get(name)
        const scoped = allowed.get(name)
        const problem = typeProblem(cluster, scoped !== undefined, request.of)
        if (problem) problems.set(name, problem)
        return problem || !scoped ? [] : [scoped]
      })
      await readRows({ ...options, scope }, request, each)
      return problems
    },
  }
}

function sourceCluster(cluster: CatalogCluster, options: StoreSourceOptions): SourceCluster {
  const { name, labels } = cluster
  const { observedAt, problem } = freshness(cluster, options)
  const version = gitVersion(cluster.version)
  return { name, labels, version, observedAt, ...(problem && { problem }) }
}

const NEVER = new Date(0)

function freshness(
  { staleReason, staleSince, syncerSeenAt, resources }: CatalogCluster,
  { now, maxStalenessMilliseconds }: StoreSourceOptions,
): { readonly observedAt: Date; readonly problem?: Problem } {
  const isTolerable = (since: Date | null) =>
    since !== null && since.getTime() >= now - maxStalenessMilliseconds
  if (staleReason !== null) {
    const problem: Problem = {
      why: 'disconnected',
      message: behind(staleReason, staleSince, resources),
    }
    return { observedAt: staleSince ?? NEVER, ...(!isTolerable(staleSince) && { problem }) }
  }
  const goneAt = syncerSeenAt ? syncerSeenAt.getTime() + SYNCER_GRACE_MILLISECONDS : 0
  if (goneAt >= now) return { observedAt: new Date(now) }
  const message = behind('no syncer is at work', syncerSeenAt, [])
  return {
    observedAt: syncerSeenAt ?? NEVER,
    ...(!isTolerable(syncerSeenAt) && { problem: { why: 'stale', message } }),
  }
}

/** A mirror that was listed once was in step, even if nobody noted when that ended. */
function behind(
  reason: string,
  since: Date | null,
  resources: ReadonlyArray<Pick<StoredClusterResource, 'position'>>,
): string {
  if (since) return `${reason}; last in step ${timestamp(since.getTime())}`
  return resources.some(({ position }) => position) ? reason : `${reason}; never in step`
}

/** A member may answer anything; what is no version counts as untold. */
function gitVersion(document: string | null): string | undefined {
  if (document === null) return undefined
  try {
    return textAt(JSON.parse(document), 'gitVersion') || undefined
  } catch {
    return undefined
  }
}

function typeProblem(
  cluster: CatalogCluster | undefined,
  isAllowed: boolean,
  of: GroupResource,
): Problem | undefined {
  if (!isAllowed) {
    return { why: 'forbidden', message: `you may not read ${of.resource} of it` }
  }
  const resource = cluster?.resources.find(
    ({ group, resource }) => group === of.group && resource === of.resource,
  )
  if (!resource) return { why: 'not collected', message: `its ${of.resource} are not synced` }
  return stateProblem(resource)
}

function stateProblem(resource: StoredClusterResource): Problem | undefined {
  const { status, reason, message, position } = resource
  const text = message || `its ${resource.resource} are not in step`
  if (status === 'Error' && reason === 'Forbidden') return { why: 'forbidden', message: text }
  if (!position) {
    const waiting = `the first list of its ${resource.resource} is not complete`
    return { why: 'not collected', message: status === 'Error' ? text : waiting }
  }
  return status === 'Error' || status === 'Stop' ? { why: 'stale', message: text } : undefined
}

async function readRows(
  { store, catalog, scope }: StoreSourceOptions & { readonly scope: ReadScope },
  { of, fieldSelector = '' }: ReadRequest,
  each: Parameters<DriftSource['read']>[1],
): Promise<void> {
  const [id] = [...catalog.types].find(
    ([, type]) => type.group === of.group && type.resource === of.resource,
  ) ?? [undefined]
  if (id === undefined) return
  const names = new Map(scope.map((scoped) => [scoped.id, scoped.name]))
  const request: ListRequest = {
    ...{ type: { ...of, id }, scope, order: [] },
    conditions: conditionsFrom(fieldSelector),
    want: { cells: false, metadata: false, body: true },
  }
  for await (const rows of listObjects(store, request)) {
    for (const row of rows) each(names.get(row.clusterId) ?? '', objectOf(row))
  }
}

function conditionsFrom(fieldSelector: string): readonly ObjectCondition[] {
  return parseFieldSelector(fieldSelector).map((requirement) => ({ on: 'field', requirement }))
}

function objectOf({ head, metadata, tail }: RawRow): KubeObject {
  return JSON.parse(Buffer.concat([head!, metadata!, tail!]).toString('utf8'))
}
