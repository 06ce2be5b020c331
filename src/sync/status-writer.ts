/**
 * Writes what a cluster syncer has to say, when it has changed: to its PediaCluster, and for readers.
 *
 * Writes are spaced out, and tried again: a status that could not be written is not forgotten. With
 * thousands of types it is half a megabyte, which every watcher gets: how they go, one after the
 * other, is told now and then; what holds for the cluster at once.
 */
import { messageOf } from '../kube/message-of.ts'
import type { PediaClusterStatus } from '../kube/pedia-cluster.ts'
import type { RegistrationSource } from '../registration/registration-source.ts'
import { recordClusterState } from '../store/clusters.ts'
import { type Lease, LeaseLost } from '../store/leases.ts'
import { type ClusterFacts, clusterStatus, staleReason } from './cluster-status.ts'
import type { SyncServices } from './services.ts'
import { Wakeup } from './wakeup.ts'

/** What is known of a cluster by whoever holds this lease of it. */
export interface HolderFacts {
  readonly lease: Lease
  readonly facts: ClusterFacts
}

export interface StatusWriterOptions {
  readonly services: SyncServices
  readonly registrations: RegistrationSource
  readonly name: string
  readonly uid: string
  /** Undefined while there is nothing to say: another process speaks for the cluster. */
  readonly facts: () => HolderFacts | undefined
  /** Another process turned out to speak for the cluster. */
  readonly lost: (error: LeaseLost) => void
  /** As stored when the syncer started. */
  readonly before: PediaClusterStatus | undefined
}

/** All but how each type goes. */
function ofCluster(status: PediaClusterStatus | undefined): string {
  return JSON.stringify({ ...status, syncResources: undefined })
}

const LOOK_MILLISECONDS = 10_000
const RETRY_MILLISECONDS = 2_000

export class StatusWriter {
  readonly #options: StatusWriterOptions
  readonly #wakeup = new Wakeup()
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #written: PediaClusterStatus | undefined
  #isSure = false
  #writtenAt = 0
  /** Why not, as it was logged last. */
  #failure = ''
  #recorded = ''
  /** Of any session so far: a cluster that is paused or edited has none, and was in step until then. */
  #lastHealthyAt: number | undefined

  constructor(options: StatusWriterOptions) {
    this.#options = options
    this.#written = options.before
    this.#running = this.#run(this.#stopping.signal)
  }

  /** Something may have changed; many of these are one write. */
  changed(): void {
    this.#wake()
  }

  /** What was written before may be overwritten by whoever spoke for the cluster since. */
  forgetWritten(): void {
    this.#isSure = false
    this.#recorded = ''
    this.#wake()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    this.#options.services.statuses.forget(this.#options.name)
  }

  #wake(): void {
    this.#options.services.statuses.added(this.#options.name)
    this.#wakeup.wake()
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { services } = this.#options
    const { statusMilliseconds } = services.limits
    let pause = LOOK_MILLISECONDS
    while (!signal.aborted) {
      await this.#wakeup.wait(pause, signal)
      const ended = services.statuses.begun(this.#options.name)
      try {
        pause = Math.min(LOOK_MILLISECONDS, await this.#write())
        ended('done')
        this.#failure = ''
        await services.clock.sleep(statusMilliseconds, signal)
      } catch (error) {
        ended('failed')
        if (error instanceof LeaseLost) this.#options.lost(error)
        if (signal.aborted) return
        this.#logOnce(error)
        await services.clock.sleep(RETRY_MILLISECONDS, signal).catch(() => undefined)
        this.#wake()
      }
    }
  }

  /** An API server that is away for an hour is one line for each cluster, not thousands. */
  #logOnce(error: unknown): void {
    const { services, name } = this.#options
    const failure = messageOf(error)
    const level = failure === this.#failure ? 'debug' : 'warn'
    this.#failure = failure
    services.log[level]({ err: error, cluster: name }, 'the status of a cluster was not written')
  }

  /** @returns for how many milliseconds there is nothing to write that nobody tells of. */
  async #write(): Promise<number> {
    const { facts: factsNow, services, registrations, name, uid } = this.#options
    const known = factsNow()
    if (!known) return LOOK_MILLISECONDS
    const { lease, facts } = known
    await this.#record(known)
    const now = services.clock.now()
    const status = clusterStatus(facts, this.#written, now)
    const pause = this.#stands(now) ? this.#pause(status, now) : 0
    if (pause > 0) return pause
    await registrations.writeStatus({ name, uid, lease, status })
    this.#isSure = true
    this.#writtenAt = services.clock.now()
    this.#written = status
    return LOOK_MILLISECONDS
  }

  /** For how long this status need not be written; 0: it is to be written now. */
  #pause(status: PediaClusterStatus, now: number): number {
    const text = JSON.stringify(status)
    if (text === JSON.stringify(this.#written)) return LOOK_MILLISECONDS
    if (ofCluster(status) !== ofCluster(this.#written)) return 0
    const { statusBytesPerSecond } = this.#options.services.limits
    const apart = (text.length / statusBytesPerSecond) * 1000
    return Math.max(0, this.#writtenAt + apart - now)
  }

  #stands(now: number): boolean {
    const { statusStandsMilliseconds = Infinity } = this.#options.registrations
    return this.#isSure && now - this.#writtenAt < statusStandsMilliseconds
  }

  async #record({ lease, facts }: HolderFacts): Promise<void> {
    this.#lastHealthyAt = facts.session?.lastHealthyAt ?? this.#lastHealthyAt
    const reason = staleReason(facts)
    const version = facts.session?.health?.versionDocument
    const said = JSON.stringify([reason, version])
    if (said === this.#recorded) return
    const at = this.#lastHealthyAt
    await recordClusterState(this.#options.services.store, lease, {
      staleReason: reason,
      ...(version !== undefined && { version }),
      ...(reason === null && { staleSince: null }),
      ...(reason !== null && at !== undefined && { staleSince: new Date(at) }),
    })
    this.#recorded = said
  }
}
