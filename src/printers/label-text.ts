/** Labels and label selectors as kubectl prints them: `app=web,tier in (a,b)`, or `<none>`. */
import { compareBytes } from '../kube/byte-order.ts'
import { fields, items, NONE, text, texts } from './read-field.ts'

/** `a=1,b=2`, sorted by key: apimachinery's labels.FormatLabels. */
export function labelsText(labels: unknown): string {
  const pairs: string[] = []
  for (const [key, value] of Object.entries(fields(labels))) {
    if (typeof value === 'string') pairs.push(`${key}=${value}`)
  }
  if (pairs.length === 0) return NONE
  return pairs.length === 1 ? pairs[0]! : pairs.sort(compareBytes).join(',')
}

/**
 * A LabelSelector: requirements sorted by key, their values sorted; a value given twice stays so.
 *
 * @param words - What stands for a selector that selects nothing or everything, and for one that
 *   cannot be; both differ for deployments.
 * @see apimachinery meta/v1 FormatLabelSelector.
 */
export function selectorText(
  selector: unknown,
  words: { readonly none: string; readonly invalid: string } = { none: NONE, invalid: '<error>' },
): string {
  const { matchLabels, matchExpressions } = fields(selector)
  const requirements: Array<readonly [key: string, text: string]> = []
  for (const [key, value] of Object.entries(fields(matchLabels))) {
    requirements.push([key, `${key}=${text(value)}`])
  }
  for (const expression of items(matchExpressions)) {
    const requirement = requirementText(fields(expression))
    if (requirement === undefined) return words.invalid
    requirements.push([text(fields(expression).key), requirement])
  }
  if (requirements.length === 0) return words.none
  if (requirements.length === 1) return requirements[0]![1]
  requirements.sort(([a], [b]) => compareBytes(a, b))
  return requirements.map(([, requirement]) => requirement).join(',')
}

function requirementText(expression: Readonly<Record<string, unknown>>): string | undefined {
  const key = text(expression.key)
  const values = texts(expression.values).sort(compareBytes)
  switch (expression.operator) {
    case 'In':
      return values.length > 0 ? `${key} in (${values.join(',')})` : undefined
    case 'NotIn':
      return values.length > 0 ? `${key} notin (${values.join(',')})` : undefined
    case 'Exists':
      return values.length === 0 ? key : undefined
    case 'DoesNotExist':
      return values.length === 0 ? `!${key}` : undefined
    default:
      return undefined
  }
}
