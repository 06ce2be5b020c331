/**
 * Takes a list apart while it arrives: each item becomes a Buffer of its own, the page never one.
 *
 * What a page needs in memory is one item, not the page: 500 ConfigMaps of 1.4 MB are one page.
 * Chunks may end anywhere, inside a character or an escape too.
 */
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  closes,
  JsonError,
  OPEN_BRACE,
  OPEN_BRACKET,
  opens,
  QUOTE,
} from './json-bytes.ts'
import { plainVersion } from './object-identity.ts'

/** What stands beside the items. */
export interface ListMeta {
  readonly kind: string
  readonly apiVersion: string
  readonly resourceVersion: string
  readonly continue: string
}

export type ListItem = { readonly bytes: Buffer } | { readonly tooLargeBytes: number }

/** kind, apiVersion and metadata of a list are small; a Status in place of a list is not large. */
const FIELD_BYTES = 1024 * 1024
/** Nothing else of a list is looked at, however much of it a member sends. */
const FIELDS: ReadonlySet<string> = new Set(['kind', 'apiVersion', 'metadata'])
/** One that is so many times too large is no object but a stream without an end. */
const SKIPPED_TIMES_MOST = 4
const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d])

type Place = 'start' | 'list' | 'items' | 'end'

export class ListSplitter {
  readonly #itemBytes: number
  #place: Place = 'start'
  /** Depth within the value that is being read; 0 between values. */
  #depth = 0
  #inString = false
  #escaped = false
  #inValue = false
  /** A number, true, false or null: it ends where something else begins. */
  #literal = false
  /** The last string at the level of the list: a key, once a colon follows. */
  #key = ''
  #hasKey = false
  #sawItems = false
  #parts: Buffer[] = []
  #partBytes = 0
  readonly #fields = new Map<string, string>()

  /** @param itemBytes - larger items are not kept, only counted. */
  constructor(itemBytes: number) {
    this.#itemBytes = itemBytes
  }

  /** The items that are complete with this chunk. @throws JsonError when it is no list. */
  push(chunk: Buffer): ListItem[] {
    const items: ListItem[] = []
    let at = 0
    while (at < chunk.length) {
      const from = at
      if (!this.#inValue && !this.#beginsValue(chunk[at]!)) {
        at++
        continue
      }
      const end = this.#valueEnd(chunk, from)
      this.#keep(chunk.subarray(from, end < 0 ? chunk.length : end))
      if (end < 0) break
      this.#finish(items)
      at = end
    }
    return items
  }

  /** @throws JsonError when the list is cut off, or is none. */
  end(): ListMeta {
    if (this.#place !== 'end') throw new JsonError('the list is cut off')
    const metadata = this.#field('metadata') as { resourceVersion?: unknown; continue?: unknown }
    if (!this.#sawItems) throw new JsonError('not a list: it has no items')
    return {
      kind: text(this.#field('kind')),
      apiVersion: text(this.#field('apiVersion')),
      resourceVersion: plainVersion(text(metadata?.resourceVersion)),
      continue: text(metadata?.continue),
    }
  }

  #field(name: string): unknown {
    const json = this.#fields.get(name)
    if (json === undefined) return undefined
    try {
      return JSON.parse(json)
    } catch {
      throw new JsonError(`the list's ${name} is not JSON`)
    }
  }

  /** A byte between values: white space, structure, or the first byte of a value. */
  #beginsValue(byte: number): boolean {
    if (SPACES.has(byte)) return false
    if (this.#place === 'start') return this.#enter(byte, OPEN_BRACE)
    if (this.#place === 'end') throw new JsonError('something follows the list')
    if (byte === COMMA) return false
    if (byte === COLON && this.#place === 'list') {
      this.#hasKey = true
      return false
    }
    if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) return this.#leave(byte)
    if (this.#place === 'list' && this.#hasKey && this.#key === 'items' && byte === OPEN_BRACKET) {
      this.#place = 'items'
      this.#sawItems = true
      this.#hasKey = false
      return false
    }
    this.#begin(byte)
    return true
  }

  #enter(byte: number, expected: number): boolean {
    if (byte !== expected) throw new JsonError('not a JSON object')
    this.#place = 'list'
    return false
  }

  #leave(byte: number): boolean {
    const expected = this.#place === 'items' ? CLOSE_BRACKET : CLOSE_BRACE
    if (byte !== expected) throw new JsonError('brackets of the list do not match')
    this.#place = this.#place === 'items' ? 'list' : 'end'
    return false
  }

  #begin(byte: number): void {
    this.#inValue = true
    this.#inString = false
    this.#escaped = false
    this.#depth = 0
    this.#literal = byte !== QUOTE && byte !== OPEN_BRACE && byte !== OPEN_BRACKET
    this.#parts = []
    this.#partBytes = 0
  }

  /** One past the end of the value that began at `from` or before this chunk; -1: it goes on. */
  #valueEnd(chunk: Buffer, from: number): number {
    if (this.#literal) return literalEnd(chunk, from)
    if (this.#inString) {
      const end = this.#stringEnd(chunk, from)
      return end < 0 || this.#depth === 0 ? end : this.#containerEnd(chunk, end)
    }
    const isString = this.#depth === 0 && chunk[from] === QUOTE
    return isString ? this.#stringEnd(chunk, from + 1) : this.#containerEnd(chunk, from)
  }

  /** As {@link ListSplitter.#valueEnd}, between two strings of an object or a list. */
  #containerEnd(chunk: Buffer, from: number): number {
    let depth = this.#depth
    let inString = false
    let at = from
    const length = chunk.length
    while (at < length) {
      const byte = chunk[at++]!
      if (inString) {
        if (byte === BACKSLASH) at++
        inString = byte !== QUOTE
      } else if (byte === QUOTE) inString = true
      else if (opens(byte)) depth++
      else if (closes(byte) && --depth === 0) return at
    }
    this.#depth = depth
    this.#inString = inString
    this.#escaped = at > length
    return -1
  }

  /** One past the closing quote of the string that goes on at `from`; -1: beyond this chunk. */
  #stringEnd(chunk: Buffer, from: number): number {
    let at = this.#escaped ? from + 1 : from
    this.#escaped = false
    for (; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (byte === QUOTE) {
        this.#inString = false
        return at + 1
      }
      if (byte === BACKSLASH) at++
    }
    this.#inString = true
    this.#escaped = at > chunk.length
    return -1
  }

  #keep(part: Buffer): void {
    this.#partBytes += part.length
    const allowed = this.#place === 'items' ? this.#itemBytes : FIELD_BYTES
    if (this.#partBytes <= allowed) this.#parts.push(part)
    else this.#parts = []
    const most = this.#itemBytes * SKIPPED_TIMES_MOST
    if (this.#partBytes > most) throw new JsonError(`one value is over ${most} bytes`)
  }

  #finish(items: ListItem[]): void {
    const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
    const size = this.#partBytes
    this.#inValue = false
    this.#depth = 0
    this.#parts = []
    if (this.#place === 'items') {
      items.push(size > this.#itemBytes ? { tooLargeBytes: size } : { bytes })
    } else if (this.#hasKey) {
      if (this.#key === 'items' && bytes.toString('latin1') === 'null') this.#sawItems = true
      else if (FIELDS.has(this.#key)) this.#fields.set(this.#key, bytes.toString('utf8'))
      this.#hasKey = false
    } else {
      this.#key = bytes.toString('utf8').slice(1, -1)
    }
  }
}

function literalEnd(chunk: Buffer, from: number): number {
  for (let at = from; at < chunk.length; at++) {
    const byte = chunk[at]!
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || SPACES.has(byte)) {
      return at
    }
  }
  return -1
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
