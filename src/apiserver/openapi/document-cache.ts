/** Documents that are costly to make: each is made once, kept while there is room, and sent as it is. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

export interface MadeDocument {
  readonly body: Buffer
  readonly gzipped: Buffer
}

const compress = promisify(gzip)

export class DocumentCache {
  readonly #room: number
  /** In the order of last use. */
  readonly #made = new Map<string, Promise<MadeDocument>>()
  readonly #bytes = new Map<string, number>()
  #held = 0

  /** @param room - bytes that may be held. */
  constructor(room: number) {
    this.#room = room
  }

  /** Two that ask at once wait for the same making; one that failed is made again. */
  get(key: string, make: () => Promise<Buffer>): Promise<MadeDocument> {
    const known = this.#made.get(key)
    if (known !== undefined) {
      this.#made.delete(key)
      this.#made.set(key, known)
      return known
    }
    const making = this.#make(key, make)
    this.#made.set(key, making)
    return making
  }

  async #make(key: string, make: () => Promise<Buffer>): Promise<MadeDocument> {
    try {
      const body = await make()
      const made = { body, gzipped: await compress(body) }
      this.#hold(key, made.body.length + made.gzipped.length)
      return made
    } catch (error) {
      this.#made.delete(key)
      throw error
    }
  }

  #hold(key: string, bytes: number): void {
    this.#bytes.set(key, bytes)
    this.#held += bytes
    for (const oldest of this.#made.keys()) {
      if (this.#held <= this.#room) return
      const held = this.#bytes.get(oldest)
      if (oldest === key || held === undefined) continue
      this.#made.delete(oldest)
      this.#bytes.delete(oldest)
      this.#held -= held
    }
  }
}
