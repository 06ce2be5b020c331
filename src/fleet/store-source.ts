/**
 * Observations from the store: the mirror of many clusters, read a few clusters at a time, so that
 * what is in memory is a few clusters' worth.
 */
import type { Clock } from '../clock.ts'
import type { Fields } from '../printers/read-field.ts'
import { type CatalogCluster, loadCatalog } from '../store/catalog.ts'
import type { Store } from '../store/connect.ts'
import { readSwept } from '../store/sweep.ts'
import { compareBytes } from './byte-order.ts'
import { timeOfEvent } from './event.ts'
import { type MirroredCluster, type MirrorRequest, mirroredCluster } from './mirrored-cluster.ts'
import { objectIn, partOf } from './mirrored-parts.ts'
import { MINUTE, type Observation } from './observation.ts'
import type { Identity } from './outcome.ts'
import { type Target, Unreachable } from './sweep.ts'
import { SWEPT_RESOURCES, type SweptResource, sweptType } from './swept-resources.ts'

export interface StoreRequest extends Omit<MirrorRequest, 'now'> {
  readonly store: Store
  readonly clock: Clock
  readonly nodes?: boolean
}

export interface StoreSource {
  /** Of the registered clusters, ascending. */
  readonly names: readonly string[]
  /** @param selected - names among {@link names}, each as often as it likes. */
  targets(selected: readonly Identity[]): readonly Target[]
}

/** Clusters that are read at once. */
const BATCH_CLUSTERS = 20
/** API servers forget events after an hour; so does a sweep. */
const EVENT_WINDOW = 60 * MINUTE

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

interface Readable extends MirroredCluster {
  readonly id: number
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
      readable.push({ ...mirrored, id: cluster.id, index, lists })
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      observed.set(index, error)
    }
  }
  await Promise.all(SWEPT_RESOURCES.map((resource) => readResource(resource, readable, request)))
  for (const { index, lists, blindSpots, observedAt } of readable) {
    const isSeen = Object.keys(lists).length > 0
    const observation = { now: observedAt, lists, blindSpots }
    observed.set(index, isSeen ? observation : new Unreachable('connecting to the cluster'))
  }
  return observed
}

/** What the database cannot tell now is a blind spot of every cluster it was asked about. */
async function readResource(
  resource: SweptResource,
  clusters: readonly Readable[],
  request: StoreRequest,
): Promise<void> {
  const having = clusters.filter(({ typeIds }) => typeIds.has(resource))
  if (having.length === 0) return
  try {
    const objectsOf = await readObjects(resource, having, request)
    for (const { id, lists, observedAt } of having) {
      const objects = objectsOf.get(id) ?? []
      lists[resource] = resource === 'events' ? recent(objects, observedAt) : objects
    }
  } catch {
    for (const { blindSpots } of having) blindSpots.add(resource)
  }
}

/** By cluster id. */
async function readObjects(
  resource: SweptResource,
  clusters: readonly Readable[],
  { store, namespace, nodes = false }: StoreRequest,
): Promise<ReadonlyMap<number, readonly Fields[]>> {
  const part = partOf(resource, nodes)
  if (part === 'none') return new Map()
  const read = {
    clusterIds: clusters.map(({ id }) => id),
    typeId: clusters[0]!.typeIds.get(resource)!,
    ...(namespace !== undefined && sweptType(resource).namespaced && { namespace }),
  }
  const objectsOf = new Map<number, Fields[]>()
  for (const row of await readSwept(store, read, part)) {
    const object = objectIn(resource, row)
    const known = objectsOf.get(row.clusterId)
    if (known) known.push(object)
    else objectsOf.set(row.clusterId, [object])
  }
  return objectsOf
}

/** An event without a time may be of now. */
function recent(events: readonly Fields[], now: number): readonly Fields[] {
  return events.filter((event) => (timeOfEvent(event) ?? now) >= now - EVENT_WINDOW)
}
