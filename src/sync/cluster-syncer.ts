/**
 * Syncs one registered cluster: holds its lease, and a session with the member while it does.
 *
 * Owns     what a change of the registration means: other credentials are another session, another
 *          list only another list; paused is no session at all.
 */
import type { GroupResource } from '../kube/group-resource.ts'
import {
  type ClusterSyncResources,
  PAUSED_ANNOTATION,
  type PediaCluster,
  type PediaClusterSpec,
  skipsVerify,
} from '../kube/pedia-cluster.ts'
import type { RegistrationSource } from '../registration/registration-source.ts'
import { registerCluster } from '../store/clusters.ts'
import {
  acquireLease,
  type Lease,
  LeaseLost,
  releaseLease,
  renewLease,
  StoreWentBack,
} from '../store/leases.ts'
import type { ClusterFacts } from './cluster-status.ts'
import { shownServer } from './credentials.ts'
import { InvalidConfig, type MemberAccess } from './member-access.ts'
import { MemberSession, type SyncConfig } from './member-session.ts'
import type { SyncServices } from './services.ts'
import { StatusWriter } from './status-writer.ts'
import { withInvolvedEvents } from './sync-list.ts'
import { Wakeup } from './wakeup.ts'

/** A registration with the template it names. */
export interface Registration {
  readonly cluster: PediaCluster
  /** Undefined when none is named, or it does not exist. */
  readonly template: ClusterSyncResources | undefined
}

export interface ClusterSyncerOptions {
  readonly services: SyncServices
  readonly registrations: RegistrationSource
  readonly registration: Registration
  /** @throws InvalidConfig */
  readonly accessOf: (cluster: PediaCluster) => MemberAccess
  readonly preferVersion?: (type: GroupResource, served: readonly string[]) => string
}

const RETRY_MILLISECONDS = 2_000
/** Of the lease's time, until it is renewed. */
const RENEW_FRACTION = 1 / 3

export class ClusterSyncer {
  readonly #options: ClusterSyncerOptions
  readonly #stopping = new AbortController()
  readonly #changed = new Wakeup()
  readonly #status: StatusWriter
  readonly #running: Promise<void>
  #registration: Registration
  /** Undefined while another process holds the cluster. */
  #held: { readonly lease: Lease; readonly lost: AbortController } | undefined
  #session: MemberSession | undefined
  /** What the session was made from: another text needs another session. */
  #sessionKey = ''
  #invalid: ClusterFacts['invalid']

  constructor(options: ClusterSyncerOptions) {
    this.#options = options
    this.#registration = options.registration
    const { name, uid } = options.registration.cluster.metadata
    this.#status = new StatusWriter({
      services: options.services,
      registrations: options.registrations,
      name,
      uid,
      facts: () => this.#held && { lease: this.#held.lease, facts: this.#facts() },
      lost: (error) => this.#held?.lost.abort(error),
      before: options.registration.cluster.status,
    })
    this.#running = this.#run(this.#stopping.signal)
  }

  update(registration: Registration): void {
    this.#registration = registration
    this.#changed.wake()
  }

  /** Somebody asked for a comparison, of this cluster or another. */
  lookForRequests(): void {
    this.#session?.lookForRequests()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await this.#status.stop()
    const { services, registration } = this.#options
    services.metrics.forgetCluster(registration.cluster.metadata.name)
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { services } = this.#options
    while (!signal.aborted) {
      try {
        await this.#hold(signal)
      } catch (error) {
        if (signal.aborted) return
        const { name } = this.#registration.cluster.metadata
        services.log.warn(
          { err: error, cluster: name },
          'a cluster is not synced; it is tried again',
        )
      }
      await services.clock.sleep(RETRY_MILLISECONDS, signal).catch(() => undefined)
    }
  }

  /** Syncs while the lease lasts. Returns when another process holds it. */
  async #hold(signal: AbortSignal): Promise<void> {
    const { store, holder, limits, log } = this.#options.services
    const clusterId = await this.#register()
    const lease = await acquireLease(store, { clusterId, holder, seconds: limits.leaseSeconds })
    if (!lease) return
    const lost = new AbortController()
    const all = AbortSignal.any([signal, lost.signal])
    this.#held = { lease, lost }
    this.#status.forgetWritten()
    const renewing = this.#renewForever(lease, lost, all)
    try {
      await this.#follow(lease, lost, all)
    } finally {
      const { reason: error } = lost.signal
      const { name } = this.#registration.cluster.metadata
      if (error instanceof StoreWentBack) log.warn({ cluster: name }, error.message)
      this.#held = undefined
      lost.abort(new LeaseLost(lease))
      await this.#endSession()
      await renewing
      // Best effort: a lease that is not released runs out by itself.
      await releaseLease(store, lease).catch(() => undefined)
    }
  }

  async #register(): Promise<number> {
    const { name, uid, labels = {} } = this.#registration.cluster.metadata
    return registerCluster(this.#options.services.store, { name, registrationUid: uid, labels })
  }

  async #renewForever(lease: Lease, lost: AbortController, signal: AbortSignal): Promise<void> {
    const { store, limits, clock, log } = this.#options.services
    const seconds = limits.leaseSeconds
    while (!signal.aborted) {
      await clock.sleep(seconds * 1000 * RENEW_FRACTION, signal).catch(() => undefined)
      if (signal.aborted) return
      try {
        if (!(await renewLease(store, lease, seconds))) lost.abort(new LeaseLost(lease))
      } catch (error) {
        if (error instanceof LeaseLost) return lost.abort(error)
        // The store is away: nobody else can take the lease either, and writes compare its epoch.
        log.debug({ err: error }, 'a lease was not renewed')
      }
    }
  }

  /** Brings the session in line with the registration, again after every change of it. */
  async #follow(lease: Lease, lost: AbortController, signal: AbortSignal): Promise<void> {
    let labels = JSON.stringify(this.#registration.cluster.metadata.labels ?? {})
    while (!signal.aborted) {
      const now = JSON.stringify(this.#registration.cluster.metadata.labels ?? {})
      if (now !== labels) await this.#register()
      labels = now
      await this.#reconcile(lease, lost)
      this.#status.changed()
      await this.#changed.wait(60_000, signal)
    }
  }

  async #reconcile(lease: Lease, lost: AbortController): Promise<void> {
    const registration = this.#registration
    const { cluster } = registration
    if (isPaused(cluster)) {
      await this.#endSession()
      this.#invalid = undefined
      return
    }
    const key = sessionKey(cluster)
    if (this.#session && key !== this.#sessionKey) await this.#endSession()
    const config = configOf(registration)
    this.#invalid = config.incomplete ? missingTemplate(cluster.spec) : undefined
    if (this.#session) return this.#session.configure(config)
    const access = this.#access(cluster)
    if (!access) return
    const { services, preferVersion } = this.#options
    this.#sessionKey = key
    this.#session = new MemberSession({
      services,
      cluster: cluster.metadata.name,
      lease,
      access,
      config,
      changed: () => this.#status.changed(),
      lost: (error) => lost.abort(error),
      ...(preferVersion && { preferVersion }),
    })
  }

  #access(cluster: PediaCluster): MemberAccess | undefined {
    try {
      return this.#options.accessOf(cluster)
    } catch (error) {
      if (!(error instanceof InvalidConfig)) throw error
      this.#invalid = { reason: 'InvalidConfig', message: error.message }
      return undefined
    }
  }

  async #endSession(): Promise<void> {
    const session = this.#session
    this.#session = undefined
    await session?.stop()
  }

  #facts(): ClusterFacts {
    const { spec, ...cluster } = this.#registration.cluster
    const state = this.#session?.state
    return {
      apiserver: this.#session?.server ?? shownServer(spec.apiserver),
      shardingName: spec.shardingName,
      invalid: this.#invalid,
      paused: isPaused(cluster),
      session: state,
      types: this.#session?.types ?? [],
      missing: state?.missing ?? [],
      sharing: this.#session?.sharing ?? '',
    }
  }
}

function isPaused({ metadata }: Pick<PediaCluster, 'metadata'>): boolean {
  return metadata.annotations?.[PAUSED_ANNOTATION] === 'true'
}

/** What the connection is made from. */
function sessionKey({ metadata, spec }: PediaCluster): string {
  const { kubeconfig, apiserver, caData, tokenData, certData, keyData } = spec
  const insecure = skipsVerify(metadata)
  return JSON.stringify([kubeconfig, apiserver, caData, tokenData, certData, keyData, insecure])
}

function configOf({ cluster, template }: Registration): SyncConfig {
  const { spec } = cluster
  return {
    list: withInvolvedEvents({
      wanted: [...(spec.syncResources ?? []), ...(template?.spec.syncResources ?? [])],
      excluded: spec.excludeResources ?? [],
      allCustomResources: spec.syncAllCustomResources ?? false,
    }),
    namespaces: spec.namespaces?.length ? spec.namespaces : undefined,
    incomplete: Boolean(spec.syncResourcesRefName) && !template,
  }
}

function missingTemplate({ syncResourcesRefName }: PediaClusterSpec) {
  const message = `spec.syncResourcesRefName: there is no ClusterSyncResources ${JSON.stringify(syncResourcesRefName)}`
  return { reason: 'InvalidSyncResources', message }
}
