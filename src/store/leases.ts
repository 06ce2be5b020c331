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
import { retried, sqlStateOf } from './retry.ts'
import type { Database } from './schema.ts'

export interface Lease {
  readonly clusterId: number
  readonly holder: string
  readonly epoch: bigint
  /** How far the change log is, as far as this holder knows. */
  readonly log: { lastSeq: bigint }
}

/** The cluster is written by another process now, or was removed. */
export class LeaseLost extends Error {
  override readonly name: string = 'LeaseLost'

  constructor(
    { clusterId, holder, epoch }: Lease,
    message = `${holder} no longer holds cluster ${clusterId} (epoch ${epoch})`,
  ) {
    super(message)
  }
}

/**
 * The database came back without transactions that it had acknowledged: it crashed, or a replica that
 * lagged behind took over. What the holder believes to be stored is not; what is stored is whole, and
 * its positions belong to it.
 */
export class StoreWentBack extends LeaseLost {
  override readonly name = 'StoreWentBack'

  constructor(lease: Lease) {
    super(lease, `the database lost what was written last of cluster ${lease.clusterId}`)
  }
}

/** @returns undefined while another holds the lease, or when the cluster is removed. */
export async function acquireLease(
  store: Store,
  wish: { clusterId: number; holder: string; seconds: number },
): Promise<Lease | undefined> {
  const { clusterId, holder, seconds } = wish
  // clock_timestamp, not now(): the statement may have waited for the row.
  const { rows } = await sql<{ epoch: string; last_seq: string }>`
    insert into cluster_lease (cluster_id, holder, epoch, expires_at)
    select id, ${holder}, 1, clock_timestamp() + make_interval(secs => ${seconds})
    from cluster where id = ${clusterId} and removed_at is null
    on conflict (cluster_id) do update
    set holder = excluded.holder, epoch = cluster_lease.epoch + 1, expires_at = excluded.expires_at
    where cluster_lease.expires_at < clock_timestamp() or cluster_lease.holder = excluded.holder
    returning epoch, last_seq`.execute(store.db)
  const won = rows[0]
  const log = { lastSeq: BigInt(won?.last_seq ?? 0) }
  return won && { clusterId, holder, epoch: BigInt(won.epoch), log }
}

/**
 * @returns false when the lease is another's: stop writing. An expired one that nobody took is renewed.
 * @throws StoreWentBack
 */
export async function renewLease(store: Store, lease: Lease, seconds: number): Promise<boolean> {
  const { lastSeq: known } = lease.log
  const { rows } = await sql<{ last_seq: string }>`
    update cluster_lease set expires_at = clock_timestamp() + make_interval(secs => ${seconds})
    where cluster_id = ${lease.clusterId} and holder = ${lease.holder}
    and epoch = ${lease.epoch} returning last_seq`.execute(store.db)
  if (rows[0] && BigInt(rows[0].last_seq) < known) throw new StoreWentBack(lease)
  return rows.length === 1
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
  readonly lease: Lease
  readonly clusterId: number
  /** Of the change log; whoever writes entries moves it. */
  lastSeq: bigint
}

/** In a `returning`: what was changed is to survive a crash, because no position tells of its loss. */
export const FLUSHED = `set_config('synchronous_commit', 'on', true)`

/**
 * Runs `work` in a transaction under the lease, again when it fails for its neighbours' sake.
 *
 * Commits are not waited for on disk. What a crash of the database takes with it is seen by the
 * next transaction, because the change log is shorter than its only writer left it; what writes no
 * log asks for {@link FLUSHED}.
 *
 * @throws {@link LeaseLost} when the lease is another's, {@link StoreWentBack} after such a loss.
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
      const transaction = { client, lease, clusterId: lease.clusterId, lastSeq }
      const result = await work(transaction)
      await client.query('commit')
      noteLastSeq(lease, transaction.lastSeq)
      client.release()
      return result
    } catch (error) {
      await rollBack(client, error)
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
  const lastSeq = BigInt(rows[0].last_seq)
  if (lastSeq < lease.log.lastSeq) throw new StoreWentBack(lease)
  return lastSeq
}

/** Answers of two connections may come in another order than their commits. */
function noteLastSeq({ log }: Lease, lastSeq: bigint): void {
  if (lastSeq > log.lastSeq) log.lastSeq = lastSeq
}

async function rollBack(client: pg.PoolClient, because: unknown): Promise<void> {
  try {
    // What PostgreSQL did not say itself, the connection did: it is of no use any more.
    if (because instanceof Error && !(because instanceof LeaseLost) && sqlStateOf(because) === '') {
      throw because
    }
    await client.query('rollback')
    client.release()
  } catch (error) {
    // The connection is broken, and its transaction with it: the pool must not hand it out again.
    client.release(error instanceof Error ? error : true)
  }
}
