/**
 * Observations from the store: the mirror of many clusters, read a few clusters at a time, so that
 * what is in memory is a few clusters' worth.
 */
import type { Clock } from '../clock.ts'
import { compareBytes } from '../kube/byte-order.ts'
import type { Fields } from '../printers/read-field.ts'
import { type CatalogCluster, loadCatalog } from '../store/catalog.ts'
import type { StoredClusterResource } from '../store/cluster-resources.ts'
import type { Store } from '../store/connect.ts'
import { readSwept } from '../store/sweep.ts'
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
  await Promise.all(groupsOf(request).map((group) => readGroup(group, readable, request.store)))
  for (const { index, lists, blindSpots, observedAt } of readable) {
    const isSeen = Object.keys(lists).length > 0
    const observation = { now: observedAt, lists, blindSpots }
    observed.set(index, isSeen ? observation : new Unreachable('connecting to the cluster'))
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
  store: Store,
): Promise<void> {
  const asked = clusters.map((cluster) => ({
    cluster,
    resources: group.resources.filter((resource) => cluster.types.has(resource)),
  }))
  try {
    const objectsOf = await readObjects(group, clusters, store)
    for (const { cluster, resources } of asked) {
      for (const resource of resources) {
        const objects = objectsOf.get(`${cluster.id} ${resource}`) ?? []
        const isEvents = resource === 'events'
        cluster.lists[resource] = isEvents ? recentEvents(objects, cluster.observedAt) : objects
      }
    }
  } catch {
    for (const { cluster, resources } of asked) {
      for (const resource of resources) cluster.blindSpots.add(resource)
    }
  }
}

/** By cluster id and resource. */
async function readObjects(
  { resources, part, namespace }: ReadGroup,
  clusters: readonly Readable[],
  store: Store,
): Promise<ReadonlyMap<string, readonly Fields[]>> {
  const objectsOf = new Map<string, Fields[]>()
  const resourceOf = new Map<number, SweptResource>()
  for (const { types } of clusters) {
    for (const resource of resources) {
      const type = types.get(resource)
      if (type) resourceOf.set(type.typeId, resource)
    }
  }
  if (part === 'none' || resourceOf.size === 0) return objectsOf
  const clusterIds = clusters.map(({ id }) => id)
  const read = {
    clusterIds,
    typeIds: [...resourceOf.keys()],
    ...(namespace !== undefined && { namespace }),
  }
  for (const row of await readSwept(store, read, part)) {
    const resource = resourceOf.get(row.typeId)!
    const key = `${row.clusterId} ${resource}`
    const object = objectIn(resource, row)
    const known = objectsOf.get(key)
    if (known) known.push(object)
    else objectsOf.set(key, [object])
  }
  return objectsOf
}
