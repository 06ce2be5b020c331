/**
 * Registrations of member clusters: one row per generation.
 *
 * Readers see live rows only, so a cluster that is removed or registered again under its name is
 * gone from answers when its transaction commits; its objects are purged in batches later.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Store } from './connect.ts'
import { FLUSHED, type Lease, underLease } from './leases.ts'
import { notifyCatalogChange, notifyCatalogChangeBy } from './notifications.ts'
import type { Database } from './schema.ts'

export interface ClusterRegistration {
  readonly name: string
  /** metadata.uid of the PediaCluster. */
  readonly registrationUid: string
  readonly labels: Readonly<Record<string, string>>
}

/**
 * Makes a registration known, once per uid. Another live cluster of that name is marked removed.
 *
 * @returns the id under which the cluster's rows are stored.
 * @throws when the registration of this uid was removed: a late writer must not revive it.
 */
export async function registerCluster(
  store: Store,
  registration: ClusterRegistration,
): Promise<number> {
  return store.db
    .transaction()
    .execute((transaction) => registerClusterWithin(transaction, registration))
}

/** A transaction of the caller's: the one that writes the PediaCluster. */
export type ClusterTransaction = Transaction<Database>

/** {@link registerCluster} within a transaction of the caller's. */
export async function registerClusterWithin(
  transaction: ClusterTransaction,
  { name, registrationUid, labels }: ClusterRegistration,
): Promise<number> {
  // The unique index on live names would refuse the second of two at once; this makes it wait.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`cluster ${name}`}, 0))`.execute(
    transaction,
  )
  const replaced = await transaction
    .selectFrom('cluster')
    .select('registration_uid')
    .where('name', '=', name)
    .where('removed_at', 'is', null)
    .where('registration_uid', '<>', registrationUid)
    .execute()
  for (const { registration_uid } of replaced) {
    await markClusterRemoved(transaction, registration_uid)
  }
  const row = await transaction
    .insertInto('cluster')
    .values({ name, registration_uid: registrationUid, labels: JSON.stringify(labels) })
    .onConflict((conflict) =>
      conflict
        .column('registration_uid')
        .doUpdateSet({ labels: JSON.stringify(labels) })
        .where('cluster.removed_at', 'is', null),
    )
    .returning('id')
    .executeTakeFirst()
  if (!row) throw new Error(`the registration ${registrationUid} of ${name} was removed`)
  await notifyCatalogChange(transaction)
  return row.id
}

/** Labels of the PediaCluster, for cluster selectors, within a transaction of the caller's. */
export async function labelCluster(
  transaction: ClusterTransaction,
  registrationUid: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  await transaction
    .updateTable('cluster')
    .set({ labels: JSON.stringify(labels) })
    .where('registration_uid', '=', registrationUid)
    .execute()
  await notifyCatalogChange(transaction)
}

/** Hides the cluster from readers, and makes its lease worthless to whoever holds it. */
export async function removeCluster(store: Store, registrationUid: string): Promise<void> {
  await store.db
    .transaction()
    .execute((transaction) => markClusterRemoved(transaction, registrationUid))
}

/** {@link removeCluster} within a transaction of the caller's: the one that deletes the PediaCluster. */
export async function markClusterRemoved(
  transaction: ClusterTransaction,
  registrationUid: string,
): Promise<void> {
  const removed = await transaction
    .updateTable('cluster')
    .set({ removed_at: sql<Date>`clock_timestamp()` })
    .where('registration_uid', '=', registrationUid)
    .where('removed_at', 'is', null)
    .returning('id')
    .execute()
  for (const { id } of removed) {
    await transaction.deleteFrom('cluster_lease').where('cluster_id', '=', id).execute()
  }
  await notifyCatalogChange(transaction)
}

export interface ClusterState {
  /** The member's /version document, as it sent it. Left out, the known one stays. */
  readonly version?: string
  /** What readers are warned of; null is in step. */
  readonly staleReason: string | null
  /** When it was last in step; left out, the known time stays. */
  readonly staleSince?: Date | null
}

/**
 * What the holder of a cluster knows of it. Nobody is notified when nothing changed.
 *
 * @throws LeaseLost when another speaks for the cluster now.
 */
export async function recordClusterState(
  store: Store,
  lease: Lease,
  { version, staleReason, staleSince }: ClusterState,
): Promise<void> {
  await underLease(store, lease, async ({ client, clusterId }) => {
    const { rowCount } = await client.query(RECORD_STATE, [
      clusterId,
      staleReason,
      version ?? null,
      staleSince ?? null,
      staleSince !== undefined,
    ])
    if (rowCount) await notifyCatalogChangeBy(client)
  })
}

export const RECORD_STATE = `
update cluster c set stale_reason = n.stale_reason, version = n.version, stale_since = n.stale_since
from (
  select id, $2::text as stale_reason, coalesce($3, version) as version,
    case when $5 then $4::timestamptz else stale_since end as stale_since
  from cluster where id = $1
) n
where c.id = n.id and (c.stale_reason, c.version, c.stale_since)
  is distinct from (n.stale_reason, n.version, n.stale_since)
returning ${FLUSHED}`

/** What belongs to a cluster, in the order in which it is purged. */
const PURGED_TABLES = [
  'object',
  'object_status',
  'change',
  'change_batch',
  'cluster_openapi',
  'cluster_resource',
] as const

/**
 * Deletes one batch of what removed clusters left behind.
 *
 * @returns how many rows went; 0 when nothing is left. Call it again until then.
 */
export async function purgeRemovedClusters(
  store: Store,
  { batchRows }: { batchRows: number },
): Promise<number> {
  const removed = await store.db
    .selectFrom('cluster')
    .select('id')
    .where('removed_at', 'is not', null)
    .orderBy('id')
    .execute()
  for (const { id } of removed) {
    for (const table of PURGED_TABLES) {
      const count = await purgeTable(store.db, { table, clusterId: id, batchRows })
      if (count > 0) return count
    }
    await store.db.deleteFrom('cluster').where('id', '=', id).execute()
  }
  return removed.length
}

async function purgeTable(
  db: Kysely<Database>,
  { table, clusterId, batchRows }: { table: string; clusterId: number; batchRows: number },
): Promise<number> {
  // ctid is unique within one partition, and a cluster is in one partition: but the planner cannot
  // know that, so the cluster is named on both sides.
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where cluster_id = ${clusterId} and ctid = any (array(
      select ctid from ${sql.table(table)} where cluster_id = ${clusterId} limit ${batchRows}
    ))`.execute(db)
  return Number(numAffectedRows ?? 0n)
}
