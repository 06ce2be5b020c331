/**
 * Syncs every registered cluster: one cluster syncer per registration, as registrations come and go.
 *
 * The entry point of src/sync: what all clusters share is made here.
 */
import { Registry } from 'prom-client'
import type { Clock } from '../clock.ts'
import type { Keyring } from '../keyring.ts'
import type { FieldPath } from '../kube/field-selector.ts'
import {
  IMPORTED_ANNOTATION,
  type PediaCluster,
  skipsVerify,
  UNRESOLVED_ANNOTATION,
} from '../kube/pedia-cluster.ts'
import type { Logger } from '../log.ts'
import type { RegistrationSource, RegistrationState } from '../registration/registration-source.ts'
import { loadCatalog } from '../store/catalog.ts'
import { removeCluster } from '../store/clusters.ts'
import type { Store } from '../store/connect.ts'
import { onReconcileRequest } from '../store/reconcile.ts'
import { ByteBudget } from './byte-budget.ts'
import { ClusterSyncer, type Registration } from './cluster-syncer.ts'
import { accessFromSpec, credentialsFromKubeconfig, type TrustedKubeconfig } from './credentials.ts'
import { FairGate } from './fair-gate.ts'
import { FleetVersions } from './fleet-versions.ts'
import { Gate } from './gate.ts'
import { limitsFrom, type SyncLimitsGiven } from './limits.ts'
import { InvalidConfig, type MemberAccess } from './member-access.ts'
import { SyncMetrics } from './metrics.ts'
import { ObjectWriter } from './object-writer.ts'
import type { SyncServices } from './services.ts'
import { WorkQueues } from './work-queue.ts'

export interface FleetSyncerOptions {
  readonly store: Store
  readonly registrations: RegistrationSource
  readonly keyring: Pick<Keyring, 'digest'>
  /** Of this process, unique in the fleet. */
  readonly holder: string
  readonly secretValues: 'digest' | 'store'
  readonly log: Logger
  readonly clock: Clock
  readonly limits?: SyncLimitsGiven
  /** Cut out of every object, beside what always is: prune-paths.ts says what may stand here. */
  readonly prune?: readonly FieldPath[]
  /** By name of the PediaCluster that has no credentials of its own. */
  readonly trustedKubeconfigs?: readonly TrustedKubeconfig[]
  /** Of fleetglass, for the User-Agent. */
  readonly version?: string
  readonly registry?: Registry
  /** Left out: nobody is told what waits. */
  readonly queues?: WorkQueues
  /** Syncs only clusters of this spec.shardingName; left out: those without one. */
  readonly shardingName?: string
}

export interface FleetSyncer {
  /** Ends every request and transaction, and gives the leases back. */
  stop(): Promise<void>
}

export async function startFleetSyncer(options: FleetSyncerOptions): Promise<FleetSyncer> {
  const services = createServices(options)
  const stopping = new AbortController()
  const fleet = new Fleet(options, services)
  const running = fleet.run(stopping.signal)
  return {
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

function createServices(options: FleetSyncerOptions): SyncServices {
  const { store, keyring, secretValues, holder, clock, log } = options
  const limits = limitsFrom(options.limits)
  const budget = new ByteBudget(limits.queueBytes)
  const metrics = new SyncMetrics(options.registry ?? new Registry(), () => budget.usedBytes)
  const queues = options.queues ?? new WorkQueues(new Registry(), clock)
  const gate = new FairGate(limits.writers)
  return {
    ...{ store, keyring, secretValues, holder, clock, log, limits, metrics, budget },
    statuses: queues.named('pediacluster_status'),
    userAgent: `fleetglass/${options.version ?? 'dev'}`,
    writer: new ObjectWriter({ store, gate, metrics, clock, log }),
    firstLists: new Gate(limits.firstLists, limits.firstListMilliseconds),
    notes: new FairGate(NOTES),
    remakes: new Gate(1),
    reconciles: new Gate(1),
    prune: options.prune ?? [],
  }
}

const RETRY_MILLISECONDS = 2_000
/** With the writers of objects, no more than store/connect.ts has connections for writing. */
const NOTES = 3

class Fleet {
  readonly #options: FleetSyncerOptions
  readonly #services: SyncServices
  readonly #syncers = new Map<string, ClusterSyncer>()
  readonly #versions = new FleetVersions()
  /** Of registrations that are gone: the others do not wait for their end. */
  readonly #ending = new Set<Promise<void>>()

  constructor(options: FleetSyncerOptions, services: SyncServices) {
    this.#options = options
    this.#services = services
  }

  /** Never throws: a source that fails is asked again. */
  async run(signal: AbortSignal): Promise<void> {
    const { registrations, log, clock, store } = this.#options
    const stopListening = await onReconcileRequest(store, () => {
      for (const syncer of this.#syncers.values()) syncer.lookForRequests()
    })
    const learning = this.#learnForever(signal)
    while (!signal.aborted) {
      try {
        for await (const state of registrations.states(signal)) this.#apply(state)
      } catch (error) {
        if (!signal.aborted) log.error({ err: error }, 'registrations cannot be read')
      }
      await clock.sleep(RETRY_MILLISECONDS, signal).catch(() => undefined)
    }
    await Promise.all([...this.#syncers.values()].map((syncer) => syncer.stop()))
    await Promise.all([learning, stopListening(), ...this.#ending])
  }

  async #learnForever(signal: AbortSignal): Promise<void> {
    const { store, clock, limits, log } = this.#services
    while (!signal.aborted) {
      try {
        this.#versions.learn(await loadCatalog(store))
      } catch (error) {
        log.debug({ err: error }, 'the versions of the fleet cannot be read')
      }
      await clock.sleep(limits.discoveryMilliseconds, signal).catch(() => undefined)
    }
  }

  #apply(state: RegistrationState): void {
    const wanted = new Map<string, Registration>()
    for (const cluster of state.pediaClusters) {
      if (!this.#isOurs(cluster)) continue
      const template = state.syncResources.find(
        ({ metadata }) => metadata.name === cluster.spec.syncResourcesRefName,
      )
      wanted.set(cluster.metadata.uid, { cluster, template })
    }
    const live = new Set(state.pediaClusters.map(({ metadata }) => metadata.uid))
    for (const [uid, syncer] of this.#syncers) {
      if (!wanted.has(uid)) this.#endLater(this.#remove(uid, syncer, live.has(uid)))
    }
    for (const [uid, registration] of wanted) this.#ensure(uid, registration)
  }

  #isOurs({ spec }: PediaCluster): boolean {
    return (spec.shardingName || undefined) === (this.#options.shardingName || undefined)
  }

  #ensure(uid: string, registration: Registration): void {
    const known = this.#syncers.get(uid)
    if (known) {
      known.update(registration)
      return
    }
    const syncer = new ClusterSyncer({
      services: this.#services,
      registrations: this.#options.registrations,
      registration,
      accessOf: (cluster) => this.#accessOf(cluster),
      preferVersion: (type, served) => this.#versions.prefer(type, served),
    })
    this.#syncers.set(uid, syncer)
  }

  #endLater(end: Promise<void>): void {
    this.#ending.add(end)
    void end.finally(() => this.#ending.delete(end))
  }

  /** Readers lose a removed cluster at once; its syncer ends meanwhile. */
  async #remove(uid: string, syncer: ClusterSyncer, stillRegistered: boolean): Promise<void> {
    this.#syncers.delete(uid)
    if (!stillRegistered) {
      await removeCluster(this.#services.store, uid).catch((error: unknown) => {
        // Whoever deleted the registration marked the cluster removed in the same transaction.
        this.#services.log.warn({ err: error }, 'a removed cluster was not marked so again')
      })
    }
    await syncer.stop()
  }

  #accessOf({ metadata, spec }: PediaCluster): MemberAccess {
    const unresolved = metadata.annotations?.[UNRESOLVED_ANNOTATION]
    if (unresolved !== undefined) throw new InvalidConfig(unresolved)
    const trusted = this.#options.trustedKubeconfigs?.find(({ name }) => name === metadata.name)
    const hasOwn = spec.kubeconfig || spec.apiserver
    if (!trusted || hasOwn) {
      if (!hasOwn) refuseForgottenImport(metadata)
      return accessFromSpec(spec, { insecure: skipsVerify(metadata) })
    }
    return credentialsFromKubeconfig(trusted.kubeconfig, {
      field: `--import-kubeconfig (${metadata.name})`,
      trusted: true,
      baseDir: trusted.baseDir,
      ...(trusted.context !== undefined && { context: trusted.context }),
    })
  }
}

function refuseForgottenImport({ annotations }: PediaCluster['metadata']): void {
  const context = annotations?.[IMPORTED_ANNOTATION]
  if (context === undefined) return
  throw new InvalidConfig(
    `it was imported from a kubeconfig, and this start has no --import-kubeconfig with the context ${JSON.stringify(context)}`,
  )
}
