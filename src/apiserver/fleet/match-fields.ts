/** Field selectors over an object in memory; over stored ones they are SQL (store/field-filter.ts). */
import { compareComparables, parseComparable } from '../../kube/comparable.ts'
import type {
  FieldComparison,
  FieldPath,
  FieldRequirement,
  PathStep,
} from '../../kube/field-selector.ts'
import type { Json, JsonObject } from '../../kube/kube-object.ts'
import { unreachable } from '../../kube/unreachable.ts'

export function matchesFields(
  requirements: readonly FieldRequirement[],
  object: JsonObject,
): boolean {
  return requirements.every((requirement) => matches(requirement, object))
}

function matches(requirement: FieldRequirement, object: JsonObject): boolean {
  const found = valuesAt(object, requirement.path)
  switch (requirement.operator) {
    case 'Exists':
      return found.length > 0
    case 'DoesNotExist':
      return found.length === 0
    case 'In':
      return isAmong(found, requirement.values)
    case 'NotIn':
      return !isAmong(found, requirement.values)
    case 'Gt':
    case 'Gte':
    case 'Lt':
    case 'Lte':
      return found.some((value) => compares(textOf(value), requirement))
    default:
      return unreachable(requirement)
  }
}

/** The empty value stands for a missing field, too. */
function isAmong(found: readonly Json[], values: readonly string[]): boolean {
  if (found.length === 0) return values.includes('')
  return found.some((value) => values.includes(textOf(value)))
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const HOLDS: Readonly<Record<FieldComparison['operator'], (difference: number) => boolean>> = {
  Gt: (difference) => difference > 0,
  Gte: (difference) => difference >= 0,
  Lt: (difference) => difference < 0,
  Lte: (difference) => difference <= 0,
}

function compares(text: string, { operator, value }: FieldComparison): boolean {
  const found = parseComparable(text)
  const difference = found && compareComparables(found, parseComparable(value)!)
  return difference !== undefined && HOLDS[operator](difference)
}

function valuesAt(object: JsonObject, path: FieldPath): readonly Json[] {
  return path.reduce<readonly Json[]>(
    (found, step) => found.flatMap((value) => stepInto(value, step)),
    [object],
  )
}

function stepInto(value: Json, step: PathStep): readonly Json[] {
  if (Array.isArray(value)) {
    if ('every' in step) return value
    return 'index' in step ? value.slice(step.index, step.index + 1) : []
  }
  if (typeof value !== 'object' || value === null || !('key' in step)) return []
  const fields = value as JsonObject
  const field = Object.hasOwn(fields, step.key) ? fields[step.key] : undefined
  return field === undefined ? [] : [field]
}
