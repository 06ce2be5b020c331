/**
 * Rows made again from their own bytes: other columns, other printers or other tokens, same objects.
 *
 * No object changes by it, so nothing is logged and no position moves. A row that has changed since
 * it was read is left alone: it was made by the new code.
 */
import type { Store } from './connect.ts'
import { encodeChanges } from './encode-changes.ts'
import { type Lease, underLease } from './leases.ts'
import type { ObjectKey, ObjectRow } from './object-row.ts'
import type { WriteTarget } from './put-objects.ts'
import { changeElementOid } from './write-changes.ts'

export interface RowBounds {
  readonly rows: number
  /** One row at least, however large. */
  readonly bytes: number
}

export interface OldRow extends ObjectKey {
  /** The object's JSON, as it is stored. */
  readonly bytes: Buffer
}

/** Rows of other columns than `target.columnsId`, in order of their keys. None: there are no more. */
export async function readOldRows(
  store: Store,
  target: WriteTarget,
  { after, bounds }: { readonly after: ObjectKey | undefined; readonly bounds: RowBounds },
): Promise<readonly OldRow[]> {
  const { rows } = await store.pool.query<ObjectKey & { text: string }>(READ_OLD, [
    target.lease.clusterId,
    target.typeId,
    target.columnsId,
    after?.namespace ?? '',
    after?.name ?? '',
    bounds.rows,
    bounds.bytes,
  ])
  return rows.map(({ namespace, name, text }) => ({ namespace, name, bytes: Buffer.from(text) }))
}

export const READ_OLD = `
select namespace, name, head || metadata || tail as text from (
  select *, row_number() over w as nr, sum(octet_length(tail)) over w as bytes from (
    select namespace, name, head, metadata, tail from object
    where cluster_id = $1 and type_id = $2 and columns_id <> $3 and (namespace, name) > ($4, $5)
    order by namespace, name limit $6
  ) o window w as (order by namespace, name)
) o where nr = 1 or bytes <= $7 order by namespace, name`

/** @returns how many were still as they had been read. @throws LeaseLost */
export async function putRemadeRows(
  store: Store,
  target: WriteTarget,
  rows: readonly ObjectRow[],
): Promise<number> {
  if (rows.length === 0) return 0
  return underLease(store, target.lease, async ({ client, clusterId }) => {
    const changes = rows.map((row) => ({ op: 'put', row }) as const)
    const encoded = encodeChanges(changes, await changeElementOid(client))
    const values = [encoded, clusterId, target.typeId, target.columnsId]
    const { rows: counted } = await client.query<{ remade: number }>(PUT_REMADE, values)
    return counted[0]!.remade
  })
}

/** Like the statement of write-changes.ts, without its log, and only over rows that are there. */
export const PUT_REMADE = `
with incoming as materialized (
  select i.* from unnest($1::object_change[]) i
  cross join lateral (
    select o.uid, o.resource_version, o.columns_id from object o
    where o.cluster_id = $2 and o.type_id = $3 and o.namespace = i.namespace and o.name = i.name
    offset 0
  ) o
  where (o.uid, o.resource_version) = (i.uid, i.resource_version) and o.columns_id <> $4
), put as (
  insert into object (cluster_id, type_id, namespace, name, uid, resource_version, api_version,
    created_at, columns_id, rv_offset, tokens, cells, head, metadata, tail)
  select $2, $3, namespace, name, uid, resource_version, api_version,
    created_at, $4, rv_offset, tokens, cells, head, metadata, tail
  from incoming
  on conflict (cluster_id, type_id, namespace, name) do update set
    created_at = excluded.created_at, columns_id = excluded.columns_id,
    rv_offset = excluded.rv_offset, tokens = excluded.tokens, cells = excluded.cells,
    head = excluded.head, metadata = excluded.metadata, tail = excluded.tail
), status_put as (
  insert into object_status as s (cluster_id, type_id, namespace, name, tokens)
  select $2, $3, namespace, name, status_tokens from incoming where cardinality(status_tokens) > 0
  on conflict (cluster_id, type_id, namespace, name) do update set tokens = excluded.tokens
  where s.tokens is distinct from excluded.tokens
), status_gone as (
  delete from object_status s using incoming i
  where s.cluster_id = $2 and s.type_id = $3 and s.namespace = i.namespace and s.name = i.name
    and cardinality(i.status_tokens) = 0
)
select count(*)::int as remade from incoming`

/** All rows are of these columns now; nothing happens when the type has others meanwhile. */
export async function endRemake(
  store: Store,
  target: { readonly lease: Lease; readonly typeId: number; readonly columnsId: number },
): Promise<void> {
  await underLease(store, target.lease, async ({ client, clusterId }) => {
    await client.query(
      `update cluster_resource set remake = false
       where cluster_id = $1 and type_id = $2 and columns_id = $3`,
      [clusterId, target.typeId, target.columnsId],
    )
  })
}
