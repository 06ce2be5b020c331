/**
 * One member while its credentials and its lease last: client, health, discovery, types.
 *
 * Owns     when the member is asked what; the seams between its parts.
 * Not here the lease and the registration (cluster-syncer.ts), one type (resource-syncer.ts).
 */
import { isBuiltInGroup } from '../kube/built-in-groups.ts'
import type { GroupResource } from '../kube/group-resource.ts'
import { printerFor } from '../printers/printers.ts'
import { listClusterResources } from '../store/cluster-resources.ts'
import { type Lease, LeaseLost } from '../store/leases.ts'
import { followApiServices } from './api-services.ts'
import { checkHealth, type Health } from './cluster-health.ts'
import { CustomColumns } from './custom-columns.ts'
import { Discoverer } from './discover.ts'
import { KnownTypes } from './known-types.ts'
import type { MemberAccess } from './member-access.ts'
import { MemberClient } from './member-client.ts'
import { MemberError } from './member-error.ts'
import { OpenApiMirror } from './openapi-mirror.ts'
import { Reconciler } from './reconciler.ts'
import type { SyncServices } from './services.ts'
import { type MissingType, resolveSyncList, type SyncList, wantsType } from './sync-list.ts'
import { TypeSet } from './type-set.ts'
import { Wakeup } from './wakeup.ts'

/** What of a registration says what is mirrored. */
export interface SyncConfig {
  readonly list: SyncList
  readonly namespaces: readonly string[] | undefined
  /** The template is missing: what it named before is not forgotten. */
  readonly incomplete: boolean
}

export interface SessionOptions {
  readonly services: SyncServices
  readonly cluster: string
  readonly lease: Lease
  readonly access: MemberAccess
  readonly config: SyncConfig
  readonly changed: () => void
  readonly lost: (error: LeaseLost) => void
  readonly preferVersion?: (type: GroupResource, served: readonly string[]) => string
}

/** How the member is, in one look. */
export interface SessionState {
  readonly health: Health | undefined
  /** Why the last check failed; undefined when it did not. */
  readonly trouble: MemberError | undefined
  /** Milliseconds since 1970; undefined: never. */
  readonly lastHealthyAt: number | undefined
  readonly missing: readonly MissingType[]
  /** Discovery was read, and the types were started. */
  readonly started: boolean
  readonly discoveryTrouble: MemberError | undefined
}

/** A definition is served some moments after it is stored: discovery is asked again then. */
const AGAIN_MILLISECONDS = [1_000, 3_000, 7_000]

export class MemberSession {
  readonly #options: SessionOptions
  readonly #client: MemberClient
  readonly #discoverer: Discoverer
  readonly #types: TypeSet
  readonly #openApi: OpenApiMirror
  readonly #reconciler: Reconciler
  readonly #stopping = new AbortController()
  readonly #wakeup = new Wakeup()
  readonly #loops: Promise<unknown>
  #columns: CustomColumns | undefined
  #columnsPath = ''
  #apiServices: ReturnType<typeof followApiServices> | undefined
  #known: KnownTypes | undefined
  #config: SyncConfig
  #state: SessionState = {
    health: undefined,
    trouble: undefined,
    lastHealthyAt: undefined,
    missing: [],
    started: false,
    discoveryTrouble: undefined,
  }

  constructor(options: SessionOptions) {
    const { services, cluster, lease, access, changed, lost } = options
    this.#options = options
    this.#config = options.config
    const { documentMilliseconds } = services.limits
    this.#client = new MemberClient(access, {
      ...{ userAgent: services.userAgent, documentMilliseconds },
      count: (method, code) => services.metrics.asked({ cluster, method, code }),
    })
    const client = this.#client
    this.#discoverer = new Discoverer(client)
    const controlPlaneUid = () => this.#state.health?.controlPlaneUid ?? ''
    this.#types = new TypeSet({
      ...{ services, cluster, lease, client, changed, lost, controlPlaneUid },
    })
    this.#openApi = new OpenApiMirror({ services, lease, client })
    const { signal } = this.#stopping
    const syncers = () => this.#types.syncers
    this.#reconciler = new Reconciler({ services, cluster, lease, syncers })
    this.#loops = Promise.allSettled([
      this.#checkForever(signal),
      this.#discoverForever(signal),
      this.#reconciler.run(signal),
    ])
  }

  get state(): SessionState {
    return this.#state
  }

  /** Where the member is, for its status. */
  get server(): string {
    return this.#options.access.server.href.replace(/\/$/, '')
  }

  get types() {
    return this.#types.types
  }

  /** How watches are shared; `''` when there is one for each type. */
  get sharing(): string {
    return this.#types.sharing
  }

  configure(config: SyncConfig): void {
    this.#config = config
    this.#wakeup.wake()
  }

  lookForRequests(): void {
    this.#reconciler.look()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#types.stop()
    await this.#columns?.stop()
    await this.#apiServices?.stop()
    await this.#client.close()
    await this.#loops
    await this.#openApi.idle()
  }

  // Health

  async #checkForever(signal: AbortSignal): Promise<void> {
    const { clock, limits } = this.#options.services
    while (!signal.aborted) {
      await this.#check(signal)
      if (!signal.aborted) this.#types.checkLag()
      await clock.sleep(limits.healthMilliseconds, signal).catch(() => undefined)
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { services, access } = this.#options
    const limit = AbortSignal.timeout(services.limits.healthTimeoutMilliseconds)
    try {
      const health = await checkHealth(this.#client, access, AbortSignal.any([signal, limit]))
      this.#healthy(health)
    } catch (error) {
      if (signal.aborted) return
      const timeout = new MemberError('unreachable', 'no answer in time')
      this.#set({ trouble: error instanceof MemberError ? error : timeout })
    }
  }

  #healthy(health: Health): void {
    const before = this.#state
    const uid = before.health?.controlPlaneUid
    this.#set({ health, trouble: undefined, lastHealthyAt: this.#options.services.clock.now() })
    if (uid && health.controlPlaneUid && uid !== health.controlPlaneUid) {
      this.#types.relistAll('replaced')
    }
    if (!before.health || before.trouble) this.#wakeup.wake()
  }

  #set(news: Partial<SessionState>): void {
    this.#state = { ...this.#state, ...news }
    this.#options.changed()
  }

  // Types

  async #discoverForever(signal: AbortSignal): Promise<void> {
    const { services, lost } = this.#options
    while (!signal.aborted) {
      try {
        if (this.#state.health) await this.#discover(signal)
      } catch (error) {
        if (error instanceof LeaseLost) return lost(error)
        if (signal.aborted) return
        services.log.warn({ err: error, cluster: this.#options.cluster }, 'discovery failed')
        if (error instanceof MemberError) this.#set({ discoveryTrouble: error })
      }
      const jitter = 0.8 + 0.4 * Math.random()
      await this.#wakeup.wait(services.limits.discoveryMilliseconds * jitter, signal)
    }
  }

  async #discover(signal: AbortSignal): Promise<void> {
    const { services, lease } = this.#options
    this.#known ??= new KnownTypes(await listClusterResources(services.store, lease.clusterId))
    this.#known.learn(await this.#discoverer.discover(signal))
    await this.#followDefinitions(signal)
    this.#followApiServices(signal)
    await this.#apply(this.#known, signal)
    const apiVersions = this.#types.types.flatMap(({ target }) => target.servedVersions)
    this.#openApi.updateSoon(apiVersions, signal)
  }

  async #apply(known: KnownTypes, signal: AbortSignal): Promise<void> {
    const config = this.#config
    const columns = this.#columns
    const { preferVersion } = this.#options
    const isCustom = (type: GroupResource) => columns?.isCustom(type) ?? !isBuiltInGroup(type.group)
    const resolve = (served: typeof known.served) =>
      resolveSyncList({
        served,
        list: config.list,
        isCustom,
        ...(preferVersion && { preferVersion }),
      })
    const { targets, missing } = resolve(known.served)
    await this.#types.apply(
      {
        targets,
        namespaces: config.namespaces,
        isWanted: (type) => wantsType(config.list, type),
        mayReturn: (stored) => config.incomplete || known.mayServe(stored.servedVersions),
        printerFor: (info) => columns?.printerFor(info) ?? printerFor(info),
        columnsOf: (info) => columns?.columnsOf(info) ?? '',
      },
      signal,
    )
    this.#set({ missing, started: true, discoveryTrouble: undefined })
  }

  /** Custom resources print what their definition says: it is read before they are listed. */
  async #followDefinitions(signal: AbortSignal): Promise<void> {
    const { services } = this.#options
    const info = this.#known?.served.find(
      ({ group, resource }) =>
        group === 'apiextensions.k8s.io' && resource === 'customresourcedefinitions',
    )
    const path = info ? info.version : ''
    if (path !== this.#columnsPath) {
      await this.#columns?.stop()
      // One that is started after stop() would run for ever: nobody knows it.
      signal.throwIfAborted()
      this.#columns = undefined
      this.#columnsPath = path
      if (info) this.#columns = this.#follow(info)
    }
    const until = services.clock.now() + services.limits.columnsPatienceMilliseconds
    while (this.#columns && !this.#columns.settled && services.clock.now() < until) {
      await services.clock.sleep(20, signal)
    }
  }

  #followApiServices(signal: AbortSignal): void {
    const { services } = this.#options
    const info = this.#known?.served.find(
      ({ group, resource }) => group === 'apiregistration.k8s.io' && resource === 'apiservices',
    )
    if (!info || this.#apiServices) return
    // One that is started after stop() would run for ever: nobody knows it.
    signal.throwIfAborted()
    this.#apiServices = followApiServices({
      client: this.#client,
      info,
      limits: services.limits.follow,
      clock: services.clock,
      changed: () => this.#askAgainSoon(),
    })
  }

  #askAgainSoon(): void {
    this.#wakeup.wake()
    for (const after of AGAIN_MILLISECONDS) this.#wakeup.wakeAfter(after, this.#stopping.signal)
  }

  #follow(info: Parameters<CustomColumns['printerFor']>[0]): CustomColumns {
    const { services } = this.#options
    return new CustomColumns({
      client: this.#client,
      info,
      limits: services.limits.follow,
      clock: services.clock,
      changed: () => this.#askAgainSoon(),
    })
  }
}
