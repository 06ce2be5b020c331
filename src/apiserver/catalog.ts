/**
 * What is mirrored, as requests see it: which clusters there are, and which types each has.
 *
 * Kept in memory and made anew after every change (store/catalog.ts tells), so that no request
 * asks the database for it. One value never changes: what is derived from it can be kept beside it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import {
  apiVersionOf,
  type GroupResource,
  type GroupVersionResource,
  parseApiVersion,
} from '../kube/group-resource.ts'
import { storedAs } from '../kube/moved-resources.ts'
import type { Logger } from '../log.ts'
import {
  type Catalog,
  type CatalogCluster,
  loadCatalog,
  onCatalogChange,
} from '../store/catalog.ts'
import type { StoredClusterResource } from '../store/cluster-resources.ts'
import type { Store } from '../store/connect.ts'

/** One type of one cluster. */
export type ClusterResource = StoredClusterResource
export type { Catalog, CatalogCluster }

/** A type as one cluster has it. */
export interface ServedResource {
  readonly cluster: CatalogCluster
  readonly resource: ClusterResource
  /** False when this member does not serve the version that was asked for. */
  readonly servesVersion: boolean
}

/** The type that a request asks for, and where it is. */
export interface FoundType {
  /** As it is stored: a moved type has the group it is known by here (kube/moved-resources.ts). */
  readonly id: number
  readonly group: string
  readonly resource: string
  readonly namespaced: boolean
  readonly kind: string
  readonly listKind: string
  /** Every asked cluster that has the type, in whatever version, sorted by name; at least one. */
  readonly served: readonly ServedResource[]
}

/**
 * `group-unknown` is answered with the text `404 page not found`, `resource-unknown` with a
 * Status: so does kube-apiserver.
 */
export type Resolution =
  | { readonly found: FoundType }
  | { readonly found: undefined; readonly because: 'group-unknown' | 'resource-unknown' }

export interface CatalogCache {
  /** The same object until something changes. */
  current(): Catalog
  /**
   * Loads it again: what was committed before this is called is in it after. For who is about to say
   * that something is not there; calls share a loading, and wait if there were many of late.
   */
  refresh(): Promise<void>
  /**
   * Looks a type up as a path names it, among the clusters given: those that the reader may see.
   *
   * Found when at least one of them serves it in that group and version.
   */
  resolve(wanted: GroupVersionResource, among: ReadonlyArray<{ readonly id: number }>): Resolution
  /** Stops listening to changes. */
  close(): Promise<void>
}

/** Where the catalog comes from: store/catalog.ts. */
export interface CatalogSource {
  load(): Promise<Catalog>
  /** Calls back soon after every change, and now and then without one. */
  onChange(listener: () => void): Promise<() => Promise<void>>
}

/** The catalog of a store. It is loaded once before this returns. */
export async function createCatalogCache(store: Store, log: Logger): Promise<CatalogCache> {
  const source = {
    load: () => loadCatalog(store),
    onChange: (listener: () => void) => onCatalogChange(store, listener),
  }
  return cacheCatalog(source, log)
}

export async function cacheCatalog(source: CatalogSource, log: Logger): Promise<CatalogCache> {
  const cache = new LiveCatalog(source, log)
  await cache.start()
  return cache
}

/** What changes and readers make us load again takes so much less time than what is left for answers. */
const CALM_FACTOR = 4
/** A loading that waited for a database that was away is no measure. */
const CALM_MOST_MILLISECONDS = 5_000

class LiveCatalog implements CatalogCache {
  readonly #source: CatalogSource
  readonly #log: Logger
  readonly #indexes = new WeakMap<Catalog, CatalogIndex>()
  #catalog = EMPTY
  #loading = Promise.resolve()
  /** The last loading has not begun yet. */
  #isWaiting = false
  /** A change was told of, and its loading waits for calm. */
  #isDue = false
  #calmUntil = 0
  #stop: () => Promise<void> = async () => undefined

  constructor(source: CatalogSource, log: Logger) {
    this.#source = source
    this.#log = log
  }

  async start(): Promise<void> {
    // Listening comes first: a change between loading and listening would be missed.
    this.#stop = await this.#source.onChange(() => void this.#reloadSoon())
    try {
      this.#catalog = await this.#source.load()
    } catch (error) {
      await this.#stop()
      throw error
    }
  }

  current(): Catalog {
    return this.#catalog
  }

  async refresh(): Promise<void> {
    await this.#calm()
    await this.#reload()
  }

  resolve(wanted: GroupVersionResource, among: ReadonlyArray<{ readonly id: number }>): Resolution {
    const index = this.#indexes.get(this.#catalog) ?? new CatalogIndex(this.#catalog)
    this.#indexes.set(this.#catalog, index)
    return index.resolve(wanted, new Set(among.map(({ id }) => id)))
  }

  async close(): Promise<void> {
    await this.#stop()
    await this.#loading
  }

  /** A thousand clusters that start change it all the time, and loading it is work then. */
  async #reloadSoon(): Promise<void> {
    if (this.#isDue) return
    this.#isDue = true
    await this.#calm()
    this.#isDue = false
    await this.#reload()
  }

  async #calm(): Promise<void> {
    const pause = this.#calmUntil - performance.now()
    if (pause > 0) await delay(pause, undefined, { ref: false })
  }

  /** Changes that come while the catalog is being loaded are answered by one more loading. */
  #reload(): Promise<void> {
    if (this.#isWaiting) return this.#loading
    this.#isWaiting = true
    this.#loading = this.#loading.then(() => this.#load())
    return this.#loading
  }

  async #load(): Promise<void> {
    this.#isWaiting = false
    const start = performance.now()
    try {
      this.#catalog = await this.#source.load()
    } catch (error) {
      this.#log.warn({ err: error }, 'cannot load the catalog; the last one is used')
    }
    const end = performance.now()
    this.#calmUntil = end + Math.min(CALM_FACTOR * (end - start), CALM_MOST_MILLISECONDS)
  }
}

const EMPTY: Catalog = { clusters: [], columnSets: new Map(), types: new Map() }

interface TypeInCluster {
  readonly cluster: CatalogCluster
  readonly resource: ClusterResource
}

/** The catalog turned around: type → the clusters that have it. */
class CatalogIndex {
  readonly #types = new Map<string, TypeInCluster[]>()
  /** Groups as members serve them, former ones included → clusters. */
  readonly #groups = new Map<string, Set<number>>()

  constructor({ clusters }: Catalog) {
    for (const cluster of clusters) {
      for (const resource of cluster.resources) this.#add({ cluster, resource })
    }
  }

  resolve(wanted: GroupVersionResource, among: ReadonlySet<number>): Resolution {
    const version = apiVersionOf(wanted)
    const served = (this.#types.get(keyOf(storedAs(wanted))) ?? [])
      .filter(({ cluster }) => among.has(cluster.id))
      .map((entry) => ({
        ...entry,
        servesVersion: entry.resource.servedVersions.includes(version),
      }))
    const example = served.find(({ servesVersion }) => servesVersion)?.resource
    if (!example) return { found: undefined, because: this.#whyNot(wanted.group, among) }
    const { typeId: id, group, resource, namespaced, kind, listKind } = example
    return { found: { id, group, resource, namespaced, kind, listKind, served } }
  }

  /** The core group is served always, so what is missing in it is a resource. */
  #whyNot(group: string, among: ReadonlySet<number>): 'group-unknown' | 'resource-unknown' {
    const having = this.#groups.get(group) ?? new Set<number>()
    const known = group === '' || [...having].some((cluster) => among.has(cluster))
    return known ? 'resource-unknown' : 'group-unknown'
  }

  #add(entry: TypeInCluster): void {
    const key = keyOf(entry.resource)
    const known = this.#types.get(key)
    if (known) known.push(entry)
    else this.#types.set(key, [entry])
    for (const version of entry.resource.servedVersions) {
      const { group } = parseApiVersion(version)
      const clusters = this.#groups.get(group) ?? new Set()
      this.#groups.set(group, clusters.add(entry.cluster.id))
    }
  }
}

function keyOf({ group, resource }: GroupResource): string {
  return `${group}/${resource}`
}
