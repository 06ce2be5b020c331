/**
 * What a list or get is asked to find: search labels and URL queries → conditions.
 *
 * Each condition can be given as a search label (kubectl can send nothing else) and mostly as a
 * URL query; the URL wins when both are given. Names and aliases are in search-terms.ts.
 */
import {
  type FieldPath,
  type FieldRequirement,
  formatFieldPath,
  parseFieldPath,
  parseFieldSelector,
} from './field-selector.ts'
import { type LabelRequirement, parseLabelSelector } from './label-selector.ts'
import { boolean } from './list-options.ts'
import { didYouMean } from './nearest.ts'
import { quoted } from './quoted.ts'
import { parseOwner, type WantedOwner } from './search-owner.ts'
import {
  refuseNotIn,
  type SearchTerm,
  type SearchTermName,
  searchQueryTerms,
  splitSearchLabels,
} from './search-terms.ts'
import { parseSearchTime, SEARCH_TIME_FORMATS } from './search-time.ts'
import { LONGEST_WORD, wordsOf } from './search-words.ts'
import { badRequest } from './status-error.ts'

/** All must hold. On objects as they are asked for; the store's `ObjectCondition` knows the owners. */
export type SearchCondition =
  | {
      readonly on: 'namespace' | 'name'
      readonly operator: 'In' | 'NotIn'
      readonly values: readonly string[]
    }
  /** The name contains every one of the texts, literally and with case. */
  | { readonly on: 'fuzzy-name'; readonly contains: readonly string[] }
  /** Each of the words stands somewhere in the object: search-words.ts. */
  | { readonly on: 'text'; readonly words: readonly string[] }
  /** Created in `[since, before)`. */
  | { readonly on: 'created'; readonly since?: Date; readonly before?: Date }
  | { readonly on: 'owner'; readonly owner: WantedOwner }
  | { readonly on: 'label'; readonly requirement: LabelRequirement }
  | { readonly on: 'field'; readonly requirement: FieldRequirement }

/** Which clusters are asked; all must hold. */
export type ClusterCondition =
  | {
      readonly on: 'name'
      readonly operator: 'In' | 'NotIn'
      readonly values: readonly string[]
    }
  | { readonly on: 'label'; readonly requirement: LabelRequirement }

export const ORDER_FIELDS = [
  'cluster',
  'namespace',
  'name',
  'created_at',
  'resource_version',
] as const

export interface SearchOrder {
  readonly by: (typeof ORDER_FIELDS)[number] | FieldPath
  readonly descending: boolean
}

export interface Search {
  readonly clusters: readonly ClusterCondition[]
  readonly conditions: readonly SearchCondition[]
  /** In the order typed; empty: the usual one. */
  readonly order: readonly SearchOrder[]
  /** By label: caps the whole answer, whatever page size the client asks for. */
  readonly limit?: number
  /** By label. */
  readonly offset?: number
  /** Undefined: not said. */
  readonly withContinue?: boolean
  readonly withRemainingCount: boolean
  readonly onlyMetadata: boolean
  /** Leave out objects of another version than the one asked for. */
  readonly strictVersion: boolean
}

/**
 * Planning a query takes time by the square of the conditions in it: a thousand take seconds.
 * Values of one condition cost next to nothing.
 */
const CONDITIONS_MOST = 200

/** @throws 400 `BadRequest` naming the key that is unknown, malformed or not supported. */
export function parseSearch(query: URLSearchParams): Search {
  const labels = splitSearchLabels(parseLabelSelector(query.get('labelSelector') ?? ''))
  const terms = new Terms(labels.terms, searchQueryTerms(query))
  const clusterSelector = query.get('clusterSelector')
  const clusterLabels = clusterSelector ? parseLabelSelector(clusterSelector) : labels.clusterLabels
  const conditions = [
    ...keyConditions(terms),
    ...createdCondition(terms),
    ...ownerCondition(terms),
    ...labels.objectLabels.map((requirement) => ({ on: 'label' as const, requirement })),
    ...[...labels.comparisons, ...parseFieldSelector(query.get('fieldSelector') ?? '')].map(
      (requirement) => ({ on: 'field' as const, requirement }),
    ),
  ]
  refuseTooMany(conditions)
  return {
    clusters: [
      ...terms.all('clusters').map((term) => ({ on: 'name' as const, ...membership(term) })),
      ...clusterLabels.map((requirement) => ({ on: 'label' as const, requirement })),
    ],
    conditions,
    order: parseOrders(terms.one('orderby')?.values ?? []),
    ...optional('limit', wholeNumber(terms.one('limit'))),
    ...optional('offset', wholeNumber(terms.one('offset'))),
    ...optional('withContinue', trueOrFalse(terms.one('with-continue'))),
    withRemainingCount: trueOrFalse(terms.one('with-remaining-count')) ?? false,
    onlyMetadata: boolean(query, 'onlyMetadata'),
    strictVersion: boolean(query, 'strictVersion'),
  }
}

function refuseTooMany(conditions: readonly SearchCondition[]): void {
  const count = conditions.map(sizeOf).reduce((sum, each) => sum + each, 0)
  if (count <= CONDITIONS_MOST) return
  throw badRequest(`${count} conditions are asked for: must be no more than ${CONDITIONS_MOST}`)
}

function sizeOf(condition: SearchCondition): number {
  if (condition.on === 'fuzzy-name') return condition.contains.length
  return condition.on === 'text' ? condition.words.length : 1
}

/** The conditions as given, by name. */
class Terms {
  readonly #labels: readonly SearchTerm[]
  readonly #queries: readonly SearchTerm[]

  constructor(labels: readonly SearchTerm[], queries: readonly SearchTerm[]) {
    for (const term of labels) refuseNotIn(term)
    this.#labels = labels
    this.#queries = queries
  }

  /** What was given in the URL, else all labels of that name. */
  all(name: SearchTermName): readonly SearchTerm[] {
    const byUrl = this.#queries.filter((term) => term.name === name)
    return byUrl.length > 0 ? byUrl : this.#labels.filter((term) => term.name === name)
  }

  /** Of a condition that cannot hold twice. */
  one(name: SearchTermName): SearchTerm | undefined {
    const [term, second] = this.all(name)
    if (second) throw badRequest(`${quoted(second.key)} is given more than once`)
    return term
  }

  /** Of a condition that takes one value. */
  value(name: SearchTermName): { readonly key: string; readonly text: string } | undefined {
    const term = this.one(name)
    return term && { key: term.key, text: singleValue(term) }
  }
}

function membership({ operator, values }: SearchTerm) {
  return { operator, values }
}

function keyConditions(terms: Terms): readonly SearchCondition[] {
  return [
    ...terms.all('namespaces').map((term) => ({ on: 'namespace' as const, ...membership(term) })),
    ...terms.all('names').map((term) => ({ on: 'name' as const, ...membership(term) })),
    ...terms.all('fuzzy-name').map(({ values }) => ({
      on: 'fuzzy-name' as const,
      contains: values.filter((text) => text !== ''),
    })),
    ...terms.all('text').map(textCondition),
  ]
}

function textCondition({ key, values }: SearchTerm): SearchCondition {
  const words = [...new Set(values.flatMap(wordsOf))]
  const rule = `must have a word of letters and digits, and none of more than ${LONGEST_WORD}`
  if (words.length > 0 && words.every((word) => word.length <= LONGEST_WORD)) {
    return { on: 'text', words }
  }
  throw badRequest(`${quoted(key)}: Invalid value: ${quoted(values.join(','))}: ${rule}`)
}

function createdCondition(terms: Terms): readonly SearchCondition[] {
  const since = time(terms.value('since'))
  const before = time(terms.value('before'))
  if (!since && !before) return []
  if (since && before && since > before) {
    const times = `${since.toISOString()} is after ${before.toISOString()}`
    throw badRequest(`"since" must not be after "before": ${times}`)
  }
  return [{ on: 'created', ...optional('since', since), ...optional('before', before) }]
}

function ownerCondition(terms: Terms): readonly SearchCondition[] {
  const owner = parseOwner({
    uid: terms.value('owner-uid'),
    name: terms.value('owner-name'),
    groupResource: terms.value('owner-gr'),
    seniority: terms.value('owner-seniority'),
  })
  return owner ? [{ on: 'owner', owner }] : []
}

function time(given: { readonly key: string; readonly text: string } | undefined) {
  if (!given) return undefined
  const parsed = parseSearchTime(given.text)
  if (parsed) return parsed
  throw badRequest(
    `${quoted(given.key)}: Invalid value: ${quoted(given.text)}: must be ${SEARCH_TIME_FORMATS}`,
  )
}

/** By a field that came before, the rows are in order already. */
function parseOrders(texts: readonly string[]): readonly SearchOrder[] {
  const orders = new Map<string, SearchOrder>()
  for (const order of texts.map(parseOrder)) {
    const key = typeof order.by === 'string' ? order.by : `.${formatFieldPath(order.by)}`
    if (!orders.has(key)) orders.set(key, order)
  }
  return [...orders.values()]
}

/** `namespace`, `namespace_desc`, `namespace desc`; a path has a dot or bracket: `spec.replicas`. */
function parseOrder(text: string): SearchOrder {
  const match = /^(.*?)(?:[_ ]+(asc|desc))?$/i.exec(text.trim())
  const field = match?.[1] ?? ''
  const by = ORDER_FIELDS.find((known) => known === field)
  const descending = match?.[2]?.toLowerCase() === 'desc'
  if (by) return { by, descending }
  if (/[.[]/.test(field)) return { by: parseFieldPath(field), descending }
  const allowed = `${ORDER_FIELDS.join(', ')}, or the path of a field`
  const hint = didYouMean(field, ORDER_FIELDS)
  throw badRequest(
    `"orderby": Unsupported value: ${quoted(field)}: supported values: ${allowed}${hint}`,
  )
}

function wholeNumber(term: SearchTerm | undefined): number | undefined {
  if (!term) return undefined
  const text = singleValue(term)
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw badRequest(`${quoted(term.key)}: Invalid value: ${quoted(text)}: must be a whole number`)
}

function trueOrFalse(term: SearchTerm | undefined): boolean | undefined {
  if (!term) return undefined
  const text = singleValue(term).toLowerCase()
  if (text === 'true' || text === '1') return true
  if (text === 'false' || text === '0') return false
  throw badRequest(`${quoted(term.key)}: Invalid value: ${quoted(text)}: must be true or false`)
}

function singleValue({ key, values }: SearchTerm): string {
  if (values.length === 1) return values[0]!
  throw badRequest(`${quoted(key)} takes exactly one value`)
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V })
}
