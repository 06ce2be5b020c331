/**
 * Searches by status alone are answered from `object_status`: its rows are a tenth as wide as those
 * of `object`, and have the whole key.
 */
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { columnIn } from './column-filter.ts'
import type { TypeName } from './condition-filter.ts'
import { statusTokens } from './field-filter.ts'
import { hasToken } from './label-filter.ts'
import type { ListRequest, ObjectCondition } from './list-request.ts'

const KEY_COLUMNS = new Set<unknown>(['cluster', 'namespace', 'name'])

/**
 * The conditions on rows `o` of `object_status`, to be joined by `and`; undefined when they, or the
 * order, need anything else of an object.
 */
export function statusSearch({
  type,
  conditions,
  order,
}: Pick<ListRequest, 'type' | 'conditions' | 'order'>): readonly RawBuilder<boolean>[] | undefined {
  if (!order.every(({ by }) => KEY_COLUMNS.has(by))) return undefined
  const parts = conditions.map((condition) => keyOrStatus(condition, type))
  const found = parts.filter((part) => part !== undefined)
  // An object without status has no row here: some condition must be one that it cannot meet.
  const byStatus = conditions.some(({ on }) => on === 'field')
  return byStatus && found.length === parts.length ? found : undefined
}

function keyOrStatus(condition: ObjectCondition, type: TypeName): RawBuilder<boolean> | undefined {
  switch (condition.on) {
    case 'namespace':
      return columnIn(sql`o.namespace`, condition)
    case 'name':
      return columnIn(sql`o.name`, condition)
    case 'field': {
      const tokens = statusTokens(condition.requirement, [type])
      return tokens && hasToken(tokens)
    }
    default:
      return undefined
  }
}
