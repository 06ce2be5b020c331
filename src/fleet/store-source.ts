/**
 * Observations from the store: the mirror of many clusters, read a few clusters at a time, so that
 * what is in memory is a few clusters' worth.
 */
import type { Clock } from '../clock.ts'
import { compareBytes } from '../kube/byte-order.ts'
import type { Logger } from '../log.ts'
import type { Fields } from '../printers/read-field.ts'
import { type CatalogCluster, loadCatalog } from '../store/catalog.ts'
import type { StoredClusterResource } from '../store/cluster-resources.ts'
import type { Store } from '../store/connect.ts'
import { readSwept, type SweptRow } from '../store/sweep.ts'
import { causeOf } from './cause.ts'
import { recentEvents } from './event-window.ts'
import { type MirroredCluster, type MirrorRequest, mirroredCluster } from './mirrored-cluster.ts'
import { objectIn, partOf } from './mirrored-parts.ts'
import type { Observation } from './observation.ts'
import type { Identity } from './outcome.ts'
import { type Target, Unreachable } from './sweep.ts'
import { SWEPT_RESOURCES, type SweptResource, sweptType } from './swept-resources.ts'

export interface StoreRequest extends Omit<MirrorRequest, 'now'> {
  readonly store: Store
  readonly clock: Clock
  readonly nodes?: boolean
  /** Told what goes wrong with the store. Left out: only the observations say it. */
  readonly log?: Logger
}

export interface StoreSource {
  /** Of the registered clusters, ascending. */
  readonly names: readonly string[]
  /** @param selected - names among {@link names}, each as often as it likes. */
  targets(selected: readonly Identity[]): readonly Target[]
}

/** Clusters that are read at once. */
const BATCH_CLUSTERS = 20

/** @throws StatusError when the database does not answer. */
export async function storeSource(request: StoreRequest): Promise<StoreSource> {
  const catalog = await loadCatalog(request.store)
  const byName = new Map(catalog.clusters.map((cluster) => [cluster.name, cluster]))
  return {
    names: [...byName.keys()].sort(compareBytes),
    targets: (selected) => {
      const batches = batchesOf(
        selected.map(({ context }) => byName.get(context)!),
        request,
      )
      return selected.map((identity, i) => ({
        ...identity,
        observe: (signal) => batches[Math.floor(i / BATCH_CLUSTERS)]!.take(i, signal),
      }))
    },
  }
}

interface Batch {
  /** Each once: what was taken is not kept. */
  take(index: number, signal: AbortSignal): Promise<Observation>
  readAhead(): void
}

type Observed = Observation | Unreachable

/** While one batch is judged the database works on the next. */
function batchesOf(clusters: readonly CatalogCluster[], request: StoreRequest): readonly Batch[] {
  const batches: Batch[] = []
  for (let from = 0; from < clusters.length; from += BATCH_CLUSTERS) {
    const own = clusters.slice(from, from + BATCH_CLUSTERS)
    const next = () => batches[Math.floor(from / BATCH_CLUSTERS) + 1]
    let reading: Promise<Map<number, Observed>> | undefined
    const read = () => {
      reading ??= observeBatch(own, request)
      // Whoever takes from it is told; until then nobody is there to be.
      reading.catch(() => undefined)
      return reading
    }
    batches.push({
      readAhead: () => void read(),
      take: async (index, signal) => {
        signal.throwIfAborted()
        const observed = await read()
        next()?.readAhead()
        const found = observed.get(index - from)
        observed.delete(index - from)
        if (!found) throw new Unreachable('connecting to the cluster')
        if (found instanceof Unreachable) throw found
        return found
      },
    })
  }
  return batches
}

interface Readable extends MirroredCluster<StoredClusterResource> {
  readonly id: number
  readonly name: string
  readonly index: number
  readonly lists: { [K in SweptResource]?: readonly Fields[] }
}

async function observeBatch(
  clusters: readonly CatalogCluster[],
  request: StoreRequest,
): Promise<Map<number, Observed>> {
  const now = request.clock.now()
  const observed = new Map<number, Observed>()
  const readable: Readable[] = []
  for (const [index, cluster] of clusters.entries()) {
    try {
      const mirrored = mirroredCluster(cluster, { ...request, now })
      const lists = Object.fromEntries(mirrored.empty.map((resource) => [resource, []]))
      readable.push({ ...mirrored, id: cluster.id, name: cluster.name, index, lists })
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      observed.set(index, error)
    }
  }
  await Promise.all(groupsOf(request).map((group) => readGroup(group, readable, request)))
  for (const { index, lists, causes, observedAt } of readable) {
    const isSeen = Object.keys(lists).length > 0
    const observation = { now: observedAt, lists, blindSpots: new Set(causes.keys()), causes }
    const [cause] = [...causes.values()].map(({ error }) => error).filter(Boolean)
    const unreachable = new Unreachable('connecting to the cluster', { cause })
    observed.set(index, isSeen ? observation : unreachable)
  }
  return observed
}

/** What is fetched in the same way is fetched together: a query costs more than the rows of a kind. */
function groupsOf({ namespace, nodes = false }: StoreRequest): readonly ReadGroup[] {
  const groups = Map.groupBy(SWEPT_RESOURCES, (resource) => {
    const isNarrowed = namespace !== undefined && sweptType(resource).namespaced
    return JSON.stringify([isNarrowed, partOf(resource, nodes)])
  })
  return [...groups.values()].map((resources) => {
    const [first] = resources
    const isNarrowed = namespace !== undefined && sweptType(first!).namespaced
    return { resources, part: partOf(first!, nodes), namespace: isNarrowed ? namespace : undefined }
  })
}

interface ReadGroup {
  readonly resources: readonly SweptResource[]
  readonly part: ReturnType<typeof partOf>
  readonly namespace: string | undefined
}

/** What the database cannot tell now is a blind spot of every cluster it was asked about. */
async function readGroup(
  group: ReadGroup,
  clusters: readonly Readable[],
  { store, log }: Pick<StoreRequest, 'store' | 'log'>,
): Promise<void> {
  try {
    const rows = await readRows(group, clusters, store)
    for (const cluster of clusters) takeRows(cluster, { resources: group.resources, rows, log })
  } catch (error) {
    log?.warn({ err: error, resources: group.resources }, 'a sweep cannot read the mirror')
    for (const { types, causes } of clusters) {
      const read = group.resources.filter((resource) => types.has(resource))
      for (const resource of read) causes.set(resource, causeOf(error))
    }
  }
}

/** By {@link rowsKey}. */
type RowsByKey = ReadonlyMap<string, readonly SweptRow[]>

function rowsKey(clusterId: number, typeId: number): string {
  return `${clusterId} ${typeId}`
}

async function readRows(
  { resources, part, namespace }: ReadGroup,
  clusters: readonly Readable[],
  store: Store,
): Promise<RowsByKey> {
  const typeIds = clusters.flatMap(({ types }) =>
    resources.flatMap((resource) => types.get(resource)?.typeId ?? []),
  )
  if (part === 'none' || typeIds.length === 0) return new Map()
  const read = {
    clusterIds: clusters.map(({ id }) => id),
    typeIds: [...new Set(typeIds)],
    ...(namespace !== undefined && { namespace }),
  }
  const rows = await readSwept(store, read, part)
  return Map.groupBy(rows, ({ clusterId, typeId }) => rowsKey(clusterId, typeId))
}

interface TakenRows {
  readonly resources: readonly SweptResource[]
  readonly rows: RowsByKey
  readonly log: Logger | undefined
}

/** What cannot be parsed of one cluster is no matter of the others. */
function takeRows(cluster: Readable, { resources, rows, log }: TakenRows): void {
  const { id, name, types, lists, causes, observedAt } = cluster
  for (const resource of resources) {
    const type = types.get(resource)
    if (!type) continue
    try {
      const own = rows.get(rowsKey(id, type.typeId)) ?? []
      const objects = own.map((row) => objectIn(resource, row))
      lists[resource] = resource === 'events' ? recentEvents(objects, observedAt) : objects
    } catch (error) {
      log?.error({ err: error, cluster: name, resource }, 'a stored object cannot be parsed')
      causes.set(resource, { word: 'defect', error })
    }
  }
}
