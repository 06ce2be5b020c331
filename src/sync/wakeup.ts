/** A sleep that can be ended early; a wake that comes while nobody sleeps ends the next one. */

export class Wakeup {
  #pending = false
  #wake: (() => void) | undefined

  wake(): void {
    this.#pending = true
    this.#wake?.()
  }

  wakeAfter(milliseconds: number, signal: AbortSignal): void {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      this.wake()
    }, milliseconds)
    const stop = () => clearTimeout(timer)
    signal.addEventListener('abort', stop, { once: true })
  }

  /** Returns when woken, when the time is over, or when aborted. */
  async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (!this.#pending && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const finish = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', finish)
          this.#wake = undefined
          resolve()
        }
        const timer = setTimeout(finish, milliseconds)
        signal.addEventListener('abort', finish, { once: true })
        this.#wake = finish
      })
    }
    this.#pending = false
  }
}
