/** Bounds what all queues of a process hold together, whatever each of them may. */

export class ByteBudget {
  readonly #total: number
  #used = 0
  readonly #waiting: Array<{ bytes: number; enter: () => void }> = []

  constructor(totalBytes: number) {
    this.#total = totalBytes
  }

  get usedBytes(): number {
    return this.#used
  }

  /** Waits until there is room. What is larger than the whole budget goes in alone. */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#waiting.length === 0 && this.#fits(bytes)) {
      this.#used += bytes
      return
    }
    await new Promise<void>((resolve, reject) => {
      const one = {
        bytes,
        enter: () => {
          signal.removeEventListener('abort', giveUp)
          resolve()
        },
      }
      const giveUp = () => {
        const at = this.#waiting.indexOf(one)
        if (at >= 0) this.#waiting.splice(at, 1)
        this.#admit()
        reject(signal.reason)
      }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.push(one)
    })
  }

  give(bytes: number): void {
    this.#used -= bytes
    this.#admit()
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#used += next.bytes
      next.enter()
    }
  }

  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#total
  }
}
