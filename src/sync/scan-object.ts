/**
 * One pass over the bytes of an object: its search tokens, where the parts lie that the mirror
 * needs, and the edits that make it what is stored.
 *
 * Owns     what is found by which token, what is cut, what is replaced, which of several equal
 *          keys counts (the last, as in every JSON parser; the bytes of the others stay).
 * Not here making the edits and the row (encode-object.ts), the hash (kube/search-token.ts).
 *
 * Depth is kept in an array of frames, not on the stack: no nesting can overflow it.
 */
import type { GroupResource } from '../kube/group-resource.ts'
import { LAST_APPLIED_ANNOTATION } from '../kube/kube-object.ts'
import {
  childPath,
  combine,
  type Hash64,
  hashBytes,
  hashKey,
  hashString,
  labelKeyPath,
  typeSeed,
  VALUE_SEED,
} from '../kube/search-token.ts'
import { type ByteEdit, cutMembers, type MemberRange } from './byte-edits.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  expectByte,
  JsonError,
  literalEnd,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  stringEnd,
  stringOf,
  valueEnd,
} from './json-bytes.ts'
import { type Frame, FrameStack, type Role } from './scan-frames.ts'
import { ShadowedKeys } from './shadowed-keys.ts'
import { TokenList } from './token-list.ts'

export interface Range {
  readonly start: number
  readonly end: number
}

export interface ScanOptions {
  /** The stored type (kube/moved-resources.ts): every token depends on it. */
  readonly type: GroupResource
  readonly cutManagedFields: boolean
  readonly cutLastApplied: boolean
  /** What stands in place of a Secret's value, a JSON text; undefined leaves values as they are. */
  readonly secretValue?: ((value: Buffer, member: 'data' | 'stringData') => Buffer) | undefined
  /** Not in the bytes, but in the stored object: found like any other. A member's own is cut. */
  readonly annotation: { readonly key: string; readonly value: string }
}

/** Ranges are those of values in the scanned bytes, strings with their quotes. */
export interface Scan {
  readonly tokens: BigInt64Array
  readonly statusTokens: BigInt64Array
  /** `kind`, `apiVersion`, and of metadata `name`, `namespace`, `uid` … */
  readonly found: ReadonlyMap<string, Range>
  readonly metadata: Range | undefined
  /** Of metadata, when it is an object. */
  readonly annotations: Range | undefined
  /** Whether something is left in annotations after the cuts. */
  readonly annotationsKept: boolean
  /** Texts called `image`, below the fields of the object other than status. */
  readonly images: readonly Range[]
  /** Sorted, without overlaps. */
  readonly edits: readonly ByteEdit[]
  /** A number of 16 digits or more occurs: JSON.parse alone might change it. */
  readonly bigNumbers: boolean
}

/** Columns of their own, or different after every change: nothing to search for. */
const COLUMNS = new Set(['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'])
const ROOT_TEXTS = new Set(['kind', 'apiVersion'])
const BIG_DIGITS = 16
const IMAGE = Buffer.from('"image"')
const ELEMENT = Buffer.from('[]')
const ELEMENT_RANGE = { start: 0, end: ELEMENT.length }

/** Scans objects of one type; holds buffers that are used again, so one scan at a time. */
export class ObjectScanner {
  readonly #options: ScanOptions
  readonly #seed: Hash64
  readonly #labelKeys: Hash64
  readonly #annotationToken: Hash64
  readonly #tokens = new TokenList()
  readonly #statusTokens = new TokenList()
  readonly #frames = new FrameStack()
  #bytes: Buffer = Buffer.alloc(0)
  readonly #keys = new ShadowedKeys()
  #found = new Map<string, Range>()
  #edits: ByteEdit[] = []
  #images: Range[] = []
  #metadata: Range | undefined
  #annotations: Range | undefined
  #annotationsKept = false
  #bigNumbers = false
  /** Of the value that is read next. */
  #role: Role = 'plain'
  #muted = false
  readonly #path: Hash64 = { hi: 0, lo: 0 }
  /** Scratch space, so that a leaf allocates nothing. */
  readonly #range = { start: 0, end: 0 }
  readonly #child = { seed: this.#path, out: this.#path }
  readonly #value = { seed: { ...VALUE_SEED }, out: { hi: 0, lo: 0 } }
  readonly #token: Hash64 = { hi: 0, lo: 0 }

  constructor(options: ScanOptions) {
    this.#options = options
    this.#seed = typeSeed(options.type)
    this.#labelKeys = labelKeyPath(this.#seed)
    const { key, value } = options.annotation
    const path = ['metadata', 'annotations', key].reduce(childPath, this.#seed)
    this.#hashText(value)
    this.#annotationToken = { hi: 0, lo: 0 }
    combine(path, this.#value.out, this.#annotationToken)
  }

  /** @throws JsonError when the bytes are not one JSON object. */
  scan(bytes: Buffer): Scan {
    this.#keys.clear()
    this.#pass(bytes)
    // Which of two equal keys counts is known only after the second: read once more, knowing it.
    if (this.#keys.any) this.#pass(bytes)
    return {
      tokens: this.#tokens.toArray(),
      statusTokens: this.#statusTokens.toArray(),
      found: this.#found,
      metadata: this.#metadata,
      annotations: this.#annotations,
      annotationsKept: this.#annotationsKept,
      images: this.#images,
      edits: this.#edits.sort((a, b) => a.start - b.start || a.end - b.end),
      bigNumbers: this.#bigNumbers,
    }
  }

  #pass(bytes: Buffer): void {
    this.#bytes = bytes
    this.#tokens.clear()
    this.#tokens.add(this.#annotationToken)
    this.#statusTokens.clear()
    this.#found = new Map()
    this.#edits = []
    this.#images = []
    this.#metadata = undefined
    this.#annotations = undefined
    this.#annotationsKept = false
    this.#bigNumbers = false
    this.#frames.clear()
    this.#role = 'root'
    this.#muted = false
    this.#path.hi = this.#seed.hi
    this.#path.lo = this.#seed.lo
    const start = skipSpace(bytes, 0)
    if (bytes[start] !== OPEN_BRACE) throw new JsonError('not a JSON object')
    let at = this.#open(start)
    while (this.#frames.depth > 0) at = this.#frames.top.list ? this.#element(at) : this.#member(at)
    if (skipSpace(bytes, at) !== bytes.length) throw new JsonError('something follows the object')
  }

  #open(at: number): number {
    const list = this.#bytes[at] === OPEN_BRACKET
    const frame = this.#frames.push(at)
    frame.role = this.#role
    frame.list = list
    frame.muted = this.#muted
    if (list) hashBytes(ELEMENT, ELEMENT_RANGE, { seed: this.#path, out: frame.path })
    else {
      frame.path.hi = this.#path.hi
      frame.path.lo = this.#path.lo
      this.#keys.open()
    }
    return at + 1
  }

  #element(from: number): number {
    const frame = this.#frames.top
    let at = skipSpace(this.#bytes, from)
    if (this.#bytes[at] === CLOSE_BRACKET) return this.#close(at + 1)
    if (!frame.empty) at = skipSpace(this.#bytes, expectByte(this.#bytes, at, COMMA))
    frame.empty = false
    this.#role = frame.role === 'status' ? 'status' : 'plain'
    this.#muted = frame.muted
    this.#path.hi = frame.path.hi
    this.#path.lo = frame.path.lo
    return this.#readValue(at)
  }

  #member(from: number): number {
    const bytes = this.#bytes
    const frame = this.#frames.top
    let start = skipSpace(bytes, from)
    if (bytes[start] === CLOSE_BRACE) return this.#close(start + 1)
    if (!frame.empty) start = skipSpace(bytes, expectByte(bytes, start, COMMA))
    frame.empty = false
    if (bytes[start] !== QUOTE) throw new JsonError(`expected a key at byte ${start}`)
    this.#child.seed = frame.path
    const quote = hashKey(bytes, start + 1, this.#child)
    const end = quote < 0 ? this.#escapedKey(frame, start) : quote + 1
    this.#muted = frame.muted || this.#keys.isShadowed(start)
    this.#keys.add(this.#path, start)
    const at = skipSpace(bytes, expectByte(bytes, end, COLON))
    if (frame.role !== 'plain' && frame.role !== 'status') {
      return this.#special(frame, stringOf(bytes, { start, end }), { start, end: at })
    }
    this.#role = frame.role
    const isImage = frame.role === 'plain' && end - start === IMAGE.length && bytes[at] === QUOTE
    const valueEnd = this.#readValue(at)
    if (isImage && !this.#muted && bytes.compare(IMAGE, 0, IMAGE.length, start, end) === 0) {
      this.#images.push({ start: at, end: valueEnd })
    }
    return valueEnd
  }

  /** The key at `start`, which is more than plain characters; @returns where it ends. */
  #escapedKey(frame: Frame, start: number): number {
    const end = Math.abs(stringEnd(this.#bytes, start))
    const path = childPath(frame.path, stringOf(this.#bytes, { start, end }))
    this.#path.hi = path.hi
    this.#path.lo = path.lo
    return end
  }

  /** A member of an object that means something to us. `head` is its key, up to its value. */
  #special(frame: Frame, key: string, head: Range): number {
    switch (frame.role) {
      case 'root':
        return this.#rootMember(key, head.end)
      case 'metadata':
        return this.#metadataMember(frame, key, head)
      case 'annotations':
        return this.#annotation(frame, key, head)
      case 'labels':
        if (!this.#muted) this.#labelKey(key)
        this.#role = 'plain'
        return this.#readValue(head.end)
      case 'data':
      case 'stringData':
        return this.#secretValue(frame.role, head.end)
      case 'plain':
      case 'status':
        return this.#readValue(head.end)
    }
  }

  #rootMember(key: string, at: number): number {
    const secret = this.#options.secretValue !== undefined
    if (ROOT_TEXTS.has(key)) return this.#note(key, at)
    if (key === 'metadata' && this.#bytes[at] === OPEN_BRACE) this.#role = 'metadata'
    else if (key === 'status') this.#role = 'status'
    else if (secret && (key === 'data' || key === 'stringData')) return this.#secretMap(key, at)
    else this.#role = 'plain'
    return this.#readValue(at)
  }

  #secretMap(key: 'data' | 'stringData', at: number): number {
    if (this.#bytes[at] !== OPEN_BRACE) {
      const end = valueEnd(this.#bytes, at)
      if (this.#bytes.toString('latin1', at, end) === 'null') return end
      throw new JsonError(`a Secret's ${key} is not an object`)
    }
    this.#role = key
    return this.#open(at)
  }

  #secretValue(role: 'data' | 'stringData', at: number): number {
    const end = valueEnd(this.#bytes, at)
    const by = this.#options.secretValue!(this.#bytes.subarray(at, end), role)
    this.#edits.push({ start: at, end, by })
    if (!this.#muted) {
      hashBytes(by, { start: 1, end: by.length - 1 }, this.#value)
      this.#addToken()
    }
    return end
  }

  #metadataMember(frame: Frame, key: string, head: Range): number {
    const cut = key === 'managedFields' && this.#options.cutManagedFields
    const member = { start: head.start, end: 0, cut }
    frame.members.push(member)
    if (key === 'managedFields') {
      member.end = valueEnd(this.#bytes, head.end)
      return member.end
    }
    if (COLUMNS.has(key)) {
      member.end = this.#note(key, head.end)
      return member.end
    }
    const open = this.#bytes[head.end] === OPEN_BRACE
    if (key === 'annotations' && !this.#muted && !open)
      this.#found.set(key, this.#valueAt(head.end))
    this.#role = open && (key === 'labels' || key === 'annotations') ? key : 'plain'
    return this.#readMember(member, head.end)
  }

  #valueAt(start: number): Range {
    return { start, end: valueEnd(this.#bytes, start) }
  }

  #annotation(frame: Frame, key: string, head: Range): number {
    const cut =
      key === this.#options.annotation.key ||
      (key === LAST_APPLIED_ANNOTATION && this.#options.cutLastApplied)
    const member = { start: head.start, end: 0, cut }
    frame.members.push(member)
    if (cut) {
      member.end = valueEnd(this.#bytes, head.end)
      return member.end
    }
    this.#role = 'plain'
    return this.#readMember(member, head.end)
  }

  /** The end of a container is known when it closes: see #close. */
  #readMember(member: MemberRange, at: number): number {
    const depth = this.#frames.depth
    const end = this.#readValue(at)
    if (this.#frames.depth === depth) member.end = end
    return end
  }

  #note(key: string, at: number): number {
    const range = this.#valueAt(at)
    if (!this.#muted) this.#found.set(key, range)
    return range.end
  }

  #readValue(at: number): number {
    const byte = this.#bytes[at]
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return this.#open(at)
    const end = byte === QUOTE ? this.#readString(at) : this.#readLiteral(at)
    if (!this.#muted) this.#addToken()
    return end
  }

  #readString(at: number): number {
    const quote = hashString(this.#bytes, at + 1, this.#value)
    if (quote >= 0) return quote + 1
    const end = Math.abs(stringEnd(this.#bytes, at))
    this.#hashText(stringOf(this.#bytes, { start: at, end }))
    return end
  }

  #readLiteral(at: number): number {
    const end = literalEnd(this.#bytes, at)
    if (end - at >= BIG_DIGITS) this.#bigNumbers = true
    this.#range.start = at
    this.#range.end = end
    hashBytes(this.#bytes, this.#range, this.#value)
    return end
  }

  #hashText(text: string): void {
    const bytes = Buffer.from(text)
    hashBytes(bytes, { start: 0, end: bytes.length }, this.#value)
  }

  /** Of the value that was hashed last, at the current path. */
  #addToken(): void {
    combine(this.#path, this.#value.out, this.#token)
    if (this.#role === 'status') this.#statusTokens.add(this.#token)
    else this.#tokens.add(this.#token)
  }

  #labelKey(key: string): void {
    this.#hashText(key)
    combine(this.#labelKeys, this.#value.out, this.#token)
    this.#tokens.add(this.#token)
  }

  #close(end: number): number {
    const frame = this.#frames.top
    if (!frame.list) this.#keys.close()
    if (frame.role === 'metadata' || frame.role === 'annotations') this.#closeSpecial(frame, end)
    this.#frames.pop()
    const last = this.#frames.depth > 0 ? this.#frames.top.members.at(-1) : undefined
    if (last?.end === 0) last.end = end
    return end
  }

  #closeSpecial(frame: Frame, end: number): void {
    const range = { start: frame.start, end }
    this.#edits.push(...cutMembers(range, frame.members))
    if (frame.muted) return
    if (frame.role === 'metadata') this.#metadata = range
    else {
      this.#annotations = range
      this.#annotationsKept = frame.members.some((member) => !member.cut)
    }
  }
}
