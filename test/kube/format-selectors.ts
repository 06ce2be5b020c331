/** Selectors written from what they mean, for tests of how they are read. */
import { type FieldRequirement, formatFieldPath } from '../../src/kube/field-selector.ts'
import type { LabelRequirement } from '../../src/kube/label-selector.ts'

const SYMBOLS = { Gt: '>', Gte: '>=', Lt: '<', Lte: '<=' } as const

export function formatLabelSelector(requirements: readonly LabelRequirement[]): string {
  return requirements.map((each) => format(each.key, each, (value) => value)).join(',')
}

export function formatFieldSelector(requirements: readonly FieldRequirement[]): string {
  return requirements.map((each) => format(formatFieldPath(each.path), each, quote)).join(',')
}

function format(
  what: string,
  requirement: LabelRequirement | FieldRequirement,
  written: (value: string) => string,
): string {
  switch (requirement.operator) {
    case 'In':
    case 'NotIn': {
      const { operator, values } = requirement
      const [first, ...more] = values.map(written)
      if (more.length === 0) return `${what}${operator === 'In' ? '=' : '!='}${first}`
      return `${what} ${operator.toLowerCase()} (${[first, ...more].join(',')})`
    }
    case 'Exists':
      return what
    case 'DoesNotExist':
      return `!${what}`
    default:
      return `${what}${SYMBOLS[requirement.operator]}${written(String(requirement.value))}`
  }
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
