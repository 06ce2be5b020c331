/**
 * What was worked out is good for some seconds, for all who ask the same: a page that is asked for
 * after another, and a tool that asks again and again, cost nothing. Objects say when they were
 * observed, so nobody takes them for newer than they are.
 */
import type { Clock } from '../../clock.ts'

const KEPT_MILLISECONDS = 10_000

interface Kept<Value> {
  readonly until: number
  readonly value: Promise<Value>
}

export class BriefCache<Value> {
  readonly #clock: Clock
  readonly #most: number
  readonly #kept = new Map<string, Kept<Value>>()

  /** @param most - values that are held at once. */
  constructor(clock: Clock, most: number) {
    this.#clock = clock
    this.#most = most
  }

  /** What is being worked out is waited for; what fails is not kept. */
  get(key: string, make: () => Promise<Value>): Promise<Value> {
    return this.peek(key) ?? this.put(key, make())
  }

  peek(key: string): Promise<Value> | undefined {
    const kept = this.#kept.get(key)
    return kept && kept.until > this.#clock.now() ? kept.value : undefined
  }

  put(key: string, value: Promise<Value>): Promise<Value> {
    this.#forget()
    const kept = { until: this.#clock.now() + KEPT_MILLISECONDS, value }
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    value.catch(() => {
      if (this.#kept.get(key) === kept) this.#kept.delete(key)
    })
    return value
  }

  /** In the order in which they were put, so the oldest come first. */
  #forget(): void {
    const now = this.#clock.now()
    for (const [key, { until }] of this.#kept) {
      if (until > now && this.#kept.size < this.#most) return
      this.#kept.delete(key)
    }
  }
}
