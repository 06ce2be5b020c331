/**
 * Many types, few connections: watches take turns when there are more types than places.
 *
 * Nothing is lost by it: a watch goes on from where the type's last one ended. It only comes later,
 * by as long as the others' turns last. While there is room for all, nobody is disturbed.
 */

export interface Turn {
  /** For how long to ask the member, when others wait; undefined: as long as usual. */
  readonly seconds: number | undefined
  /** Aborted when the place is needed and the turn was long enough. */
  readonly signal: AbortSignal
}

interface Holder {
  readonly since: number
  readonly ending: AbortController
  timer?: NodeJS.Timeout
}

/** The place is needed: no failure of anybody. */
export class TurnOver extends Error {
  override readonly name = 'TurnOver'
}

export class WatchTurns {
  readonly #places: number
  readonly #turnMilliseconds: number
  readonly #holders = new Set<Holder>()
  readonly #waiting: (() => void)[] = []

  constructor(places: number, turnMilliseconds: number) {
    this.#places = places
    this.#turnMilliseconds = turnMilliseconds
  }

  get places(): number {
    return this.#places
  }

  /** Runs `work` with a place, when there is one. @throws the signal's reason while it waits. */
  async run<T>(work: (turn: Turn) => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#holders.size >= this.#places) await this.#wait(signal)
    signal.throwIfAborted()
    const holder: Holder = { since: Date.now(), ending: new AbortController() }
    this.#holders.add(holder)
    const contended = this.#waiting.length > 0
    const seconds = contended ? Math.ceil(this.#turnMilliseconds / 1000) : undefined
    if (contended) this.#limit(holder)
    try {
      return await work({ seconds, signal: holder.ending.signal })
    } finally {
      clearTimeout(holder.timer)
      this.#holders.delete(holder)
      this.#waiting.shift()?.()
    }
  }

  async #wait(signal: AbortSignal): Promise<void> {
    for (const holder of this.#holders) this.#limit(holder)
    while (this.#holders.size >= this.#places) {
      signal.throwIfAborted()
      await new Promise<void>((resolve) => {
        const stop = () => {
          const at = this.#waiting.indexOf(enter)
          if (at >= 0) this.#waiting.splice(at, 1)
          resolve()
        }
        const enter = () => {
          signal.removeEventListener('abort', stop)
          resolve()
        }
        signal.addEventListener('abort', stop, { once: true })
        this.#waiting.push(enter)
      })
      // Woken for nothing: the place is for the next.
      if (signal.aborted) this.#waiting.shift()?.()
    }
  }

  #limit(holder: Holder): void {
    if (holder.timer) return
    const left = Math.max(0, holder.since + this.#turnMilliseconds - Date.now())
    // A little more than the member was asked for: its own end comes with a bookmark.
    holder.timer = setTimeout(() => holder.ending.abort(new TurnOver()), left * 1.1)
  }
}
