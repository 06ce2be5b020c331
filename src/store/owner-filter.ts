/**
 * The SQL of "owned by one of these", on rows `o` of table `object`.
 *
 * The token of `metadata.ownerReferences[].uid` finds the rows. A cluster that was restored from
 * another's backup has its UIDs, so cluster and namespace of the owner are compared, too.
 */
import { type RawBuilder, sql } from 'kysely'
import { childPath, elementPath, fieldToken, typeSeed } from '../kube/search-token.ts'
import type { TypeName, TypeNames } from './condition-filter.ts'
import type { Owner } from './list-request.ts'
import { bigintArray, intArray, textArray } from './sql-value.ts'

export function ownedBy(owners: readonly Owner[], types: TypeNames): RawBuilder<boolean> {
  if (owners.length === 0) return sql`false`
  const uids = owners.map(({ uid }) => uid)
  // Of each type in turn, and so are the places.
  const places = types.flatMap(() => owners)
  const owned = types.flatMap((type) => ownerTokens(uids, type))
  // As a set that is hashed once, however many rows are compared with it.
  const allowed = sql`(select * from unnest(
    ${intArray(places.map(({ clusterId }) => clusterId))},
    ${textArray(places.map(({ namespace }) => namespace))},
    ${bigintArray(owned)}))`
  return sql`(o.tokens && ${bigintArray(owned)} and exists (select from unnest(o.tokens) t
    where (o.cluster_id, o.namespace, t) in ${allowed} or (o.cluster_id, '', t) in ${allowed}))`
}

/** What objects of the type have when one of these owns them; one token for each UID. */
export function ownerTokens(
  uids: readonly string[],
  type: Pick<TypeName, 'group' | 'resource'>,
): readonly bigint[] {
  const references = childPath(childPath(typeSeed(type), 'metadata'), 'ownerReferences')
  const path = childPath(elementPath(references), 'uid')
  return uids.map((uid) => fieldToken(path, uid))
}
