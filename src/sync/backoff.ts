/** How long to wait after the nth failure in a row. */

export interface BackoffOptions {
  readonly firstMilliseconds: number
  readonly mostMilliseconds: number
  /** In [0, 1); handed in for tests. */
  readonly random?: () => number
}

export class Backoff {
  readonly #options: BackoffOptions
  #failures = 0

  constructor(options: BackoffOptions) {
    this.#options = options
  }

  get failures(): number {
    return this.#failures
  }

  /** Doubles with every call, up to the most; half of it is left to chance, so that many do not return at once. */
  next(): number {
    const { firstMilliseconds, mostMilliseconds, random = Math.random } = this.#options
    const full = Math.min(mostMilliseconds, firstMilliseconds * 2 ** this.#failures)
    this.#failures++
    return full / 2 + (full / 2) * random()
  }

  reset(): void {
    this.#failures = 0
  }
}
