/** The one statement that writes the mirror; put-objects.ts has the transaction around it. */
import type pg from 'pg'
import { encodeChanges } from './encode-changes.ts'
import type { FencedTransaction } from './leases.ts'
import type { ObjectChange } from './object-row.ts'

export interface ChangeCounts {
  added: number
  modified: number
  deleted: number
  /** Puts that found exactly their row, and deletes that found none. */
  unchanged: number
}

/** How far the change log is within this transaction. */
export interface LogCursor {
  lastSeq: bigint
}

export interface WriteInto {
  readonly transaction: FencedTransaction
  readonly target: { readonly typeId: number; readonly columnsId: number }
  readonly log: LogCursor
}

export function noChanges(): ChangeCounts {
  return { added: 0, modified: 0, deleted: 0, unchanged: 0 }
}

/**
 * Writes changes with distinct keys, and their log entries.
 *
 * `incoming` sees the rows as they were before the statement. That is the truth, because the lease
 * row is locked: nobody else writes this cluster. Rows are looked up one by one through the key
 * (`offset 0` makes it so) and deleted by ctid, so that no join is left for the planner to misjudge:
 * on a table that grew since it was last analyzed it would compare each row with each.
 */
export const WRITE_CHANGES = `
with incoming as materialized (
  select i.*, o.row_id, o.uid as old_uid, o.resource_version as old_resource_version,
    case i.op when 'D' then o.uid is not null
      else o.uid is null or (o.uid, o.resource_version, o.api_version, o.columns_id)
        is distinct from (i.uid, i.resource_version, i.api_version, $4) end as differs
  from unnest($1::object_change[]) i
  left join lateral (
    select o.ctid as row_id, o.uid, o.resource_version, o.api_version, o.columns_id from object o
    where o.cluster_id = $2 and o.type_id = $3 and o.namespace = i.namespace and o.name = i.name
    offset 0
  ) o on true
), put as (
  insert into object (cluster_id, type_id, namespace, name, uid, resource_version, api_version,
    created_at, columns_id, rv_offset, tokens, cells, head, metadata, tail)
  select $2, $3, namespace, name, uid, resource_version, api_version,
    created_at, $4, rv_offset, tokens, cells, head, metadata, tail
  from incoming where op = 'P' and differs
  on conflict (cluster_id, type_id, namespace, name) do update set
    uid = excluded.uid, resource_version = excluded.resource_version,
    api_version = excluded.api_version, created_at = excluded.created_at,
    columns_id = excluded.columns_id, rv_offset = excluded.rv_offset, tokens = excluded.tokens,
    cells = excluded.cells, head = excluded.head, metadata = excluded.metadata,
    tail = excluded.tail
), status_put as (
  insert into object_status as s (cluster_id, type_id, namespace, name, tokens)
  select $2, $3, namespace, name, status_tokens
  from incoming where op = 'P' and differs and cardinality(status_tokens) > 0
  on conflict (cluster_id, type_id, namespace, name) do update set tokens = excluded.tokens
  where s.tokens is distinct from excluded.tokens
), gone as (
  delete from object o where o.cluster_id = $2
   and o.ctid = any (array(select row_id from incoming where op = 'D' and differs))
), status_gone as (
  delete from object_status s where s.cluster_id = $2 and s.ctid = any (array(
    select s.row_id from incoming i cross join lateral (
      select s.ctid as row_id from object_status s
      where s.cluster_id = $2 and s.type_id = $3 and s.namespace = i.namespace and s.name = i.name
      offset 0
    ) s
    where i.differs and i.old_uid is not null and (i.op = 'D' or cardinality(i.status_tokens) = 0)))
), entry as (
  select namespace, name, 'D' as op, old_uid as uid, old_resource_version as resource_version
  from incoming where differs and old_uid is not null and (op = 'D' or old_uid <> uid)
  union all
  select namespace, name, case when old_uid = uid then 'M' else 'A' end, uid, resource_version
  from incoming where differs and op = 'P'
), logged as (
  insert into change (cluster_id, seq, type_id, op, namespace, name, uid, resource_version)
  select $2, $5 + row_number() over (order by namespace, name, op desc), $3, op::"char",
    namespace, name, uid, resource_version
  from entry
  returning op
)
select count(*) filter (where op = 'A')::int as added,
  count(*) filter (where op = 'M')::int as modified,
  count(*) filter (where op = 'D')::int as deleted,
  (select count(*) from incoming where not differs)::int as unchanged
from logged`

export async function writeChanges(
  { transaction: { client, clusterId }, target, log }: WriteInto,
  changes: readonly ObjectChange[],
): Promise<ChangeCounts> {
  if (changes.length === 0) return noChanges()
  const { rows } = await client.query<ChangeCounts>(WRITE_CHANGES, [
    encodeChanges(changes, await changeElementOid(client)),
    clusterId,
    target.typeId,
    target.columnsId,
    log.lastSeq,
  ])
  const counts = rows[0]!
  log.lastSeq += BigInt(counts.added + counts.modified + counts.deleted)
  return counts
}

/** The OID of `object_change` differs between databases: asked once on each connection. */
const elementOids = new WeakMap<pg.ClientBase, number>()

export async function changeElementOid(client: pg.ClientBase): Promise<number> {
  const known = elementOids.get(client)
  if (known !== undefined) return known
  const { rows } = await client.query<{ oid: number }>(
    `select 'object_change'::regtype::oid as oid`,
  )
  elementOids.set(client, rows[0]!.oid)
  return rows[0]!.oid
}
