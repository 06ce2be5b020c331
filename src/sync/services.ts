/** What every part of the sync engine of one process shares, made once by fleet-syncer.ts. */
import type { Clock } from '../clock.ts'
import type { Keyring } from '../keyring.ts'
import type { FieldPath } from '../kube/field-selector.ts'
import type { Logger } from '../log.ts'
import type { Store } from '../store/connect.ts'
import type { ByteBudget } from './byte-budget.ts'
import type { FairGate } from './fair-gate.ts'
import type { Gate } from './gate.ts'
import type { SyncLimits } from './limits.ts'
import type { SyncMetrics } from './metrics.ts'
import type { ObjectWriter } from './object-writer.ts'
import type { WorkQueue } from './work-queue.ts'

export interface SyncServices {
  readonly store: Store
  readonly keyring: Pick<Keyring, 'digest'>
  readonly secretValues: 'digest' | 'store'
  /** Of this process, in leases. */
  readonly holder: string
  readonly userAgent: string
  readonly limits: SyncLimits
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: SyncMetrics
  /** Clusters whose status is to be written, by name. */
  readonly statuses: WorkQueue
  readonly writer: ObjectWriter
  readonly budget: ByteBudget
  /** First lists of all members. */
  readonly firstLists: Gate
  /**
   * What is noted in the store of types, grouped by cluster: thousands of types would
   * take the connections of everything else, leases included.
   */
  readonly notes: FairGate
  /** Batches of rows that are made again. */
  readonly remakes: Gate
  /** Comparisons of a type with its member. */
  readonly reconciles: Gate
  /** Cut out of every object, beside what always is. */
  readonly prune: readonly FieldPath[]
}
