import type { SyncLimitsGiven } from '../../src/sync/limits.ts'

/** As in production but for the waiting. */
export const QUICK: SyncLimitsGiven = {
  follow: {
    firstBackoffMilliseconds: 30,
    mostBackoffMilliseconds: 200,
    steadyMilliseconds: 1_000,
    pollMilliseconds: 200,
  },
  batch: { lingerMilliseconds: 10, positionMilliseconds: 50 },
  healthMilliseconds: 200,
  discoveryMilliseconds: 500,
  settleMilliseconds: 200,
  statusMilliseconds: 50,
  statusBytesPerSecond: 64 * 1024 * 1024,
}
