/**
 * The names of all search conditions: as search labels, and as URL queries.
 *
 * What is not in these tables is refused by name, never ignored: nothing may widen a result.
 * What the conditions mean is in search.ts.
 */
import type { FieldComparison } from './field-selector.ts'
import { isSearchLabel, type LabelRequirement } from './label-selector.ts'
import { didYouMean } from './nearest.ts'
import { quoted } from './quoted.ts'
import { isComparisonLabel, parseComparisonLabel } from './search-comparison.ts'
import { badRequest, type StatusError } from './status-error.ts'

export type SearchTermName =
  | 'clusters'
  | 'namespaces'
  | 'names'
  | 'fuzzy-name'
  | 'text'
  | 'since'
  | 'before'
  | 'owner-uid'
  | 'owner-name'
  | 'owner-gr'
  | 'owner-seniority'
  | 'orderby'
  | 'limit'
  | 'offset'
  | 'with-continue'
  | 'with-remaining-count'

/** One condition as someone gave it. */
export interface SearchTerm {
  readonly name: SearchTermName
  /** As typed, for refusals: `search.clusterpedia.io/names`, or `names` of the URL. */
  readonly key: string
  readonly operator: 'In' | 'NotIn'
  /** In the order typed. */
  readonly values: readonly string[]
}

const SEARCH = 'search.clusterpedia.io/'
const INTERNAL = 'internalstorage.clusterpedia.io/'
const CLUSTER_LABEL = `${SEARCH}cluster-label.`

const LABELS: Readonly<Record<string, SearchTermName>> = {
  [`${SEARCH}clusters`]: 'clusters',
  [`${SEARCH}namespaces`]: 'namespaces',
  [`${SEARCH}names`]: 'names',
  [`${SEARCH}fuzzy-name`]: 'fuzzy-name',
  [`${INTERNAL}fuzzy-name`]: 'fuzzy-name',
  [`${SEARCH}text`]: 'text',
  [`${SEARCH}since`]: 'since',
  [`${SEARCH}before`]: 'before',
  [`${SEARCH}owner-uid`]: 'owner-uid',
  [`${INTERNAL}owner-uid`]: 'owner-uid',
  [`${SEARCH}owner-name`]: 'owner-name',
  [`${INTERNAL}owner-name`]: 'owner-name',
  [`${SEARCH}owner-gr`]: 'owner-gr',
  [`${INTERNAL}owner-gr`]: 'owner-gr',
  [`${SEARCH}owner-seniority`]: 'owner-seniority',
  [`${INTERNAL}owner-seniority`]: 'owner-seniority',
  [`${SEARCH}orderby`]: 'orderby',
  [`${SEARCH}limit`]: 'limit',
  [`${SEARCH}size`]: 'limit',
  [`${SEARCH}offset`]: 'offset',
  [`${SEARCH}with-continue`]: 'with-continue',
  [`${SEARCH}with-remaining-count`]: 'with-remaining-count',
}

/** `limit` and `continue` are options of every list: list-options.ts. */
const QUERIES: Readonly<Record<string, SearchTermName>> = {
  clusters: 'clusters',
  namespaces: 'namespaces',
  names: 'names',
  fuzzyName: 'fuzzy-name',
  text: 'text',
  since: 'since',
  before: 'before',
  ownerUID: 'owner-uid',
  ownerName: 'owner-name',
  ownerGR: 'owner-gr',
  ownerSeniority: 'owner-seniority',
  orderby: 'orderby',
  withContinue: 'with-continue',
  withRemainingCount: 'with-remaining-count',
}

/** Only collection resources take them. */
const COLLECTION_QUERIES: readonly string[] = ['groups', 'resources']

/** Everything else that a reader may put in the query of a get or list. */
const OTHER_QUERIES: readonly string[] = [
  'labelSelector',
  'fieldSelector',
  'watch',
  'allowWatchBookmarks',
  'resourceVersion',
  'resourceVersionMatch',
  'timeoutSeconds',
  'limit',
  'continue',
  'sendInitialEvents',
  'includeObject',
  'pretty',
  'timeout',
  'export',
  'exact',
  'clusterSelector',
  'onlyMetadata',
  'strictVersion',
]

export interface SplitLabels {
  readonly terms: readonly SearchTerm[]
  /** Requirements on the labels of PediaClusters, under their own keys. */
  readonly clusterLabels: readonly LabelRequirement[]
  /** Requirements on the labels of objects. */
  readonly objectLabels: readonly LabelRequirement[]
  readonly comparisons: readonly FieldComparison[]
}

/** @throws 400 `BadRequest` for a `clusterpedia.io` key that is not known. */
export function splitSearchLabels(requirements: readonly LabelRequirement[]): SplitLabels {
  const terms: SearchTerm[] = []
  const clusterLabels: LabelRequirement[] = []
  const objectLabels: LabelRequirement[] = []
  const comparisons: FieldComparison[] = []
  for (const requirement of requirements) {
    const { key } = requirement
    if (!isSearchLabel(key)) objectLabels.push(requirement)
    else if (isComparisonLabel(key)) comparisons.push(parseComparisonLabel(requirement))
    else if (key.startsWith(CLUSTER_LABEL) && key !== CLUSTER_LABEL) {
      clusterLabels.push({ ...requirement, key: key.slice(CLUSTER_LABEL.length) })
    } else terms.push(labelTerm(requirement))
  }
  return { terms, clusterLabels, objectLabels, comparisons }
}

function labelTerm(requirement: LabelRequirement): SearchTerm {
  const { key, operator } = requirement
  const name = Object.hasOwn(LABELS, key) ? LABELS[key]! : undefined
  if (name === undefined) throw unknownLabel(key)
  if (operator === 'In' || operator === 'NotIn') {
    return { name, key, operator, values: requirement.values }
  }
  const takes = takesNotIn(name) ? '=, ==, in, != and notin' : '=, == and in'
  throw badRequest(`the search label ${quoted(key)} takes only ${takes}`)
}

function takesNotIn(name: SearchTermName): boolean {
  return name === 'clusters' || name === 'namespaces' || name === 'names'
}

/** @throws 400 `BadRequest` when the term was given with `!=` or `notin` and does not take it. */
export function refuseNotIn({ name, key, operator }: SearchTerm): void {
  if (operator === 'In' || takesNotIn(name)) return
  throw badRequest(`the search label ${quoted(key)} takes only =, == and in`)
}

function unknownLabel(key: string): StatusError {
  const known = Object.keys(LABELS)
  return badRequest(`unknown search label ${quoted(key)}${didYouMean(key, known)}`)
}

/** @throws 400 `BadRequest` for a query that is not known here. */
export function searchQueryTerms(query: URLSearchParams): readonly SearchTerm[] {
  const terms: SearchTerm[] = []
  for (const key of new Set(query.keys())) {
    const name = Object.hasOwn(QUERIES, key) ? QUERIES[key]! : undefined
    if (name === undefined) {
      refuseUnknownQuery(key)
      continue
    }
    const values = query.getAll(key).flatMap((text) => splitList(text))
    if (values.length > 0) terms.push({ name, key, operator: 'In', values })
  }
  return terms
}

/** Given but empty is not given, as with every other query option of a real API server. */
function splitList(text: string): readonly string[] {
  return text === '' ? [] : text.split(',').map((value) => value.trim())
}

function refuseUnknownQuery(key: string): void {
  if (OTHER_QUERIES.includes(key)) return
  if (COLLECTION_QUERIES.includes(key)) {
    throw badRequest(`the query ${quoted(key)} is for collection resources only`)
  }
  const known = [...Object.keys(QUERIES), ...OTHER_QUERIES]
  throw badRequest(`unknown query ${quoted(key)}${didYouMean(key, known)}`)
}
