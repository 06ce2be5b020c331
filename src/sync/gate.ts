/** Lets a bounded number in at once; who weighs less goes first, and among equals who came first. */

interface Waiting {
  readonly weight: number
  readonly enter: () => void
}

export class Gate {
  readonly #places: number
  readonly #mostMilliseconds: number | undefined
  #taken = 0
  readonly #waiting: Waiting[] = []

  /**
   * @param mostMilliseconds - work that takes longer goes on, but no longer keeps others out: it may
   *   never end. Left out: however long it takes.
   */
  constructor(places: number, mostMilliseconds?: number) {
    this.#places = places
    this.#mostMilliseconds = mostMilliseconds
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Runs `work` inside. @throws the signal's reason when it is aborted while waiting. */
  async run<T>(
    work: () => Promise<T>,
    options: { weight?: number; signal?: AbortSignal } = {},
  ): Promise<T> {
    await this.#enter(options.weight ?? 0, options.signal)
    let isInside = true
    const leave = () => {
      if (isInside) this.#leave()
      isInside = false
    }
    const most = this.#mostMilliseconds
    const patience = most === undefined ? undefined : setTimeout(leave, most).unref()
    try {
      return await work()
    } finally {
      clearTimeout(patience)
      leave()
    }
  }

  async #enter(weight: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    if (this.#taken < this.#places) {
      this.#taken++
      return
    }
    await new Promise<void>((resolve, reject) => {
      const one: Waiting = {
        weight,
        enter: () => {
          signal?.removeEventListener('abort', giveUp)
          resolve()
        },
      }
      const giveUp = () => {
        const at = this.#waiting.indexOf(one)
        if (at >= 0) this.#waiting.splice(at, 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      const behind = this.#waiting.findIndex((other) => other.weight > weight)
      this.#waiting.splice(behind < 0 ? this.#waiting.length : behind, 0, one)
    })
  }

  /** The place is handed over, never free in between. */
  #leave(): void {
    const next = this.#waiting.shift()
    if (next) next.enter()
    else this.#taken--
  }
}
