/**
 * Reads mirrored objects as they lie in the store, across clusters, in a total order.
 *
 * Every function takes the reader's scope; an empty one is answered without a query. What is
 * returned are slices of PostgreSQL's answer: no string is made of an object.
 */
import { sql } from 'kysely'
import type { Store } from './connect.ts'
import { listQuery, matching } from './list-query.ts'
import type { ListRequest, ObjectCondition, RawRow } from './list-request.ts'
import { orderOf } from './order.ts'
import { fromPostgres } from './pg-error.ts'
import { visibleClusters } from './scope-filter.ts'

/**
 * Streams the rows of a list, in batches.
 *
 * @throws StatusError when the database does not answer, or when `after` is not of this order.
 */
export async function* listObjects(
  store: Store,
  request: ListRequest,
): AsyncGenerator<readonly RawRow[]> {
  const scope = visibleClusters(request.scope)
  if (scope.length === 0 || request.limit === 0) return
  const { compiled, order, columns } = listQuery(store, { ...request, scope })
  const names = new Map(scope.map(({ id, name }) => [id, name]))
  const { rows } = await store.readers
    .query<string[]>({
      text: compiled.sql,
      values: [...compiled.parameters],
      rowMode: 'array',
      types: { getTypeParser: () => String },
    })
    .catch((error) => {
      throw fromPostgres(error)
    })
  if (rows.length === 0) return
  yield rows.map((row) => {
    const [clusterId = '', apiVersion = '', columnsId = '', namespace = '', name = ''] = row
    const selected = row.slice(5, 5 + order.selected.length)
    const wide = columns.map((column, i) => [
      column,
      Buffer.from(row[5 + selected.length + i] ?? ''),
    ])
    const key = { cluster: names.get(Number(clusterId)) ?? '', namespace, name }
    return {
      clusterId: Number(clusterId),
      apiVersion,
      columnsId: Number(columnsId),
      ...Object.fromEntries(wide),
      position: () => ({ ...key, values: order.valuesOf(selected, key) }),
    }
  })
}

/** How many rows a list has in all: `after`, `offset` and `limit` do not count. */
export async function countObjects(store: Store, request: ListRequest): Promise<number> {
  const scope = visibleClusters(request.scope)
  if (scope.length === 0) return 0
  const { type, conditions } = request
  const where = matching({ type, scope, conditions }, orderOf([], scope))
  const { rows } = await sql<{ count: string }>`
    select count(*) as count from object o where ${sql.join(where, sql` and `)}`
    .execute(store.db)
    .catch((error) => {
      throw fromPostgres(error)
    })
  return Number(rows[0]?.count ?? 0)
}

/** One object of every cluster of the scope that has it, by cluster name. */
export async function getObject(
  store: Store,
  wanted: Pick<ListRequest, 'type' | 'scope' | 'want'> & { namespace: string; name: string },
): Promise<readonly RawRow[]> {
  const { namespace, name, ...rest } = wanted
  const conditions: readonly ObjectCondition[] = [
    { on: 'namespace', operator: 'In', values: [namespace] },
    { on: 'name', operator: 'In', values: [name] },
  ]
  const found: RawRow[] = []
  for await (const rows of listObjects(store, { ...rest, conditions, order: [] })) {
    found.push(...rows)
  }
  return found
}
