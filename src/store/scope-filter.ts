/**
 * What a reader may see, as SQL: part of every query.
 *
 * A scope comes from a catalog that may be a moment old, so a cluster that was removed since is
 * left out here, by the database's own word.
 */
import { type RawBuilder, sql } from 'kysely'
import type { ReadScope } from './read-scope.ts'
import { intArray, isStorable, textArray } from './sql-value.ts'

/** The condition on rows `o` of table `object`. The scope must not be empty. */
export function inScope(scope: ReadScope): RawBuilder<boolean> {
  const ids = intArray(scope.map(({ id }) => id))
  const groups = [...groupByNamespaces(scope)]
  const allowed = groups.map(({ ids, namespaces }) =>
    namespaces === 'every-namespace'
      ? sql<boolean>`o.cluster_id = any (${intArray(ids)})`
      : sql<boolean>`(o.cluster_id = any (${intArray(ids)}) and o.namespace = any (${textArray(namespaces)}))`,
  )
  return sql`o.cluster_id = any (${ids})
    and o.cluster_id <> all (array(select c.id from cluster c where c.id = any (${ids}) and c.removed_at is not null))
    and (${sql.join(allowed, sql` or `)})`
}

/** Clusters with equal namespaces share one condition. */
function groupByNamespaces(scope: ReadScope) {
  const groups = new Map<
    string,
    { ids: number[]; namespaces: 'every-namespace' | readonly string[] }
  >()
  for (const { id, namespaces } of scope) {
    const visible =
      namespaces === 'every-namespace' ? namespaces : namespaces.filter(isStorable).toSorted()
    const key = JSON.stringify(visible)
    const group = groups.get(key)
    if (group) group.ids.push(id)
    else groups.set(key, { ids: [id], namespaces: visible })
  }
  return groups.values()
}

/** Clusters of which nothing is visible are left out; so an empty scope is a scope of nothing. */
export function visibleClusters(scope: ReadScope): ReadScope {
  return scope.filter(({ namespaces }) => namespaces.length > 0)
}
