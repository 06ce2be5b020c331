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
import { isFoundByToken } from './field-filter.ts'
import type { ListRequest, ObjectCondition } from './list-request.ts'
import { type Order, orderOf } from './order.ts'
import type { RawStatement } from './raw-query.ts'
import { inScope } from './scope-filter.ts'
import { limits } from './sql-value.ts'
import { statusSearch } from './status-search.ts'
import { isWorthWalking, walkSegments } from './walk.ts'
import { withWholeRows } from './whole-rows.ts'
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
    case 'text':
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

/** Finds and sorts keys; the wide columns are fetched after sorting, so that it is done in memory. */
function sortMatches(
  request: ListRequest,
  { order, columns, after }: SortedParts,
): RawBuilder<unknown> {
  const { from, where } = matching(request)
  const selected = order.selected.map((text, i) => sql`${text} as ${sql.id(`v${i}`)}`)
  const values = order.selected.map((_, i) => sql`k.${sql.id(`v${i}`)}`)
  const wide = columns.map((column) => sql`w.${sql.id(column)}`)
  const keys = (by: RawBuilder<unknown>, ...more: readonly RawBuilder<boolean>[]) =>
    sql`select ${sql.join([sql`o.cluster_id, o.namespace, o.name`, ...selected])} from ${from}${order.joins}
    where ${sql.join([...where, ...(after ? [after] : []), ...more], sql` and `)} order by ${by}`
  return sql`select ${sql.join([
    sql`k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name`,
    ...values,
    ...wide,
  ])} from (
    ${isOldestFirst(request) ? oldestFirst(request, order, keys) : sql`${keys(order.by)}${limits(request)}`}
  ) k ${withWholeRows(request)}`
}

/** By time upwards, which the index of times has only for rows that have one. */
function isOldestFirst({ order: [first], conditions, limit }: ListRequest): boolean {
  const ascending = first?.by === 'created_at' && !first.descending
  return ascending && limit !== undefined && !conditions.some(isSelective)
}

/** Those with a time, read from the index backwards, then those without: one after the other. */
function oldestFirst(
  { limit = 0, offset = 0 }: ListRequest,
  order: Order,
  keys: (by: RawBuilder<unknown>, has: RawBuilder<boolean>) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  const most = limits({ limit: limit + offset })
  return sql`select * from (
    (${keys(order.byPresent, sql`o.created_at is not null`)}${most}) union all
    (${keys(order.by, sql`o.created_at is null`)}${most})
  ) u${limits({ limit, offset })}`
}

/** How many rows a list has in all: `after`, `offset` and `limit` do not count. */
export function countQuery(store: Store, request: ListRequest): RawStatement {
  const { from, where } = matching({ ...request, order: [] })
  return sql`select count(*) from ${from} where ${sql.join(where, sql` and `)}`.compile(store.db)
}

/** Rows `o`, whose keys are wanted, and what must hold of them: type, scope and conditions. */
function matching(request: Pick<ListRequest, 'type' | 'scope' | 'conditions' | 'order'>): {
  readonly from: RawBuilder<unknown>
  readonly where: readonly RawBuilder<boolean>[]
} {
  const { type, scope, conditions } = request
  const byStatus = statusSearch(request)
  // A token tells the type, too. Said in so many words, the planner would look up all objects of
  // the type beside those of the token; of one cluster that is the order of keys, and welcome.
  const ofType = scope.length > 1 && conditions.some(hasTokenOfType)
  return {
    from: byStatus ? sql`object_status o` : sql`object o`,
    where: [
      ...(ofType ? [] : [sql<boolean>`o.type_id = ${type.id}`]),
      inScope(scope),
      ...(byStatus ?? matchesAll(conditions, [type])),
    ],
  }
}

/** True when only an object of the type can meet it, because it must have a token of the type. */
function hasTokenOfType(condition: ObjectCondition): boolean {
  if (condition.on === 'text') return true
  if (condition.on === 'label') return ['In', 'Exists'].includes(condition.requirement.operator)
  return condition.on === 'field' && isFoundByToken(condition.requirement)
}
