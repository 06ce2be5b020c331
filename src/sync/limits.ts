/** How much at once, how often, how long: every number of the sync engine, with its default. */
import type { FollowLimits } from './list-watch.ts'
import type { BatchLimits } from './type-mirror.ts'

export interface SyncLimits {
  readonly follow: FollowLimits
  readonly batch: BatchLimits
  /** Of all queues together. */
  readonly queueBytes: number
  /** Writing transactions at once. */
  readonly writers: number
  /** First lists at once: of all members, and of one. */
  readonly firstLists: number
  readonly firstListsPerMember: number
  /** One that takes longer no longer keeps others out: a member can send a list without an end. */
  readonly firstListMilliseconds: number
  /** Watches of custom types at once, of one member; with more types they take turns. */
  readonly customWatchesPerMember: number
  readonly turnMilliseconds: number
  readonly leaseSeconds: number
  readonly healthMilliseconds: number
  /** A health check that takes longer has failed. */
  readonly healthTimeoutMilliseconds: number
  readonly discoveryMilliseconds: number
  /** All of a small answer: discovery, a revision, an OpenAPI document. */
  readonly documentMilliseconds: number
  /** Custom resources wait this long for their columns before they are listed without. */
  readonly columnsPatienceMilliseconds: number
  /** From one comparison of a type with its member to the next, give or take a quarter. */
  readonly reconcileMilliseconds: number
  /** What differs is looked at again after this long: events may be under way. */
  readonly settleMilliseconds: number
  /**
   * A type is lagging that was not heard of, or whose changes wait, for longer: a dead watch is
   * given up and the next one has had its bookmark by then.
   */
  readonly lagMilliseconds: number
  /** Between two writes of a PediaCluster's status. */
  readonly statusMilliseconds: number
  /** A status in which only types have changed is written less often the larger it is. */
  readonly statusBytesPerSecond: number
}

const MEBIBYTE = 1024 * 1024

export const DEFAULT_LIMITS: SyncLimits = {
  follow: {
    pageItems: 500,
    objectBytes: 16 * MEBIBYTE,
    leastWatchSeconds: 300,
    mostWatchSeconds: 600,
    idleMilliseconds: 150_000,
    pollMilliseconds: 60_000,
    firstBackoffMilliseconds: 1_000,
    mostBackoffMilliseconds: 30_000,
    steadyMilliseconds: 10_000,
  },
  batch: {
    rows: 500,
    bytes: 4 * MEBIBYTE,
    lingerMilliseconds: 100,
    positionMilliseconds: 5_000,
  },
  queueBytes: 64 * MEBIBYTE,
  writers: 3,
  firstLists: 8,
  firstListsPerMember: 2,
  firstListMilliseconds: 300_000,
  customWatchesPerMember: 500,
  turnMilliseconds: 20_000,
  leaseSeconds: 15,
  healthMilliseconds: 10_000,
  healthTimeoutMilliseconds: 10_000,
  discoveryMilliseconds: 30_000,
  documentMilliseconds: 120_000,
  columnsPatienceMilliseconds: 5_000,
  reconcileMilliseconds: 6 * 3_600_000,
  settleMilliseconds: 10_000,
  lagMilliseconds: 240_000,
  statusMilliseconds: 1_000,
  statusBytesPerSecond: 32 * 1024,
}

/** What tests and the command line may change; everything else keeps its default. */
export type SyncLimitsGiven = Partial<Omit<SyncLimits, 'follow' | 'batch'>> & {
  readonly follow?: Partial<FollowLimits>
  readonly batch?: Partial<BatchLimits>
}

export function limitsFrom(given: SyncLimitsGiven = {}): SyncLimits {
  return {
    ...DEFAULT_LIMITS,
    ...given,
    follow: { ...DEFAULT_LIMITS.follow, ...given.follow },
    batch: { ...DEFAULT_LIMITS.batch, ...given.batch },
  }
}
