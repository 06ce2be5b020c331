/** A LabelSelector object against labels. One that cannot be understood selects nothing. */
import { type Fields, fields, isRecord, text, texts } from '../../printers/read-field.ts'
import { recordsIn } from '../read-object.ts'

export function selectsLabels(selector: unknown, labels: Fields): boolean {
  if (!isRecord(selector)) return false
  const { matchLabels = null, matchExpressions = null } = selector
  if (matchLabels !== null && !isRecord(matchLabels)) return false
  if (matchExpressions !== null && !isListOfRecords(matchExpressions)) return false
  return (
    Object.entries(fields(matchLabels)).every(([key, value]) => labels[key] === value) &&
    recordsIn(matchExpressions).every((expression) => meets(expression, labels))
  )
}

function isListOfRecords(value: unknown): boolean {
  return Array.isArray(value) && value.every(isRecord)
}

function meets(expression: Fields, labels: Fields): boolean {
  const key = text(expression.key)
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  const values = texts(expression.values)
  switch (expression.operator) {
    case 'In':
      return typeof value === 'string' && values.includes(value)
    case 'NotIn':
      return values.length > 0 && !(typeof value === 'string' && values.includes(value))
    case 'Exists':
      return value !== undefined && values.length === 0
    case 'DoesNotExist':
      return value === undefined && values.length === 0
    default:
      return false
  }
}
