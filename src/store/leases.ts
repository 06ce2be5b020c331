/**
 * Who syncs a cluster: one holder at a time, and its epoch in every transaction that writes.
 *
 * A process that slept through its lease finds another epoch and writes nothing. The lease row
 * also counts the change log of its cluster: it is locked by every writing transaction, so the
 * order of commits and of sequence numbers is the same.
 */
import { type Kysely, sql } from 'kysely'
import type pg from 'pg'
import type { Store } from './connect.ts'
import { retried } from './retry.ts'
import type { Database } from './schema.ts'

export interface Lease {
  readonly clusterId: number
  readonly holder: string
  readonly epoch: bigint
}

/** The cluster is written by another process now, or was removed. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'

  constructor({ clusterId, holder, epoch }: Lease) {
    super(`${holder} no longer holds cluster ${clusterId} (epoch ${epoch})`)
  }
}

/** @returns undefined while another holds the lease, or when the cluster is removed. */
export async function acquireLease(
  store: Store,
  wish: { clusterId: number; holder: string; seconds: number },
): Promise<Lease | undefined> {
  const { clusterId, holder, seconds } = wish
  // clock_timestamp, not now(): the statement may have waited for the row.
  const { rows } = await sql<{ epoch: string }>`
    insert into cluster_lease (cluster_id, holder, epoch, expires_at)
    select id, ${holder}, 1, clock_timestamp() + make_interval(secs => ${seconds})
    from cluster where id = ${clusterId} and removed_at is null
    on conflict (cluster_id) do update
    set holder = excluded.holder, epoch = cluster_lease.epoch + 1, expires_at = excluded.expires_at
    where cluster_lease.expires_at < clock_timestamp() or cluster_lease.holder = excluded.holder
    returning epoch`.execute(store.db)
  const won = rows[0]
  return won && { clusterId, holder, epoch: BigInt(won.epoch) }
}

/** @returns false when the lease is another's: stop writing. An expired one that nobody took is renewed. */
export async function renewLease(store: Store, lease: Lease, seconds: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update cluster_lease set expires_at = clock_timestamp() + make_interval(secs => ${seconds})
    where cluster_id = ${lease.clusterId} and holder = ${lease.holder}
    and epoch = ${lease.epoch}`.execute(store.db)
  return numAffectedRows === 1n
}

/** Lets another take over at once. The row stays, because it counts the change log. */
export async function releaseLease(store: Store, lease: Lease): Promise<void> {
  await sql`
    update cluster_lease set expires_at = clock_timestamp()
    where cluster_id = ${lease.clusterId} and holder = ${lease.holder}
    and epoch = ${lease.epoch}`.execute(store.db)
}

/**
 * The fence of what is not written under {@link underLease}: to be asked within the transaction that
 * writes, once it holds a row that the next holder's write waits for too.
 *
 * It does not lock the lease: whoever takes it meanwhile writes behind this transaction, and so last.
 *
 * @throws {@link LeaseLost} when the lease is another's.
 */
export async function checkLease(
  transaction: Pick<Kysely<Database>, 'getExecutor'>,
  lease: Lease,
): Promise<void> {
  const { rows } = await sql`
    select from cluster_lease where cluster_id = ${lease.clusterId}
    and holder = ${lease.holder} and epoch = ${lease.epoch}`.execute(transaction)
  if (rows.length === 0) throw new LeaseLost(lease)
}

/** A transaction that holds the lease row. */
export interface FencedTransaction {
  readonly client: pg.PoolClient
  readonly clusterId: number
  /** Of the change log. */
  readonly lastSeq: bigint
}

/**
 * Runs `work` in a transaction under the lease, again when it fails for its neighbours' sake.
 *
 * Commits are not waited for on disk: what a crash loses here was not yet acknowledged by a
 * position either (same transaction), so it is read from the member again.
 *
 * @throws {@link LeaseLost} when the lease is another's.
 */
export async function underLease<T>(
  store: Store,
  lease: Lease,
  work: (transaction: FencedTransaction) => Promise<T>,
): Promise<T> {
  return retried(async () => {
    const client = await store.writers.connect()
    try {
      await client.query('begin; set local synchronous_commit = off')
      const lastSeq = await lockLease(client, lease)
      const result = await work({ client, clusterId: lease.clusterId, lastSeq })
      await client.query('commit')
      client.release()
      return result
    } catch (error) {
      await rollBack(client)
      throw error
    }
  })
}

async function lockLease(client: pg.PoolClient, lease: Lease): Promise<bigint> {
  const { rows } = await client.query<{ last_seq: string }>(
    `select last_seq from cluster_lease
     where cluster_id = $1 and holder = $2 and epoch = $3 for update`,
    [lease.clusterId, lease.holder, lease.epoch],
  )
  if (!rows[0]) throw new LeaseLost(lease)
  return BigInt(rows[0].last_seq)
}

async function rollBack(client: pg.PoolClient): Promise<void> {
  try {
    await client.query('rollback')
    client.release()
  } catch (error) {
    // The connection is broken, and its transaction with it: the pool must not hand it out again.
    client.release(error instanceof Error ? error : true)
  }
}
