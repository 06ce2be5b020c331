/**
 * Reads objects of several types as one list: in one order, with one page size.
 *
 * The conditions hold for every type, each within what the reader may see of it. What is found is
 * sorted by one query; no index has the keys of several types in one order.
 */
import { sql } from 'kysely'
import { compareBytes } from '../kube/byte-order.ts'
import { matchesAll } from './condition-filter.ts'
import type { Store } from './connect.ts'
import { countRows, type ReadOptions, readPage } from './list-objects.ts'
import type { ListQuery } from './list-query.ts'
import type { OrderKey, PageRequest, RawRow } from './list-request.ts'
import { orderOf } from './order.ts'
import { READ_LIMITS } from './portal-reader.ts'
import type { ReadScope } from './read-scope.ts'
import { limits } from './sql-value.ts'
import { inTypeScopes, type TypeScope, typesOf } from './type-scope.ts'
import { wideColumns } from './wide-columns.ts'

export interface CollectionRequest extends PageRequest {
  /** Each type at most once. Empty: nothing is visible. */
  readonly scopes: readonly TypeScope[]
}

/** Streams the rows in batches; the last value of a row's position is the number of its type. */
export async function* listCollection(
  store: Store,
  request: CollectionRequest,
  { signal, limits: within = READ_LIMITS }: ReadOptions = {},
): AsyncGenerator<readonly RawRow[]> {
  if (typesOf(request.scopes).length === 0) return
  const scope = clustersOf(request.scopes)
  const query = (rest: CollectionRequest) => collectionQuery(store, rest, scope)
  yield* readPage(store, request, { query, scope, signal, limits: within })
}

/** How many rows a collection has in all: `after`, `offset` and `limit` do not count. */
export async function countCollection(store: Store, request: CollectionRequest): Promise<number> {
  const where = matching(request)
  return countRows(store, sql`select count(*) from object o where ${where}`.compile(store.db))
}

/** Names of the same cluster and type never tie: the type comes last. */
function collectionOrder(order: readonly OrderKey[]): readonly OrderKey[] {
  const given = new Set(order.map(({ by }) => by))
  const ties = (['cluster', 'namespace', 'name', 'type'] as const).filter((by) => !given.has(by))
  return [...order, ...ties.map((by) => ({ by, descending: false }))]
}

export function collectionQuery(
  store: Store,
  request: CollectionRequest,
  scope: ReadScope,
): ListQuery {
  const order = orderOf(collectionOrder(request.order), scope)
  const columns = wideColumns(request.want)
  const after = request.after ? sql` and ${order.after(request.after)}` : sql``
  const selected = order.selected.map((text, i) => sql`, ${text} as ${sql.id(`v${i}`)}`)
  const values = order.selected.map((_, i) => sql`, k.${sql.id(`v${i}`)}`)
  const wide = columns.map((column) => sql`, w.${sql.id(column)}`)
  const compiled = sql`select k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name
    ${sql.join([...values, ...wide], sql``)} from (
      select o.cluster_id, o.type_id, o.namespace, o.name ${sql.join(selected, sql``)} from object o${order.joins}
      where ${matching(request)}${after} order by ${order.by}${limits(request)}
    ) k cross join lateral (
      select * from object f where f.cluster_id = k.cluster_id and f.type_id = k.type_id
      and f.namespace = k.namespace and f.name = k.name offset 0
    ) w`.compile(store.db)
  return { compiled, order, columns }
}

function matching({ scopes, conditions }: Pick<CollectionRequest, 'scopes' | 'conditions'>) {
  const visible = inTypeScopes(scopes) ?? sql`false`
  return sql`${sql.join([visible, ...matchesAll(conditions, typesOf(scopes))], sql` and `)}`
}

/** Every cluster once, by name; of which namespaces is not said here. */
function clustersOf(scopes: readonly TypeScope[]): ReadScope {
  const clusters = new Map(
    scopes.flatMap(({ scope }) =>
      scope.map(({ id, name }) => [id, { id, name, namespaces: 'every-namespace' as const }]),
    ),
  )
  return [...clusters.values()].sort((a, b) => compareBytes(a.name, b.name))
}
