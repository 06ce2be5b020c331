/**
 * Fields that no object seems to have: a misspelt path would otherwise look like an answer.
 *
 * Only as much is said as is known: that none of so many objects that were looked at has it. A path
 * is a name, and names can be wrong; of values, labels and names of objects nothing is said.
 */
import {
  type FieldPath,
  type FieldRequirement,
  formatFieldPath,
} from '../../kube/field-selector.ts'
import type { Search } from '../../kube/search.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { TypeScope } from '../../store/type-scope.ts'
import type { ObjectView } from '../objects.ts'

export interface FieldHintParts {
  readonly objects: Pick<ObjectView, 'absentFields'>
  readonly scopes: readonly TypeScope[]
  /** `pods`, as sentences call what is looked at. */
  readonly what: string
}

/** Further ones would say nothing new to whoever misspelt five. */
const PATHS_MOST = 5
const PATH_MOST_CHARACTERS = 120

/** Of conditions that an object meets which lacks the field, and of orders: whatever was found. */
export function idleFieldHints(
  parts: FieldHintParts,
  { conditions, order }: Pick<Search, 'conditions' | 'order'>,
): Promise<readonly string[]> {
  const ordered = order.flatMap(({ by }) => (typeof by === 'string' ? [] : [by]))
  return hintsOf(parts, [...requirementsOf(conditions, true), ...ordered])
}

/** Of conditions that need the field: when nothing was found. */
export function neededFieldHints(
  parts: FieldHintParts,
  { conditions }: Pick<Search, 'conditions'>,
): Promise<readonly string[]> {
  return hintsOf(parts, requirementsOf(conditions, false))
}

function requirementsOf(
  conditions: Search['conditions'],
  metWithout: boolean,
): readonly FieldPath[] {
  return conditions.flatMap((condition) =>
    condition.on === 'field' && isMetWithout(condition.requirement) === metWithout
      ? [condition.requirement.path]
      : [],
  )
}

/** The empty value stands for a missing field (kube/field-selector.ts). */
function isMetWithout(requirement: FieldRequirement): boolean {
  switch (requirement.operator) {
    case 'In':
      return requirement.values.includes('')
    case 'NotIn':
      return !requirement.values.includes('')
    default:
      return requirement.operator === 'DoesNotExist'
  }
}

/** Sentences. */
async function hintsOf(
  { objects, scopes, what }: FieldHintParts,
  paths: readonly FieldPath[],
): Promise<readonly string[]> {
  const distinct = new Map(paths.map((path) => [formatFieldPath(path), path]))
  if (distinct.size === 0) return []
  const some = [...distinct.values()].slice(0, PATHS_MOST)
  try {
    const { looked, absent } = await objects.absentFields({ scopes, paths: some })
    return absent.map((path) => {
      const text = formatFieldPath(path).slice(0, PATH_MOST_CHARACTERS)
      return `no field ${text} was found in ${looked} ${what} that were looked at`
    })
  } catch (error) {
    // The answer itself is good without a hint.
    if (error instanceof StatusError) return []
    throw error
  }
}
