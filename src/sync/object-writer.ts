/**
 * The way from all queues of a process into the store: few transactions at once, none given up.
 *
 * An outage of the database loses nothing: the batch waits, and with it the queue, the socket and
 * the position. Only a lost lease ends it, because then another process has the cluster.
 */
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import type { Store } from '../store/connect.ts'
import { LeaseLost } from '../store/leases.ts'
import {
  applyChanges,
  finishList,
  type ListedKeys,
  type WriteResult,
  type WriteTarget,
} from '../store/put-objects.ts'
import { Backoff } from './backoff.ts'
import type { QueueBatch } from './change-queue.ts'
import type { FairGate } from './fair-gate.ts'
import type { SyncMetrics } from './metrics.ts'

export interface WriterOptions {
  readonly store: Store
  /** Transactions of the process, grouped by cluster. */
  readonly gate: FairGate
  readonly metrics: SyncMetrics
  readonly clock: Clock
  readonly log: Logger
}

const FIRST_RETRY_MILLISECONDS = 200
const MOST_RETRY_MILLISECONDS = 5_000

export class ObjectWriter {
  readonly #options: WriterOptions

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** @throws LeaseLost, or the signal's reason. */
  async write(target: WriteTarget, batch: QueueBatch, signal: AbortSignal): Promise<WriteResult> {
    const { store, metrics } = this.#options
    const { changes, position } = batch
    const result = await this.#persist(
      target,
      () => applyChanges(store, target, { changes, ...(position && { position }) }),
      signal,
    )
    metrics.batchWritten(result)
    return result
  }

  /** @throws LeaseLost, or the signal's reason. */
  async finish(target: WriteTarget, end: ListedKeys, signal: AbortSignal): Promise<void> {
    const work = () => finishList(this.#options.store, target, end)
    const counts = await this.#persist(target, work, signal)
    this.#options.metrics.batchWritten(counts)
  }

  /** Again until it succeeds. A defect of ours would repeat too, but visibly, and nothing is lost. */
  async #persist<T>(
    { lease }: WriteTarget,
    work: () => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { gate, metrics, clock, log } = this.#options
    const backoff = new Backoff({
      firstMilliseconds: FIRST_RETRY_MILLISECONDS,
      mostMilliseconds: MOST_RETRY_MILLISECONDS,
    })
    for (;;) {
      try {
        return await gate.run(lease.clusterId, work, signal)
      } catch (error) {
        if (error instanceof LeaseLost || signal.aborted) throw error
        metrics.writeFailed()
        log.warn({ err: error }, 'writing to the store failed; it is tried again')
        await clock.sleep(backoff.next(), signal)
      }
    }
  }
}
