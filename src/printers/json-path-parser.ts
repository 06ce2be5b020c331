/**
 * Parses kubectl's JSONPath (what stands between the braces of `{.spec.x}`) into steps.
 *
 * @see client-go/util/jsonpath/parser.go: the grammar this follows, oddities included: `['a.b']`
 *   is the path `.a.b`, and a dot inside a key is always escaped.
 */
import {
  allSteps,
  descendants,
  everyChild,
  Float,
  field,
  filterComparing,
  filterExisting,
  fixedText,
  literal,
  type Slice,
  type Step,
  slice,
  union,
  unknownWord,
} from './json-path.ts'

/** A path that has no meaning. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError'
}

interface Cursor {
  readonly input: string
  at: number
}

const TERMINATORS = new Set([' ', '\t', '\r', '\n', '.', ',', '[', ']', '$', '@', '{', '}'])
const WORD_START = /^[\p{L}\p{Nd}_]/u
const NUMBER = /^[+-]?[\d.]*/
const KEY = /^'([^']*)'$/
const SLICE = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/
const COMPARISON = /^([^!<>=]+)([!<>=]+)(.+)$/

/** @throws JsonPathError */
export function parseJsonPath(path: string): Step {
  const cursor: Cursor = { input: path, at: 0 }
  const steps: Step[] = []
  // A closing brace ends the expression; what follows it would be text, which no column shows.
  while (cursor.at < path.length && path[cursor.at] !== '}') parserAt(cursor)(cursor, steps)
  return allSteps(steps)
}

/** Reads from the cursor on and adds what it reads to the steps. */
type Parse = (cursor: Cursor, steps: Step[]) => void

const BY_FIRST: ReadonlyMap<string, Parse> = new Map<string, Parse>([
  ['[?(', parseFilter],
  ['..', parseDescent],
  ['[', parseBrackets],
  ['.', parseField],
  ['"', parseQuoted],
  ["'", parseQuoted],
  // The object itself, and spaces: nothing to do.
  ['@', skip],
  ['$', skip],
  [' ', skip],
])

function parserAt({ input, at }: Cursor): Parse {
  return (
    BY_FIRST.get(input.slice(at, at + 3)) ??
    BY_FIRST.get(input.slice(at, at + 2)) ??
    BY_FIRST.get(input.slice(at, at + 1)) ??
    parseWord
  )
}

function skip(cursor: Cursor): void {
  cursor.at++
}

function parseWord(cursor: Cursor, steps: Step[]): void {
  const rest = cursor.input.slice(cursor.at)
  if (/^[+\-\d]/.test(rest)) {
    const digits = NUMBER.exec(rest)![0]
    cursor.at += digits.length
    steps.push(literal(numberOf(digits)))
    return
  }
  if (!WORD_START.test(rest)) {
    throw new JsonPathError(`unrecognized character in action: ${JSON.stringify(rest[0])}`)
  }
  const start = cursor.at
  while (cursor.at < cursor.input.length && !TERMINATORS.has(cursor.input[cursor.at]!)) cursor.at++
  const word = cursor.input.slice(start, cursor.at)
  steps.push(word === 'true' || word === 'false' ? literal(word === 'true') : unknownWord())
}

function numberOf(digits: string): number | bigint | Float {
  const number = Number(digits)
  if (Number.isNaN(number) || !/\d/.test(digits)) {
    throw new JsonPathError(`cannot parse number ${digits}`)
  }
  if (digits.includes('.')) return new Float(number)
  return Number.isSafeInteger(number) ? number : BigInt(digits)
}

/** From the dot on. */
function parseField(cursor: Cursor, steps: Step[]): void {
  cursor.at++
  parseName(cursor, steps)
}

function parseName(cursor: Cursor, steps: Step[]): void {
  const start = cursor.at
  while (cursor.at < cursor.input.length) {
    const character = cursor.input[cursor.at]!
    if (character === '\\') cursor.at++
    else if (TERMINATORS.has(character)) break
    cursor.at++
  }
  // A backslash at the end escapes the brace that would close the expression.
  if (cursor.at > cursor.input.length) throw new JsonPathError('unclosed action')
  const name = cursor.input.slice(start, cursor.at)
  steps.push(name === '*' ? everyChild() : field(name.replaceAll('\\', '')))
}

function parseDescent(cursor: Cursor, steps: Step[]): void {
  cursor.at += 2
  steps.push(descendants())
  const rest = cursor.input.slice(cursor.at)
  if (/^[ @$]*\.\./.test(rest)) throw new JsonPathError('invalid multiple recursive descent')
  if (WORD_START.test(rest)) parseName(cursor, steps)
}

function parseBrackets(cursor: Cursor, steps: Step[]): void {
  const end = cursor.input.indexOf(']', cursor.at)
  if (end < 0) throw new JsonPathError('unterminated array')
  const text = cursor.input.slice(cursor.at + 1, end)
  cursor.at = end + 1
  const members = text.split(',')
  if (members.length === 1) steps.push(parseSubscript(text))
  else steps.push(union(members.map((member) => parseSubscript(member.replace(/^ +| +$/g, '')))))
}

function parseSubscript(text: string): Step {
  const key = KEY.exec(text)
  if (key !== null) return parseJsonPath(`.${key[1]}`)
  const range = SLICE.exec(text === '*' ? ':' : text)
  if (range === null) throw new JsonPathError(`invalid array index ${text}`)
  return slice(parseSlice(range))
}

function parseSlice([, from = '', to, step]: readonly (string | undefined)[]): Slice {
  const single = to === undefined
  const start = from === '' ? undefined : indexOf(from)
  return {
    from: start,
    to: single ? (start ?? 0) + 1 : indexOf(to),
    step: indexOf(step),
    single,
  }
}

function indexOf(digits: string | undefined): number | undefined {
  if (digits === undefined || digits === '') return undefined
  if (digits === '-') throw new JsonPathError(`array index ${digits} is not a number`)
  return Number(digits)
}

function parseFilter(cursor: Cursor, steps: Step[]): void {
  const start = cursor.at + '[?('.length
  const end = endOfFilter(cursor.input, start)
  cursor.at = end + ')]'.length
  const condition = cursor.input.slice(start, end)
  const comparison = COMPARISON.exec(condition)
  if (comparison === null) {
    steps.push(filterExisting(parseJsonPath(condition)))
    return
  }
  const [, left = '', operator = '', right = ''] = comparison
  steps.push(filterComparing(parseJsonPath(left), operator, parseJsonPath(right)))
}

/**
 * Where the closing `)` of a filter stands; one inside its quoted text does not count. Only the
 * first kind of quote is seen, as only one side of a comparison has any.
 */
function endOfFilter(input: string, start: number): number {
  const quote = /["']/.exec(input.slice(start))?.[0]
  let quoted = false
  for (let i = start; i < input.length; i++) {
    if (input[i] === quote && !(quoted && input[i - 1] === '\\')) quoted = !quoted
    if (quoted || input[i] !== ')') continue
    if (input[i + 1] !== ']') throw new JsonPathError('unclosed array expect ]')
    return i
  }
  throw new JsonPathError('unterminated filter')
}

function parseQuoted(cursor: Cursor, steps: Step[]): void {
  const quote = cursor.input[cursor.at]!
  let end = cursor.at + 1
  while (cursor.input[end] !== quote || cursor.input[end - 1] === '\\') {
    end++
    if (end >= cursor.input.length) throw new JsonPathError('unterminated quoted string')
  }
  const quoted = cursor.input.slice(cursor.at + 1, end)
  cursor.at = end + 1
  steps.push(fixedText(unquote(quoted, quote)))
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
}

const ESCAPE = /\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-3][0-7]{2}|.?)/gs

/** Go's escapes, those by number too. A quote may be escaped only inside its own kind. */
function unquote(quoted: string, quote: string): string {
  return quoted.replace(ESCAPE, (sequence, what: string) => {
    const code = what.length > 1 ? codeOf(what) : undefined
    if (code !== undefined && code <= LAST_CODE) return String.fromCodePoint(code)
    if (what === quote) return quote
    if (!Object.hasOwn(ESCAPES, what)) {
      throw new JsonPathError(`unquote string ${JSON.stringify(quoted)}: ${sequence}`)
    }
    return ESCAPES[what]!
  })
}

const LAST_CODE = 0x10ffff

function codeOf(what: string): number {
  return /^[xuU]/.test(what) ? Number.parseInt(what.slice(1), 16) : Number.parseInt(what, 8)
}
