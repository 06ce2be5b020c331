/**
 * The query of a get or list: `limit`, `continue`, `resourceVersion` …, checked as a real API
 * server checks it.
 *
 * The selectors are left as text: label-selector.ts, field-selector.ts and search.ts read them.
 *
 * @see apimachinery/pkg/apis/meta/internalversion/validation/validation.go
 */
import { parseInt64 } from './label-selector.ts'
import { type StatusCause, StatusError } from './status-error.ts'

export interface ListOptions {
  readonly labelSelector: string
  readonly fieldSelector: string
  /** Left out: all of them. As recorded, 0 and negative numbers are no limit. */
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: bigint
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  readonly timeoutSeconds?: number
  readonly watch: boolean
}

/** Longer selectors are refused: parsing and planning them costs more than any real one is worth. */
export const SELECTOR_MOST_BYTES = 100 * 1024

/** More than anyone has; one more than it, or an offset on top, is still a whole number. */
const LIMIT_MOST = 1e15

/** @throws 400 or 422 in the words of a real API server. */
export function parseListOptions(query: URLSearchParams): ListOptions {
  const limit = integer(query, 'limit')
  const timeoutSeconds = integer(query, 'timeoutSeconds')
  validate(query)
  const resourceVersion = parseResourceVersion(query.get('resourceVersion') ?? '')
  const match = query.get('resourceVersionMatch')
  const token = query.get('continue')
  if (token && resourceVersion) {
    const message = 'specifying resource version is not allowed when using continue'
    throw new StatusError('BadRequest', message)
  }
  return {
    labelSelector: selector(query, 'labelSelector'),
    fieldSelector: selector(query, 'fieldSelector'),
    watch: boolean(query, 'watch'),
    ...(limit !== undefined && limit > 0 && { limit: Math.min(limit, LIMIT_MOST) }),
    ...(timeoutSeconds !== undefined && timeoutSeconds > 0 && { timeoutSeconds }),
    ...(token && { continue: token }),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(match && { resourceVersionMatch: match as 'Exact' | 'NotOlderThan' }),
  }
}

/** As upstream: given without a value it is true; only `false` and `0` are not. */
export function boolean(query: URLSearchParams, key: string): boolean {
  const text = query.get(key)
  return text !== null && text.toLowerCase() !== 'false' && text !== '0'
}

function integer(query: URLSearchParams, key: string): number | undefined {
  const text = query.get(key)
  if (text === null || text === '') return undefined
  const value = parseInt64(text)
  if (value !== undefined) return Number(value)
  const problem = /^[+-]?\d+$/.test(text) ? 'value out of range' : 'invalid syntax'
  throw new StatusError(
    'BadRequest',
    `strconv.ParseInt: parsing ${JSON.stringify(text)}: ${problem}`,
  )
}

function selector(query: URLSearchParams, key: string): string {
  const text = query.get(key) ?? ''
  const bytes = Buffer.byteLength(text)
  if (bytes <= SELECTOR_MOST_BYTES) return text
  const message = `${key} has ${bytes} bytes: must be no more than ${SELECTOR_MOST_BYTES} bytes`
  throw new StatusError('BadRequest', message)
}

/** @returns undefined when it is left out. @throws 400 */
export function parseResourceVersion(text: string): bigint | undefined {
  if (text === '') return undefined
  if (/^\d{1,20}$/.test(text) && BigInt(text) < 2n ** 64n) return BigInt(text)
  const problem = `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`
  const message = `resourceVersion: Invalid value: ${JSON.stringify(text)}: ${problem}`
  throw new StatusError('BadRequest', message)
}

type Problem = Required<StatusCause>

const MATCH = 'resourceVersionMatch'

function validate(query: URLSearchParams): void {
  const problems = boolean(query, 'watch') ? watchProblems(query) : listProblems(query)
  if (problems.length === 0) return
  const sentences = problems.map(({ field, message }) => `${field}: ${message}`)
  const all = sentences.length === 1 ? sentences[0] : `[${sentences.join(', ')}]`
  throw new StatusError('Invalid', `ListOptions.meta.k8s.io "" is invalid: ${all}`, {
    details: { group: 'meta.k8s.io', kind: 'ListOptions', causes: problems },
  })
}

function listProblems(query: URLSearchParams): readonly Problem[] {
  const initial = query.has('sendInitialEvents')
    ? [forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list')]
    : []
  return [...matchProblems(query), ...initial]
}

function matchProblems(query: URLSearchParams): readonly Problem[] {
  const match = query.get(MATCH) ?? ''
  if (match === '') return []
  const version = query.get('resourceVersion') ?? ''
  const problems: Problem[] = []
  if (version === '') {
    problems.push(forbidden(MATCH, `${MATCH} is forbidden unless resourceVersion is provided`))
  }
  if (query.get('continue')) {
    problems.push(forbidden(MATCH, `${MATCH} is forbidden when continue is provided`))
  }
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    problems.push(notSupported(match, ['Exact', 'NotOlderThan', '']))
  }
  if (match === 'Exact' && version === '0') {
    problems.push(forbidden(MATCH, `${MATCH} "exact" is forbidden for resourceVersion "0"`))
  }
  return problems
}

/** A watch that starts with a list says so by both options; without resourceVersion, too. */
function watchProblems(query: URLSearchParams): readonly Problem[] {
  const match = query.get(MATCH) ?? ''
  if (!query.has('sendInitialEvents')) {
    const why = `${MATCH} is forbidden for watch unless sendInitialEvents is provided`
    return match === '' ? [] : [forbidden(MATCH, why)]
  }
  if (match === '') {
    return [forbidden(MATCH, `sendInitialEvents requires setting ${MATCH} to NotOlderThan`)]
  }
  return match === 'NotOlderThan' ? [] : [notSupported(match, ['NotOlderThan'])]
}

function notSupported(value: string, supported: readonly string[]): Problem {
  const values = supported.map((one) => JSON.stringify(one)).join(', ')
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${values}`
  return { reason: 'FieldValueNotSupported', message, field: MATCH }
}

function forbidden(field: string, why: string): Problem {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field }
}
