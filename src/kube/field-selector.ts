/**
 * Field selectors over any path: `status.phase notin (Running),spec.containers[].name=main`.
 *
 * A superset of what a real API server takes: after `=`, `==` and `!=` the value reaches up to the
 * next comma, and `\,` `\=` `\\` stand for these characters. Beyond it there are `in`, `notin`, `>`,
 * `>=`, `<`, `<=`, a path alone (exists), `!path`, quotes around keys and values, list elements `[]`
 * (or `[*]`) and `[1]`. kubectl sends all of it as typed.
 */
import { COMPARABLE_FORMATS, parseComparable } from './comparable.ts'
import { StatusError } from './status-error.ts'

/** One step of a path: an object key, any element of a list, or the element at an index. */
export type PathStep =
  | { readonly key: string }
  | { readonly every: true }
  | { readonly index: number }

export type FieldPath = readonly PathStep[]

/**
 * `In` holds when a value at the path, spelled as JSON spells it (strings without quotes), is one
 * of `values`. `NotIn` holds exactly when `In` does not, so also for objects that lack the path.
 *
 * The empty value stands for a missing field, too, because a real API server cannot tell the two
 * apart: `spec.nodeName=` finds the pods without a node, `spec.nodeName!=` those with one.
 */
export type FieldRequirement =
  | {
      readonly path: FieldPath
      readonly operator: 'In' | 'NotIn'
      readonly values: readonly string[]
    }
  | { readonly path: FieldPath; readonly operator: 'Exists' | 'DoesNotExist' }
  | FieldComparison

/** Holds when a value at the path is of the kind of `value` and so much greater or less. */
export interface FieldComparison {
  readonly path: FieldPath
  readonly operator: ComparisonOperator
  /** What kube/comparable.ts can read. */
  readonly value: string
}

export type ComparisonOperator = 'Gt' | 'Gte' | 'Lt' | 'Lte'

const COMPARISONS: Readonly<Record<string, ComparisonOperator>> = {
  '>': 'Gt',
  '>=': 'Gte',
  '<': 'Lt',
  '<=': 'Lte',
}

/** @throws 400 `BadRequest` naming the part that cannot be understood. Empty text: none. */
export function parseFieldSelector(text: string): readonly FieldRequirement[] {
  const reader = new Reader(text)
  const requirements: FieldRequirement[] = []
  for (;;) {
    reader.skipSpace()
    if (reader.atEnd()) return requirements
    // Empty terms are passed over, as upstream does: clients join conditions with stray commas.
    if (!reader.takeText(',')) requirements.push(parseTerm(reader))
  }
}

/** A path as {@link parseFieldSelector} reads it: `metadata.annotations['a.b/c']`. */
export function formatFieldPath(path: FieldPath): string {
  return path.map(formatStep).join('').replace(/^\./, '')
}

/** @throws 400 `BadRequest` when the text is not exactly one path. */
export function parseFieldPath(text: string): FieldPath {
  const reader = new Reader(text.trim())
  const path = parsePath(reader)
  if (!reader.atEnd()) throw reader.refuse()
  return path
}

function formatStep(step: PathStep): string {
  if ('every' in step) return '[]'
  if ('index' in step) return `[${step.index}]`
  return PLAIN_KEY.test(step.key) ? `.${step.key}` : `[${quote(step.key)}]`
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}

/** Keys that need no quotes; everything that has a meaning in the grammar is left out. */
const PLAIN_KEY = /^[^\s.[\]()=!<>,'"\\]+$/
const KEY = /[^\s.[\]()=!<>,'"\\]+/y
/** Inside parentheses. */
const LIST_VALUE = /(?:\\[\\,=]|[^\s(),'"\\])+/y
/** After `=`: as upstream, everything up to a comma, so that names with spaces work. */
const EXACT_VALUE = /(?:\\[\\,=]|[^,=\\])*/y
const QUOTED = /'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"/sy
const INDEX = /\d{1,9}(?=\])/y
const SPACE = /\s*/y
const WORD_OPERATOR = /(?:in|notin)(?=[\s(])/y
const COMPARISON = /[<>]=?/y

class Reader {
  readonly text: string
  #at = 0
  #termStart = 0

  constructor(text: string) {
    this.text = text
  }

  atEnd(): boolean {
    return this.#at >= this.text.length
  }

  startTerm(): void {
    this.#termStart = this.#at
  }

  skipSpace(): void {
    this.take(SPACE)
  }

  /** What the sticky pattern matches here; undefined when it does not match, or matches nothing. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.text)
    if (!match || match[0] === '') return undefined
    this.#at += match[0].length
    return match
  }

  takeText(text: string): boolean {
    if (!this.text.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  takeQuoted(): string | undefined {
    const match = this.take(QUOTED)
    return match && (match[1] ?? match[2] ?? '').replace(/\\(.)/gs, '$1')
  }

  /** In the words of a real API server. */
  refuse(why?: string): StatusError {
    const comma = this.text.indexOf(',', Math.max(this.#at, this.#termStart))
    const term = this.text.slice(this.#termStart, comma < 0 ? undefined : comma)
    const message = `invalid selector: '${this.text}'; can't understand '${term}'`
    return new StatusError('BadRequest', why ? `${message}: ${why}` : message)
  }
}

function parseTerm(reader: Reader): FieldRequirement {
  reader.startTerm()
  const negated = reader.takeText('!')
  reader.skipSpace()
  const path = parsePath(reader)
  reader.skipSpace()
  const requirement: FieldRequirement = negated
    ? { path, operator: 'DoesNotExist' }
    : parseComparison(reader, path)
  reader.skipSpace()
  if (!reader.atEnd() && !reader.takeText(',')) throw reader.refuse()
  return requirement
}

function parsePath(reader: Reader): FieldPath {
  const path: PathStep[] = []
  reader.takeText('.')
  for (;;) {
    if (reader.takeText('[')) path.push(parseBracket(reader))
    else if (path.length === 0 || reader.takeText('.')) path.push(parseKey(reader))
    else return path
  }
}

function parseKey(reader: Reader): PathStep {
  // `\.` is a dot inside a key, as in kubectl's JSONPath.
  let key = ''
  for (;;) {
    const match = reader.take(KEY)
    if (match) key += match[0]
    else if (reader.takeText('\\.')) key += '.'
    else if (key === '') throw reader.refuse('a field name is missing')
    else return { key }
  }
}

function parseBracket(reader: Reader): PathStep {
  const key = reader.takeQuoted()
  const index = key === undefined ? reader.take(INDEX) : undefined
  if (key === undefined && !index) reader.takeText('*')
  if (!reader.takeText(']'))
    throw reader.refuse("in brackets there may be nothing, an index, or a 'key'")
  if (key !== undefined) return { key }
  return index ? { index: Number(index[0]) } : { every: true }
}

function parseComparison(reader: Reader, path: FieldPath): FieldRequirement {
  if (reader.takeText('!=')) return { path, operator: 'NotIn', values: [parseExactValue(reader)] }
  if (reader.takeText('==') || reader.takeText('=')) {
    return { path, operator: 'In', values: [parseExactValue(reader)] }
  }
  const comparison = reader.take(COMPARISON)
  if (comparison) return compare(reader, { path, operator: COMPARISONS[comparison[0]]! })
  const word = reader.take(WORD_OPERATOR)
  if (!word) return { path, operator: 'Exists' }
  return { path, operator: word[0] === 'in' ? 'In' : 'NotIn', values: parseList(reader) }
}

function compare(reader: Reader, of: Omit<FieldComparison, 'value'>): FieldComparison {
  const value = parseExactValue(reader)
  if (parseComparable(value)) return { ...of, value }
  throw reader.refuse(`what is compared with must be ${COMPARABLE_FORMATS}`)
}

function parseExactValue(reader: Reader): string {
  reader.skipSpace()
  const quoted = reader.takeQuoted()
  if (quoted !== undefined) return quoted
  const match = reader.take(EXACT_VALUE)
  return match ? unescapeValue(match[0].trimEnd()) : ''
}

/** `(a,'b c')`. A comma with nothing before or after it stands for the empty value. */
function parseList(reader: Reader): readonly string[] {
  reader.skipSpace()
  if (!reader.takeText('(')) throw reader.refuse("'(' is missing")
  const values = new Set<string>()
  for (;;) {
    reader.skipSpace()
    values.add(reader.takeQuoted() ?? unescapeValue(reader.take(LIST_VALUE)?.[0] ?? ''))
    reader.skipSpace()
    if (reader.takeText(')')) return [...values]
    if (!reader.takeText(',')) throw reader.refuse("')' is missing")
  }
}

function unescapeValue(text: string): string {
  return text.replace(/\\([\\,=])/g, '$1')
}
