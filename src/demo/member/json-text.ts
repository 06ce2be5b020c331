/**
 * Finds and exchanges members of JSON text without reading it into values.
 *
 * A member serves objects as the bytes it was given: numbers beyond 2^53, escapes, duplicate keys
 * and even invalid UTF-8 stay what they were. Only structure is looked at, never content.
 */

/** One `"key": value` of a JSON object, as byte positions. */
export interface JsonMember {
  readonly key: string
  /** Of the key's opening quote. */
  readonly start: number
  readonly valueStart: number
  /** Just behind the value. */
  readonly end: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const OPEN_BRACKET = 0x5b
const CLOSE_BRACE = 0x7d
const CLOSE_BRACKET = 0x5d

/** The members of the object that starts at `start`, in order, duplicates included. */
export function membersOf(text: Buffer, start = 0): JsonMember[] {
  const members: JsonMember[] = []
  let at = skipSpace(text, start)
  if (text[at] !== OPEN_BRACE) return members
  at = skipSpace(text, at + 1)
  while (text[at] === QUOTE) {
    const keyEnd = skipString(text, at)
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const end = skipValue(text, valueStart)
    members.push({ key: text.toString('utf8', at + 1, keyEnd - 1), start: at, valueStart, end })
    at = skipSpace(text, end)
    if (text[at] === COMMA) at = skipSpace(text, at + 1)
  }
  return members
}

/** The last member of that name: of duplicates, JSON readers take the last. */
export function memberNamed(members: readonly JsonMember[], key: string): JsonMember | undefined {
  return members.findLast((member) => member.key === key)
}

/** The string a member holds, or undefined when it holds something else. */
export function stringOf(text: Buffer, member: JsonMember | undefined): string | undefined {
  if (!member || text[member.valueStart] !== QUOTE) return undefined
  return JSON.parse(text.toString('utf8', member.valueStart, member.end)) as string
}

/** Puts `replacement` in place of `text[start, end)`. */
export function splice(
  text: Buffer,
  range: { start: number; end: number },
  replacement: string,
): Buffer {
  return Buffer.concat([
    text.subarray(0, range.start),
    Buffer.from(replacement),
    text.subarray(range.end),
  ])
}

/** Sets a string member of the object at `objectStart`; a new one comes first. */
export function setString(
  text: Buffer,
  objectStart: number,
  entry: { key: string; value: string },
): Buffer {
  const members = membersOf(text, objectStart)
  const value = JSON.stringify(entry.value)
  const present = memberNamed(members, entry.key)
  if (present) return splice(text, { start: present.valueStart, end: present.end }, value)
  const inside = text.indexOf('{', objectStart) + 1
  const comma = members.length > 0 ? ',' : ''
  return splice(
    text,
    { start: inside, end: inside },
    `${JSON.stringify(entry.key)}:${value}${comma}`,
  )
}

/** Leaves out the named members of the outermost object. */
export function withoutMembers(text: Buffer, keys: ReadonlySet<string>): Buffer {
  const kept = membersOf(text).filter((member) => !keys.has(member.key))
  const parts: Buffer[] = []
  for (const [index, member] of kept.entries()) {
    parts.push(Buffer.from(index === 0 ? '{' : ','), text.subarray(member.start, member.end))
  }
  return Buffer.concat([...parts, Buffer.from(kept.length === 0 ? '{}' : '}')])
}

function skipSpace(text: Buffer, start: number): number {
  let at = start
  while (text[at] === 0x20 || text[at] === 0x0a || text[at] === 0x0d || text[at] === 0x09) at++
  return at
}

/** From an opening quote to just behind the closing one. */
function skipString(text: Buffer, start: number): number {
  let close = text.indexOf(QUOTE, start + 1)
  while (close > 0 && isEscaped(text, close)) close = text.indexOf(QUOTE, close + 1)
  return close < 0 ? text.length : close + 1
}

function isEscaped(text: Buffer, quote: number): boolean {
  let backslashes = 0
  while (text[quote - 1 - backslashes] === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}

function skipValue(text: Buffer, start: number): number {
  const first = text[start]
  if (first === QUOTE) return skipString(text, start)
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(text, start)
  let at = start
  while (at < text.length && !endsScalar(text[at]!)) at++
  return at
}

function endsScalar(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= 0x20
}

function skipNested(text: Buffer, start: number): number {
  let depth = 0
  let at = start
  while (at < text.length) {
    const byte = text[at]!
    if (byte === QUOTE) {
      at = skipString(text, at)
      continue
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--
    at++
    if (depth === 0) return at
  }
  return text.length
}
