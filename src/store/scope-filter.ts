/**
 * What a reader may see, as SQL: part of every query.
 *
 * A scope comes from a catalog that may be a moment old, so a cluster that was removed since is
 * left out here, by the database's own word.
 */
import { type RawBuilder, sql } from 'kysely'
import type { ReadScope, ScopedCluster } from './read-scope.ts'
import { intArray, isStorable, textArray } from './sql-value.ts'

/**
 * The condition on rows `o` of table `object`. The scope must not be empty.
 *
 * Each thing is said once, and liveness as `is not null`, because the planner multiplies what it
 * believes of each condition: it would take a cluster to be nearly empty, and sort all of it.
 */
export function inScope(scope: ReadScope): RawBuilder<boolean> {
  const [only, ...others] = scope
  if (only && others.length === 0) return inCluster(only)
  const allowed = [...groupByNamespaces(scope)].map(({ ids, namespaces }) =>
    namespaces === 'every-namespace'
      ? sql<boolean>`o.cluster_id = any (${intArray(ids)})`
      : sql<boolean>`(o.cluster_id = any (${intArray(ids)}) and o.namespace = any (${textArray(namespaces)}))`,
  )
  const ids = intArray(scope.map(({ id }) => id))
  return sql`(${sql.join(allowed, sql` or `)}) and array_position(
    array(select c.id from cluster c where c.id = any (${ids}) and c.removed_at is null), o.cluster_id) is not null`
}

/** By equality, so that the planner needs to look at one partition only, and can use its key order. */
function inCluster({ id, namespaces }: ScopedCluster): RawBuilder<boolean> {
  const live = sql`(select c.removed_at is null from cluster c where c.id = ${id})`
  const seen =
    namespaces === 'every-namespace'
      ? sql``
      : sql` and o.namespace = any (${textArray(namespaces.filter(isStorable))})`
  return sql`o.cluster_id = ${id}${seen} and ${live}`
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
