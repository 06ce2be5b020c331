/**
 * Cuts the byte stream of a PostgreSQL connection into messages, copying only what lies across two
 * chunks.
 *
 * @see PostgreSQL manual, "Message Formats": a type byte, then a length that counts itself.
 */

const HEADER_BYTES = 5

/** @returns true when the bytes that follow are not ours any more. */
type OnMessage = (type: number, frame: Buffer) => boolean

export class MessageReader {
  readonly #onMessage: OnMessage
  /** The start of a message whose end has not arrived. */
  #parts: Buffer[] = []
  #partBytes = 0

  /** @param onMessage - gets each message whole, header included, as a slice where it can be one. */
  constructor(onMessage: OnMessage) {
    this.#onMessage = onMessage
  }

  /** @returns what `onMessage` left over, once it has said so. */
  push(chunk: Buffer): Buffer | undefined {
    const start = this.#partBytes === 0 ? 0 : this.#complete(chunk)
    return typeof start === 'number' ? this.#cut(chunk, start) : start.rest
  }

  /** Completes the message that an earlier chunk began; where the next one starts in this chunk. */
  #complete(chunk: Buffer): number | { rest: Buffer | undefined } {
    if (this.#partBytes < HEADER_BYTES) {
      const joined = this.#join(chunk)
      this.#clear()
      return { rest: this.#cut(joined, 0) }
    }
    const missing = frameBytes(this.#parts[0]!, 0) - this.#partBytes
    if (chunk.length < missing) {
      this.#parts.push(chunk)
      this.#partBytes += chunk.length
      return chunk.length
    }
    const frame = this.#join(chunk.subarray(0, missing))
    this.#clear()
    const isOver = this.#onMessage(frame[0]!, frame)
    return isOver ? { rest: chunk.subarray(missing) } : missing
  }

  #cut(buffer: Buffer, start: number): Buffer | undefined {
    let at = start
    while (buffer.length - at >= HEADER_BYTES) {
      const end = at + frameBytes(buffer, at)
      if (end > buffer.length) break
      const isOver = this.#onMessage(buffer[at]!, buffer.subarray(at, end))
      at = end
      if (isOver) return buffer.subarray(at)
    }
    if (at < buffer.length) {
      this.#parts = [buffer.subarray(at)]
      this.#partBytes = buffer.length - at
    }
    return undefined
  }

  #join(last: Buffer): Buffer {
    return Buffer.concat([...this.#parts, last], this.#partBytes + last.length)
  }

  #clear(): void {
    this.#parts = []
    this.#partBytes = 0
  }
}

function frameBytes(buffer: Buffer, at: number): number {
  return buffer.readUInt32BE(at + 1) + 1
}
