/** A clock that moves only when told to, so that minutes pass in no time. */
import type { Clock } from '../../src/clock.ts'
import { until } from './until.ts'

interface Sleeper {
  readonly until: number
  readonly wake: () => void
}

export class ManualClock implements Clock {
  #now: number
  readonly #sleepers = new Set<Sleeper>()

  constructor(now: number | string = '2026-12-01T12:00:00Z') {
    this.#now = typeof now === 'number' ? now : Date.parse(now)
  }

  now(): number {
    return this.#now
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const abort = () => {
        this.#sleepers.delete(sleeper)
        reject(signal?.reason)
      }
      const sleeper: Sleeper = {
        until: this.#now + milliseconds,
        wake: () => {
          this.#sleepers.delete(sleeper)
          signal?.removeEventListener('abort', abort)
          resolve()
        },
      }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', abort, { once: true })
    })
  }

  /** Resolves when someone waits for time to pass: what comes before that takes none of it. */
  async asleep(): Promise<void> {
    await until(() => this.#sleepers.size > 0)
  }

  /** Moves on, waking sleepers in the order of their times, each at its time. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds
    for (;;) {
      const [next] = [...this.#sleepers].sort((a, b) => a.until - b.until)
      if (!next || next.until > end) break
      this.#now = Math.max(this.#now, next.until)
      next.wake()
      // What was woken may go to sleep again before the next one wakes.
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#now = end
  }
}
