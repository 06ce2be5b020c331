/**
 * Copies an answer into a few recycled buffers and hands them to the response one by one.
 *
 * A slow client holds these buffers and nothing else: `write` waits until one is free again.
 */
import type { ServerResponse } from 'node:http'
import { whenClosed } from '../when-closed.ts'
import type { ByteSink } from './byte-sink.ts'

const BUFFER_BYTES = 64 * 1024
/** One being filled, the others on their way: enough to keep a fast client busy. */
const BUFFERS = 4

/** The client went away: nobody is left to tell. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'

  constructor() {
    super('the client closed the connection before it had the whole answer')
  }
}

export class ResponseWriter implements ByteSink {
  readonly #response: ServerResponse
  readonly #free: Buffer[] = []
  #allocated = 0
  #current: Buffer
  #used = 0
  #gone: Error | undefined
  #waiting: PromiseWithResolvers<void> | undefined

  constructor(response: ServerResponse) {
    this.#response = response
    this.#current = this.#allocate()
    whenClosed(response, () => this.#close(new ClientGone()))
    response.once('error', (error) => this.#close(error))
  }

  write(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#gone) throw this.#gone
    if (bytes.length > this.#current.length - this.#used) return this.#writeAcross(bytes)
    this.#current.set(bytes, this.#used)
    this.#used += bytes.length
    return undefined
  }

  /** Sends what is left. Fulfilled once the client's system has all of it. */
  async end(): Promise<void> {
    if (this.#gone) throw this.#gone
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#response.end(this.#current.subarray(0, this.#used), resolve)
    whenClosed(this.#response, resolve)
    await promise
  }

  async #writeAcross(bytes: Uint8Array): Promise<void> {
    let done = 0
    while (done < bytes.length) {
      if (this.#used === this.#current.length) await this.#flush()
      const room = this.#current.length - this.#used
      const piece = bytes.subarray(done, done + room)
      this.#current.set(piece, this.#used)
      this.#used += piece.length
      done += piece.length
    }
  }

  async #flush(): Promise<void> {
    const full = this.#current
    this.#response.write(full, (error) => {
      if (error) return this.#close(error)
      this.#free.push(full)
      this.#waiting?.resolve()
    })
    this.#used = 0
    this.#current = this.#free.pop() ?? (await this.#nextBuffer())
  }

  async #nextBuffer(): Promise<Buffer> {
    if (this.#allocated < BUFFERS) return this.#allocate()
    for (;;) {
      if (this.#gone) throw this.#gone
      const free = this.#free.pop()
      if (free) return free
      this.#waiting = Promise.withResolvers()
      await this.#waiting.promise
    }
  }

  #allocate(): Buffer {
    this.#allocated++
    return Buffer.allocUnsafeSlow(BUFFER_BYTES)
  }

  #close(error: Error): void {
    if (this.#gone) return
    this.#gone = error
    this.#waiting?.resolve()
  }
}
