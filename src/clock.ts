/** Time, handed in so that tests need not wait for it. */
import { setTimeout as delay } from 'node:timers/promises'

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Rejects with the signal's reason when aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (milliseconds, signal) => {
    await delay(milliseconds, undefined, signal ? { signal } : {})
  },
}
