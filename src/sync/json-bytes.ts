/**
 * Reading JSON where it lies: over the bytes of a Buffer, without making values of it.
 *
 * These functions find where things begin and end. Whether the text as a whole is JSON is decided
 * by the one JSON.parse that printing needs anyway (encode-object.ts), so they check no more than
 * what keeps them from going astray.
 */

export const QUOTE = 0x22
export const BACKSLASH = 0x5c
export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_BRACE = 0x7b
export const CLOSE_BRACE = 0x7d
export const OPEN_BRACKET = 0x5b
export const CLOSE_BRACKET = 0x5d

/** A brace or a bracket: they differ in one bit. */
export function opens(byte: number): boolean {
  return (byte | 0x20) === OPEN_BRACE
}

export function closes(byte: number): boolean {
  return (byte | 0x20) === CLOSE_BRACE
}

/** The text is not JSON. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
}

/** First byte at or after `at` that is not JSON white space. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let i = at
  while (bytes[i]! <= 0x20 && isSpace(bytes[i])) i++
  return i
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/**
 * The end of the string whose opening quote is at `at`, one past its closing quote.
 *
 * @returns the end, negated when the string holds escapes: what most callers ask next.
 */
export function stringEnd(bytes: Uint8Array, at: number): number {
  let escapes = false
  const length = bytes.length
  for (let i = at + 1; i < length; i++) {
    const byte = bytes[i]!
    if (byte === QUOTE) return escapes ? -(i + 1) : i + 1
    if (byte === BACKSLASH) {
      escapes = true
      i++
    } else if (byte < 0x20) {
      throw new JsonError(
        `raw control character 0x${byte.toString(16).padStart(2, '0')} in a string`,
      )
    }
  }
  throw new JsonError('a string does not end')
}

/** The end of a number, `true`, `false` or `null` at `at`. */
export function literalEnd(bytes: Uint8Array, at: number): number {
  let i = at
  while (i < bytes.length && isLiteralByte(bytes[i]!)) i++
  if (i === at) throw new JsonError(`unexpected byte 0x${(bytes[at] ?? 0).toString(16)} in JSON`)
  return i
}

/** Letters, digits, `+`, `-` and `.`. */
function isLiteralByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    byte === 0x2d ||
    byte === 0x2e ||
    byte === 0x2b ||
    (byte >= 0x41 && byte <= 0x5a)
  )
}

/** The end of whatever value starts at `at`. */
export function valueEnd(bytes: Uint8Array, at: number): number {
  const first = bytes[at]
  if (first === QUOTE) return Math.abs(stringEnd(bytes, at))
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return literalEnd(bytes, at)
  let depth = 0
  const length = bytes.length
  for (let i = at; i < length; i++) {
    const byte = bytes[i]!
    if (byte === QUOTE) i = Math.abs(stringEnd(bytes, i)) - 1
    else if (opens(byte)) depth++
    else if (closes(byte) && --depth === 0) return i + 1
  }
  throw new JsonError('an object or a list does not end')
}

/** The string between `start` and `end`, quotes included, with its escapes resolved. */
export function stringOf(bytes: Buffer, range: { start: number; end: number }): string {
  const text = bytes.toString('utf8', range.start, range.end)
  return text.includes('\\') ? unescaped(text) : text.slice(1, -1)
}

function unescaped(text: string): string {
  try {
    return JSON.parse(text)
  } catch {
    throw new JsonError('a string has an escape that JSON does not know')
  }
}

/** The byte after an expected one, which may follow white space. */
export function expectByte(bytes: Uint8Array, at: number, byte: number): number {
  const found = skipSpace(bytes, at)
  if (bytes[found] === byte) return found + 1
  throw new JsonError(`expected ${JSON.stringify(String.fromCharCode(byte))} at byte ${found}`)
}

/** One member of an object: its key, and where its value lies. */
export interface Member {
  readonly key: string
  /** Of the key. */
  readonly keyStart: number
  /** Of the value. */
  readonly start: number
  readonly end: number
}

/** The members of the object that starts at `at`, its nested values skipped. */
export function* members(bytes: Buffer, at = 0): Generator<Member> {
  let i = skipSpace(bytes, expectByte(bytes, at, OPEN_BRACE))
  if (bytes[i] === CLOSE_BRACE) return
  for (;;) {
    if (bytes[i] !== QUOTE) throw new JsonError(`expected a key at byte ${i}`)
    const keyEnd = Math.abs(stringEnd(bytes, i))
    const key = stringOf(bytes, { start: i, end: keyEnd })
    const start = skipSpace(bytes, expectByte(bytes, keyEnd, COLON))
    const end = valueEnd(bytes, start)
    yield { key, keyStart: i, start, end }
    i = skipSpace(bytes, end)
    if (bytes[i] === CLOSE_BRACE) return
    i = skipSpace(bytes, expectByte(bytes, i, COMMA))
  }
}
