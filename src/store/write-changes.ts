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
 * `before` reads what the statement's snapshot shows. That is the truth, because the lease row is
 * locked: nobody else writes this cluster.
 */
const WRITE = `
with incoming as materialized (
  select * from unnest($1::object_change[])
), before as materialized (
  select o.namespace, o.name, o.uid, o.resource_version, o.api_version, o.columns_id
  from incoming i join object o on o.cluster_id = $2 and o.type_id = $3
   and o.namespace = i.namespace and o.name = i.name
), put as (
  insert into object as o (cluster_id, type_id, namespace, name, uid, resource_version, api_version,
    created_at, columns_id, rv_offset, tokens, cells, head, metadata, tail)
  select $2, $3, i.namespace, i.name, i.uid, i.resource_version, i.api_version,
    i.created_at, $4, i.rv_offset, i.tokens, i.cells, i.head, i.metadata, i.tail
  from incoming i left join before b on b.namespace = i.namespace and b.name = i.name
  where i.op = 'P' and (b.name is null or (b.uid, b.resource_version, b.api_version, b.columns_id)
    is distinct from (i.uid, i.resource_version, i.api_version, $4))
  on conflict (cluster_id, type_id, namespace, name) do update set
    uid = excluded.uid, resource_version = excluded.resource_version,
    api_version = excluded.api_version, created_at = excluded.created_at,
    columns_id = excluded.columns_id, rv_offset = excluded.rv_offset, tokens = excluded.tokens,
    cells = excluded.cells, head = excluded.head, metadata = excluded.metadata,
    tail = excluded.tail
  returning o.namespace, o.name, o.uid, o.resource_version
), gone as (
  delete from object o using incoming i
  where i.op = 'D' and o.cluster_id = $2 and o.type_id = $3
   and o.namespace = i.namespace and o.name = i.name
  returning o.namespace, o.name, o.uid, o.resource_version
), status_put as (
  insert into object_status as s (cluster_id, type_id, namespace, name, tokens)
  select $2, $3, i.namespace, i.name, i.status_tokens
  from put p join incoming i on i.namespace = p.namespace and i.name = p.name
  where cardinality(i.status_tokens) > 0
  on conflict (cluster_id, type_id, namespace, name) do update set tokens = excluded.tokens
  where s.tokens is distinct from excluded.tokens
), status_gone as (
  delete from object_status s using (
    select namespace, name from gone
    union all
    select p.namespace, p.name
    from put p join incoming i on i.namespace = p.namespace and i.name = p.name
    where cardinality(i.status_tokens) = 0
  ) g
  where s.cluster_id = $2 and s.type_id = $3 and s.namespace = g.namespace and s.name = g.name
), entry as (
  select namespace, name, 'D' as op, uid, resource_version from gone
  union all
  select b.namespace, b.name, 'D', b.uid, b.resource_version
  from put p join before b on b.namespace = p.namespace and b.name = p.name
  where b.uid <> p.uid
  union all
  select p.namespace, p.name, case when b.uid = p.uid then 'M' else 'A' end, p.uid, p.resource_version
  from put p left join before b on b.namespace = p.namespace and b.name = p.name
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
  (select count(*) from put)::int as put,
  (select count(*) from gone)::int as gone
from logged`

export async function writeChanges(
  { transaction: { client, clusterId }, target, log }: WriteInto,
  changes: readonly ObjectChange[],
): Promise<ChangeCounts> {
  if (changes.length === 0) return noChanges()
  const { rows } = await client.query<ChangeCounts & { put: number; gone: number }>(WRITE, [
    encodeChanges(changes, await elementOid(client)),
    clusterId,
    target.typeId,
    target.columnsId,
    log.lastSeq,
  ])
  const { added, modified, deleted, put, gone } = rows[0]!
  log.lastSeq += BigInt(added + modified + deleted)
  return { added, modified, deleted, unchanged: changes.length - put - gone }
}

/** The OID of `object_change` differs between databases: asked once on each connection. */
const elementOids = new WeakMap<pg.ClientBase, number>()

async function elementOid(client: pg.ClientBase): Promise<number> {
  const known = elementOids.get(client)
  if (known !== undefined) return known
  const { rows } = await client.query<{ oid: number }>(
    `select 'object_change'::regtype::oid as oid`,
  )
  elementOids.set(client, rows[0]!.oid)
  return rows[0]!.oid
}
