/**
 * The SQL of a list.
 *
 * Two forms. When nothing narrows the list, the key index is walked cluster by cluster, so that
 * the first page of a million rows reads one page. When a condition does, its index finds the rows
 * and they are sorted.
 */
import { type RawBuilder, sql } from 'kysely'
import { matchesAll } from './condition-filter.ts'
import type { Store } from './connect.ts'
import type { ListRequest, ObjectCondition } from './list-request.ts'
import { type Order, orderOf } from './order.ts'
import type { RawStatement } from './raw-query.ts'
import { inScope } from './scope-filter.ts'
import { limits } from './sql-value.ts'
import { isWorthWalking, walkSegments } from './walk.ts'
import { type WideColumn, wideColumns } from './wide-columns.ts'

/** A list request whose scope has only clusters of which something is visible, and at least one. */
export interface ListQuery {
  readonly compiled: RawStatement
  readonly order: Order
  /** Names of the selected columns, in their order. */
  readonly columns: readonly WideColumn[]
}

export function listQuery(store: Store, request: ListRequest): ListQuery {
  const order = orderOf(request.order, request.scope)
  const columns = wideColumns(request.want)
  // Also where it is not used: a position that cannot be one of this order is refused.
  const after = request.after && order.after(request.after)
  const statement = isWalk(request)
    ? walkSegments(request, columns)
    : sortMatches(request, { order, columns, after })
  return { compiled: statement.compile(store.db), order, columns }
}

const DEFAULT_ORDER = ['cluster', 'namespace', 'name'] as const

/** In the default order, and with no condition that an index could answer. */
function isWalk(request: ListRequest): boolean {
  const { order, conditions } = request
  const isDefault = order.every(({ by, descending }, i) => by === DEFAULT_ORDER[i] && !descending)
  return isDefault && !conditions.some(isSelective) && isWorthWalking(request)
}

function isSelective(condition: ObjectCondition): boolean {
  switch (condition.on) {
    case 'namespace':
      return false
    case 'name':
      return condition.operator === 'In'
    case 'fuzzy-name':
    case 'created':
      return true
    case 'label':
      return !['NotIn', 'DoesNotExist'].includes(condition.requirement.operator)
    case 'field':
      // What lacks a field has no token by which an index could find it.
      return condition.requirement.operator === 'In' && !condition.requirement.values.includes('')
    default:
      return true
  }
}

interface SortedParts {
  readonly order: Order
  readonly columns: readonly WideColumn[]
  readonly after: RawBuilder<boolean> | undefined
}

/**
 * Finds and sorts keys; the wide columns are fetched after sorting, so that it is done in memory.
 *
 * `offset 0` keeps the inner query apart: the outer one is a nested loop over the sorted rows, and
 * so in their order.
 */
function sortMatches(
  request: ListRequest,
  { order, columns, after }: SortedParts,
): RawBuilder<unknown> {
  const where = sql.join([...matching(request), ...(after ? [after] : [])], sql` and `)
  const selected = order.selected.map((text, i) => sql`${text} as ${sql.id(`v${i}`)}`)
  const values = order.selected.map((_, i) => sql`k.${sql.id(`v${i}`)}`)
  const wide = columns.map((column) => sql`w.${sql.id(column)}`)
  return sql`select ${sql.join([
    sql`k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name`,
    ...values,
    ...wide,
  ])} from (
    select ${sql.join([sql`o.cluster_id, o.namespace, o.name`, ...selected])} from object o
    where ${where} order by ${order.by}${limits(request)}
  ) k cross join lateral (
    select * from object f where f.cluster_id = k.cluster_id and f.type_id = ${request.type.id}
    and f.namespace = k.namespace and f.name = k.name offset 0
  ) w`
}

/** Type, scope and conditions. */
export function matching({
  type,
  scope,
  conditions,
}: Pick<ListRequest, 'type' | 'scope' | 'conditions'>): readonly RawBuilder<boolean>[] {
  return [sql<boolean>`o.type_id = ${type.id}`, inScope(scope), ...matchesAll(conditions, type)]
}
