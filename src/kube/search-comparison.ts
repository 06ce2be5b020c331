/**
 * Comparisons of fields as search labels: `search.clusterpedia.io/field-gte.spec.replicas=3`.
 *
 * The path is part of the key, so that a value can be anything a label can hold. A path with lists
 * or quotes is no label key by Kubernetes' rules; kubectl sends it all the same, and here it is read.
 */
import { COMPARABLE_FORMATS, parseComparable } from './comparable.ts'
import { type ComparisonOperator, type FieldComparison, parseFieldPath } from './field-selector.ts'
import type { LabelRequirement } from './label-selector.ts'
import { quoted } from './quoted.ts'
import { badRequest } from './status-error.ts'

const OPERATORS: Readonly<Record<string, ComparisonOperator>> = {
  'field-gt': 'Gt',
  'field-gte': 'Gte',
  'field-lt': 'Lt',
  'field-lte': 'Lte',
}
const LABEL = /^search\.clusterpedia\.io\/(field-(?:gte?|lte?))(?:\.(.*))?$/s

/** Whether the key is one of these; what follows the first dot of the name is a path. */
export function isComparisonLabel(key: string): boolean {
  return LABEL.test(key)
}

/** @throws 400 `BadRequest` naming the label, when it is no comparison that can be made. */
export function parseComparisonLabel(requirement: LabelRequirement): FieldComparison {
  const { key, operator } = requirement
  const [, name = '', path = ''] = LABEL.exec(key) ?? []
  if (path === '') {
    throw badRequest(`${quoted(key)} needs the path of a field: ${quoted(`${key}.spec.replicas`)}`)
  }
  const [value, ...others] = operator === 'In' ? requirement.values : []
  if (value === undefined || others.length > 0) {
    throw badRequest(`the search label ${quoted(key)} takes only = and ==, and one value`)
  }
  if (!parseComparable(value)) {
    throw badRequest(
      `${quoted(key)}: Invalid value: ${quoted(value)}: must be ${COMPARABLE_FORMATS}`,
    )
  }
  return { path: parseFieldPath(path), operator: OPERATORS[name]!, value }
}
