/**
 * Takes a watch stream apart: one JSON text per line, cut anywhere by the network.
 *
 * Lines are split as bytes, before anything is decoded, so a character cut in two stays whole.
 */
import { JsonError, members, stringOf } from './json-bytes.ts'

const NEWLINE = 0x0a
const RETURN = 0x0d

export class LineTooLong extends Error {
  override readonly name = 'LineTooLong'
}

/** Splits at line feeds; a carriage return before one and empty lines are dropped. */
export class LineSplitter {
  readonly #lineBytes: number
  #parts: Buffer[] = []
  #partBytes = 0

  /** @param lineBytes - a longer line is an error: where the next event begins could not be known in bounded memory. */
  constructor(lineBytes: number) {
    this.#lineBytes = lineBytes
  }

  /** The lines that are complete with this chunk. @throws LineTooLong */
  push(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = []
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      const line = this.#complete(chunk.subarray(from, at))
      if (line.length > 0) lines.push(line)
      from = at + 1
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from))
    return lines
  }

  /** What came after the last line feed: an event that was cut off. */
  get restBytes(): number {
    return this.#partBytes
  }

  #keep(part: Buffer): void {
    this.#partBytes += part.length
    if (this.#partBytes > this.#lineBytes) {
      throw new LineTooLong(`a watch event is longer than ${this.#lineBytes} bytes`)
    }
    this.#parts.push(part)
  }

  #complete(last: Buffer): Buffer {
    this.#keep(last)
    const line = this.#parts.length === 1 ? last : Buffer.concat(this.#parts)
    this.#parts = []
    this.#partBytes = 0
    return line.at(-1) === RETURN ? line.subarray(0, -1) : line
  }
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'

export interface WatchEvent {
  readonly type: WatchEventType
  /** The bytes of the object. */
  readonly object: Buffer
}

const TYPES: ReadonlySet<string> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'])

/** @throws JsonError when the line is no watch event. */
export function readWatchEvent(line: Buffer): WatchEvent {
  let type: string | undefined
  let object: Buffer | undefined
  for (const member of members(line)) {
    if (member.key === 'type') type = stringOf(line, member)
    else if (member.key === 'object') object = line.subarray(member.start, member.end)
  }
  if (type === undefined || !object) throw new JsonError('the event has no type or no object')
  if (!TYPES.has(type))
    throw new JsonError(`the event has the unknown type ${JSON.stringify(type)}`)
  return { type: type as WatchEventType, object }
}
