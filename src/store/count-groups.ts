/**
 * Counts objects by cluster, namespace and values of fields, without fetching any.
 *
 * An object counts once for each different value that it has at a path, so one with two containers
 * counts for two images; what has none there counts under null.
 */
import { type RawBuilder, sql } from 'kysely'
import type { FieldPath } from '../kube/field-selector.ts'
import { StatusError } from '../kube/status-error.ts'
import { matchesAll } from './condition-filter.ts'
import type { Store } from './connect.ts'
import type { ListRequest } from './list-request.ts'
import { readRows } from './readers.ts'
import { inScope, visibleClusters } from './scope-filter.ts'
import { unescapeFromStore, valuesAt } from './values-at-path.ts'

export interface CountRequest extends Pick<ListRequest, 'type' | 'scope' | 'conditions'> {
  readonly by: ReadonlyArray<'cluster' | 'namespace' | FieldPath>
}

export interface CountedGroup {
  /** One for each of `by`. */
  readonly values: ReadonlyArray<string | null>
  readonly count: number
}

const GROUPS_MOST = 10_000

/**
 * The largest groups first, equal ones by their values.
 *
 * @throws StatusError 400 when there are too many groups, or as the database fails.
 */
export async function countGroups(
  store: Store,
  request: CountRequest,
): Promise<readonly CountedGroup[]> {
  const scope = visibleClusters(request.scope)
  // As the query answers when nothing is found: without groups it is a count of none.
  if (scope.length === 0) return request.by.length === 0 ? [{ values: [], count: 0 }] : []
  const query = groupsQuery(request, scope).compile(store.db)
  const rows = await readRows<Record<string, string | null>>(store.readers, query)
  if (rows.length > GROUPS_MOST) {
    throw new StatusError('BadRequest', `"groupBy": there are more than ${GROUPS_MOST} groups`)
  }
  const clusterNames = new Map(scope.map(({ id, name }) => [String(id), name]))
  return rows.map((row) => ({
    values: request.by.map((by, i) => {
      const value = row[`g${i}`] ?? null
      if (by === 'cluster') return clusterNames.get(value ?? '') ?? null
      return value === null || by === 'namespace' ? value : unescapeFromStore(value)
    }),
    count: Number(row.count),
  }))
}

export function groupsQuery(
  { by, type, conditions }: CountRequest,
  scope: ListRequest['scope'],
): RawBuilder<unknown> {
  const keys = by.map((key, i) => {
    if (key === 'cluster') return sql`o.cluster_id::text`
    return key === 'namespace' ? sql`o.namespace` : sql`${sql.id(`j${i}`)}.v`
  })
  const joins = by.map((key, i) => (typeof key === 'string' ? sql`` : valuesOf(key, `j${i}`)))
  const named = keys.map((key, i) => sql`${key} collate "C" as ${sql.id(`g${i}`)}, `)
  const places = keys.map((_, i) => sql`${sql.lit(i + 1)}`)
  const groups = places.length === 0 ? sql`` : sql`group by ${sql.join(places)}`
  const ties = places.length === 0 ? sql`` : sql`, ${sql.join(places)}`
  const where = [sql`o.type_id = ${type.id}`, inScope(scope), ...matchesAll(conditions, [type])]
  return sql`select ${sql.join(named, sql``)} count(*) as count from object o
    ${sql.join(joins, sql` `)} where ${sql.join(where, sql` and `)}
    ${groups} order by count desc${ties} limit ${sql.lit(GROUPS_MOST + 1)}`
}

function valuesOf(path: FieldPath, alias: string): RawBuilder<unknown> {
  return sql`left join lateral
    (select distinct v from unnest(${valuesAt(path)}) v) ${sql.id(alias)} on true`
}
