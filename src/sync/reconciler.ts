/**
 * Compares each type of one member with its mirror from time to time, and when somebody asks.
 *
 * Owns     when: some hours after the last complete list or comparison, each type at its own moment,
 *          one at a time in the whole process.
 */
import type { Lease } from '../store/leases.ts'
import { databaseTime, listReconciles, recordReconcile } from '../store/reconcile.ts'
import { MemberError } from './member-error.ts'
import type { ResourceSyncer } from './resource-syncer.ts'
import type { SyncServices } from './services.ts'
import { Wakeup } from './wakeup.ts'

export interface ReconcilerOptions {
  readonly services: SyncServices
  readonly cluster: string
  readonly lease: Lease
  /** Those that run now. */
  readonly syncers: () => readonly ResourceSyncer[]
}

const LOOK_MILLISECONDS = 60_000
/** A type is due at its own time between these parts of the period. */
const EARLIEST = 0.75
const SPREAD = 0.5

export class Reconciler {
  readonly #options: ReconcilerOptions
  readonly #wakeup = new Wakeup()

  constructor(options: ReconcilerOptions) {
    this.#options = options
  }

  /** Somebody may have asked for it. */
  look(): void {
    this.#wakeup.wake()
  }

  /** Returns when aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { services, cluster } = this.#options
    const { reconcileMilliseconds } = services.limits
    while (!signal.aborted) {
      const pause = Math.min(LOOK_MILLISECONDS, reconcileMilliseconds / 4)
      await this.#wakeup.wait(pause, signal)
      if (signal.aborted) return
      try {
        await this.#reconcileDue(signal)
      } catch (error) {
        if (signal.aborted) return
        services.log.warn(
          { err: error, cluster },
          'a cluster could not be compared with its mirror',
        )
      }
    }
  }

  async #reconcileDue(signal: AbortSignal): Promise<void> {
    const { services, lease, syncers } = this.#options
    const now = services.clock.now()
    for (const { typeId, reconciledAt, isWanted } of await listReconciles(
      services.store,
      lease.clusterId,
    )) {
      const age = reconciledAt ? now - reconciledAt.getTime() : 0
      if (!isWanted && age < this.#period(typeId)) continue
      const syncer = syncers().find((one) => one.typeId === typeId)
      if (syncer) await services.reconciles.run(() => this.#reconcile(syncer, signal), { signal })
    }
  }

  async #reconcile(syncer: ResourceSyncer, signal: AbortSignal): Promise<void> {
    const { services, lease, cluster } = this.#options
    const { store, log } = services
    const since = await databaseTime(store)
    try {
      const lost = await syncer.countLost(signal)
      if (lost === undefined) return
      if (lost > 0) {
        log.warn({ cluster, type: syncer.target.type, lost }, 'the watch lost changes: listed anew')
        syncer.relist('reconciled')
      }
      await recordReconcile(store, lease, { typeId: syncer.typeId!, since })
    } catch (error) {
      // The type's own condition says what is wrong with the member; it is tried again.
      if (!(error instanceof MemberError)) throw error
    }
  }

  #period(typeId: number): number {
    const { services, lease } = this.#options
    const chance = ((lease.clusterId * 7919 + typeId * 104_729) % 1000) / 1000
    return services.limits.reconcileMilliseconds * (EARLIEST + SPREAD * chance)
  }
}
