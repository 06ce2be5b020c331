/** The answers that are being sent, so that a server that stops can let them end, and then end them. */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../clock.ts'

export class OpenStreams {
  readonly #open = new Set<ServerResponse>()
  #drained: PromiseWithResolvers<void> | undefined

  /** @returns what says that it is over. */
  add(response: ServerResponse): () => void {
    this.#open.add(response)
    return () => {
      this.#open.delete(response)
      if (this.#open.size === 0) this.#drained?.resolve()
    }
  }

  /** Waits so long at most, then cuts off what is left. */
  async close(clock: Clock, graceMilliseconds: number): Promise<void> {
    if (this.#open.size === 0) return
    this.#drained = Promise.withResolvers()
    const enough = new AbortController()
    const timeout = clock.sleep(graceMilliseconds, enough.signal).catch(() => undefined)
    await Promise.race([this.#drained.promise, timeout])
    enough.abort()
    for (const response of this.#open) response.destroy()
  }
}
