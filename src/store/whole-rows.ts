/** Joins the rows `w` of `object` to keys `k` that were found, in the order of the keys. */
import { type RawBuilder, sql } from 'kysely'
import type { ListRequest } from './list-request.ts'

/**
 * `offset 0` keeps the query apart: what is around it is a nested loop over the keys, and so in
 * their order.
 */
export function withWholeRows({ type, scope }: ListRequest): RawBuilder<unknown> {
  const [only, ...others] = scope
  // Said again, it spares the planner all partitions but one.
  const inCluster = only && others.length === 0 ? sql` and f.cluster_id = ${only.id}` : sql``
  return sql`cross join lateral (
    select * from object f where f.cluster_id = k.cluster_id${inCluster}
    and f.type_id = ${type.id} and f.namespace = k.namespace and f.name = k.name offset 0
  ) w`
}
