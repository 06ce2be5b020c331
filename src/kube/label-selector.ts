/**
 * Label selectors: `app in (a,b),!old` ⇄ requirements.
 *
 * The grammar and every error sentence are those of a real API server. Requirements and their
 * values stay in the order typed, because the order of search labels has a meaning.
 *
 * @see apimachinery/pkg/labels/selector.go
 */
import { labelKeyProblems, labelValueProblems } from './label-syntax.ts'
import { isComparisonLabel } from './search-comparison.ts'
import { badRequest, type StatusError } from './status-error.ts'
import { unreachable } from './unreachable.ts'

export type LabelRequirement =
  | { readonly key: string; readonly operator: 'In' | 'NotIn'; readonly values: readonly string[] }
  | { readonly key: string; readonly operator: 'Exists' | 'DoesNotExist' }
  | { readonly key: string; readonly operator: 'Gt' | 'Lt'; readonly value: bigint }

/** Keys that never stand for labels of objects: kube/search.ts knows what each means. */
export function isSearchLabel(key: string): boolean {
  return key.includes('clusterpedia.io')
}

/** @throws 400 `BadRequest` in the words of a real API server. Empty text: no requirement. */
export function parseLabelSelector(text: string): readonly LabelRequirement[] {
  const tokens = new TokenReader(tokenize(text))
  const requirements: LabelRequirement[] = []
  if (tokens.peek().kind === 'end') return requirements
  if (!startsRequirement(tokens.peek())) {
    throw badRequest(`found '${tokens.peek().text}', expected: !, identifier, or 'end of string'`)
  }
  for (;;) {
    requirements.push(parseRequirement(tokens))
    const next = tokens.take()
    if (next.kind === 'end') return requirements
    if (next.kind !== ',')
      throw badRequest(`found '${next.text}', expected: ',' or 'end of string'`)
    if (!startsRequirement(tokens.peek())) {
      throw badRequest(`found '${tokens.peek().text}', expected: identifier after ','`)
    }
  }
}

/** Whether an object with these labels is selected. `NotIn` holds without the label, too. */
export function matchesLabels(
  requirements: readonly LabelRequirement[],
  labels: Readonly<Record<string, string>>,
): boolean {
  return requirements.every((requirement) => matches(requirement, labels))
}

function matches(requirement: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && requirement.values.includes(value)
    case 'NotIn':
      return value === undefined || !requirement.values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
    case 'Lt': {
      const number = value === undefined ? undefined : parseInt64(value)
      if (number === undefined) return false
      return requirement.operator === 'Gt' ? number > requirement.value : number < requirement.value
    }
    default:
      return unreachable(requirement)
  }
}

/** An error inside one requirement. */
function refuseRequirement(message: string): StatusError {
  return badRequest(`unable to parse requirement: ${message}`)
}

type Operator = 'in' | 'notin' | '=' | '==' | '!=' | '>' | '<'
type TokenKind = Operator | '!' | '(' | ')' | ',' | 'identifier' | 'end'

interface Token {
  readonly kind: TokenKind
  readonly text: string
}

const DOUBLE_SYMBOLS: ReadonlySet<string> = new Set(['==', '!='])
const SPECIAL = '=!(),><'
const SPACE = ' \t\r\n'
const END: Token = { kind: 'end', text: '' }

/** Every special character alone is a symbol, so there is no text without tokens. A NUL ends the text, as it does upstream. */
function tokenize(whole: string): readonly Token[] {
  const text = whole.split('\0', 1)[0]!
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const character = text[at]!
    if (SPACE.includes(character)) {
      at++
      continue
    }
    const token = SPECIAL.includes(character) ? symbolAt(text, at) : wordAt(text, at)
    tokens.push(token)
    at += token.text.length
  }
  return tokens
}

function symbolAt(text: string, start: number): Token {
  const two = text.slice(start, start + 2)
  const symbol = DOUBLE_SYMBOLS.has(two) ? two : text[start]!
  return { kind: symbol as TokenKind, text: symbol }
}

function wordAt(text: string, start: number): Token {
  let end = start
  while (end < text.length && !SPECIAL.includes(text[end]!) && !SPACE.includes(text[end]!)) end++
  const word = text.slice(start, end)
  return { kind: word === 'in' || word === 'notin' ? word : 'identifier', text: word }
}

class TokenReader {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  /** `in` and `notin` are operators in one place only; elsewhere they are words like any other. */
  peek(): Token {
    const token = this.#tokens[this.#at] ?? END
    return token.kind === 'in' || token.kind === 'notin'
      ? { kind: 'identifier', text: token.text }
      : token
  }

  take(): Token {
    const token = this.peek()
    this.#at++
    return token
  }

  takeOperator(): Token {
    return this.#tokens[this.#at++] ?? END
  }
}

function startsRequirement({ kind }: Token): boolean {
  return kind === 'identifier' || kind === '!'
}

function parseRequirement(tokens: TokenReader): LabelRequirement {
  const negated = tokens.peek().kind === '!'
  if (negated) tokens.take()
  const word = tokens.take()
  if (word.kind !== 'identifier') {
    throw refuseRequirement(`found '${word.text}', expected: identifier`)
  }
  const key = word.text
  const problems = isComparisonLabel(key) ? [] : labelKeyProblems(key)
  if (problems.length > 0) throw refuseRequirement(invalid('<nil>', key, problems.join('; ')))
  if (negated) return { key, operator: 'DoesNotExist' }
  const next = tokens.peek().kind
  if (next === 'end' || next === ',') return { key, operator: 'Exists' }
  return parseComparison(tokens, key)
}

function parseComparison(tokens: TokenReader, key: string): LabelRequirement {
  const { kind, text } = tokens.takeOperator()
  switch (kind) {
    case 'in':
    case 'notin':
      return withValues(key, kind === 'in' ? 'In' : 'NotIn', parseList(tokens))
    case '=':
    case '==':
      return withValues(key, 'In', [parseExactValue(tokens)])
    case '!=':
      return withValues(key, 'NotIn', [parseExactValue(tokens)])
    case '>':
    case '<':
      return withNumber(key, kind === '>' ? 'Gt' : 'Lt', parseExactValue(tokens))
    default:
      throw refuseRequirement(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`)
  }
}

function parseExactValue(tokens: TokenReader): string {
  const { kind } = tokens.peek()
  if (kind === 'end' || kind === ',') return ''
  const token = tokens.take()
  if (token.kind === 'identifier') return token.text
  throw refuseRequirement(`found '${token.text}', expected: identifier`)
}

/** `(a,b)`. A comma with nothing before or after it stands for the empty value. */
function parseList(tokens: TokenReader): readonly string[] {
  const open = tokens.take()
  if (open.kind !== '(') throw refuseRequirement(`found '${open.text}' expected: '('`)
  const first = tokens.peek()
  if (first.kind === ')') {
    tokens.take()
    return []
  }
  if (first.kind !== 'identifier' && first.kind !== ',') {
    throw refuseRequirement(`found '${first.text}', expected: ',', ')' or identifier`)
  }
  const values = new Set<string>()
  for (;;) {
    values.add(tokens.peek().kind === 'identifier' ? tokens.take().text : '')
    const next = tokens.take()
    if (next.kind === ')') return [...values]
    if (next.kind !== ',') {
      throw refuseRequirement(`found '${next.text}', expected: ',' or ')'`)
    }
    const after = tokens.peek()
    if (after.kind !== 'identifier' && after.kind !== ',' && after.kind !== ')') {
      throw refuseRequirement(`found '${after.text}', expected: ',', or identifier`)
    }
  }
}

function withValues(
  key: string,
  operator: 'In' | 'NotIn',
  values: readonly string[],
): LabelRequirement {
  if (values.length === 0) {
    const rule = "for 'in', 'notin' operators, values set can't be empty"
    throw refuseRequirement(`values: Invalid value: []string{}: ${rule}`)
  }
  const problems = valueProblems(key, values)
  if (problems.length > 0) throw refuseRequirement(aggregate(problems))
  return { key, operator, values }
}

const INT64_LEAST = -(2n ** 63n)
const INT64_MOST = 2n ** 63n - 1n

function withNumber(key: string, operator: 'Gt' | 'Lt', text: string): LabelRequirement {
  const value = parseInt64(text)
  const rule = "for 'Gt', 'Lt' operators, the value must be an integer"
  const problems = [
    ...(value === undefined ? [invalid('values[0]', text, rule)] : []),
    ...valueProblems(key, [text]),
  ]
  if (value === undefined || problems.length > 0) throw refuseRequirement(aggregate(problems))
  return { key, operator, value }
}

/** What Go's strconv.ParseInt takes in base 10; undefined for the rest. */
export function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return value >= INT64_LEAST && value <= INT64_MOST ? value : undefined
}

/**
 * Upstream validates a sorted set, so that is the order of its indexes.
 *
 * What a search label looks for is no label value: names have up to 253 bytes, and a part of one
 * may begin with a dash.
 */
function valueProblems(key: string, values: readonly string[]): readonly string[] {
  if (isSearchLabel(key)) return []
  return values.toSorted().flatMap((value, index) => {
    const problems = labelValueProblems(value)
    return problems.length > 0
      ? [invalid(`values[${index}][${key}]`, value, problems.join('; '))]
      : []
  })
}

function invalid(field: string, value: string, problem: string): string {
  return `${field}: Invalid value: ${JSON.stringify(value)}: ${problem}`
}

/** How Go prints several errors as one. */
function aggregate(problems: readonly string[]): string {
  return problems.length === 1 ? problems[0]! : `[${[...new Set(problems)].join(', ')}]`
}
