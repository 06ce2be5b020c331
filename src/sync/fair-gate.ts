/**
 * Lets a bounded number in at once, and of each group one: who waits goes in group by group, in turn.
 *
 * For writing transactions, grouped by cluster. Two of one cluster would wait for each other's lease
 * row anyway, and would take the places of the others meanwhile; and a cluster with much to write has
 * its turn as often as one with little.
 */
export class FairGate {
  readonly #places: number
  readonly #inside = new Set<number>()
  /** In the order of their turns. */
  readonly #waiting = new Map<number, Array<() => void>>()

  constructor(places: number) {
    this.#places = places
  }

  /** Runs `work` inside. @throws the signal's reason when it is aborted while waiting. */
  async run<T>(group: number, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter(group, signal)
    try {
      return await work()
    } finally {
      this.#inside.delete(group)
      this.#admit()
    }
  }

  async #enter(group: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        this.#leaveQueue(group, enter)
        reject(signal.reason)
      }
      signal.addEventListener('abort', giveUp, { once: true })
      const queue = this.#waiting.get(group)
      if (queue) queue.push(enter)
      else this.#waiting.set(group, [enter])
      this.#admit()
    })
  }

  #leaveQueue(group: number, enter: () => void): void {
    const queue = this.#waiting.get(group)?.filter((one) => one !== enter) ?? []
    if (queue.length > 0) this.#waiting.set(group, queue)
    else this.#waiting.delete(group)
  }

  #admit(): void {
    for (const [group, [next, ...others]] of this.#waiting) {
      if (this.#inside.size >= this.#places) return
      if (this.#inside.has(group) || !next) continue
      // Behind all others, when there is more of it.
      this.#waiting.delete(group)
      if (others.length > 0) this.#waiting.set(group, others)
      this.#inside.add(group)
      next()
    }
  }
}
