/**
 * Writes the mirror of one type of one cluster: rows, status tokens, change log and position.
 *
 * Lists and watches take the same path. A row whose uid, resourceVersion, version and columns are
 * those in the store is skipped, and logs nothing.
 */
import { movePosition, type SyncPosition } from './cluster-resources.ts'
import type { Store } from './connect.ts'
import { type FencedTransaction, type Lease, underLease } from './leases.ts'
import { CHANGE_CHANNEL, notifyCatalogChangeBy } from './notifications.ts'
import type { ObjectChange, ObjectKey } from './object-row.ts'
import { refreshStatistics } from './refresh-statistics.ts'
import { type ChangeCounts, type LogCursor, noChanges, writeChanges } from './write-changes.ts'
import { isRefusal, type RefusedChange, writeOneByOne } from './write-one-by-one.ts'

export interface WriteTarget {
  readonly lease: Lease
  readonly typeId: number
  readonly columnsId: number
}

export interface ChangeBatch {
  readonly changes: readonly ObjectChange[]
  /** Stored with the changes, so that a restart goes on exactly behind them. */
  readonly position?: SyncPosition
}

export interface WriteResult extends ChangeCounts {
  /** What PostgreSQL cannot hold. Everything else of the batch is stored, the position included. */
  readonly refused: readonly RefusedChange[]
}

/**
 * Stores one batch in one transaction. The caller bounds it, by rows and by bytes.
 *
 * @throws LeaseLost when another process writes this cluster now.
 */
export async function applyChanges(
  store: Store,
  target: WriteTarget,
  batch: ChangeBatch,
): Promise<WriteResult> {
  const changes = latestOfEachKey(batch.changes)
  const write = (careful: boolean) =>
    underLease(store, target.lease, async (transaction) => {
      const log: LogCursor = { lastSeq: transaction.lastSeq }
      const into = { transaction, target, log }
      const result = careful
        ? await writeOneByOne(into, changes)
        : { ...(await writeChanges(into, changes)), refused: [] }
      if (batch.position) await movePosition(transaction, target.typeId, batch.position)
      await closeLog(transaction, log)
      return result
    })
  try {
    return await write(false)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return write(true)
  }
}

/** A complete list compares everything. */
const RECONCILED = `update cluster_resource set reconciled_at = clock_timestamp()
  where cluster_id = $1 and type_id = $2`

/** How many keys are read, and rows deleted, at once. */
const SWEEP_ROWS = 5_000

/** What a list has seen, and what it can say nothing of. */
export interface ListedKeys {
  /** `namespace/name` of every object of the list (`/name` when cluster-scoped). */
  readonly seen: ReadonlySet<string>
  /** Namespaces that could not be listed: their rows stay. */
  readonly unseen?: ReadonlySet<string>
  /** Left out when something could not be listed: a watch cannot start. */
  readonly position?: SyncPosition
}

/** Ends a complete list: deletes what it did not see, and sets the position, in one transaction. */
export async function finishList(
  store: Store,
  target: WriteTarget,
  end: ListedKeys,
): Promise<ChangeCounts> {
  const counts = await underLease(store, target.lease, async (transaction) => {
    const log: LogCursor = { lastSeq: transaction.lastSeq }
    const counts = noChanges()
    let last: ObjectKey | undefined
    do {
      const keys = await keysAfter(transaction, target.typeId, last)
      const gone = keys.filter(
        ({ namespace, name }) =>
          !end.seen.has(`${namespace}/${name}`) && !end.unseen?.has(namespace),
      )
      const deleted = await writeChanges(
        { transaction, target, log },
        gone.map((key) => ({ op: 'delete', key })),
      )
      counts.deleted += deleted.deleted
      last = keys.length === SWEEP_ROWS ? keys.at(-1) : undefined
    } while (last)
    await movePosition(transaction, target.typeId, end.position)
    if (end.position)
      await transaction.client.query(RECONCILED, [transaction.clusterId, target.typeId])
    await closeLog(transaction, log)
    return counts
  })
  await refreshStatistics(store, target.lease.clusterId)
  return counts
}

/**
 * Forgets a type of a cluster: its rows, logged as deleted, and then what is known of it.
 *
 * Each batch is a transaction of its own; after a crash it is simply called again.
 */
export async function removeClusterResource(
  store: Store,
  lease: Lease,
  typeId: number,
): Promise<void> {
  const target: WriteTarget = { lease, typeId, columnsId: 0 }
  for (let more = true; more; ) {
    more = await underLease(store, lease, async (transaction) => {
      const log: LogCursor = { lastSeq: transaction.lastSeq }
      const keys = await keysAfter(transaction, typeId, undefined)
      await writeChanges(
        { transaction, target, log },
        keys.map((key) => ({ op: 'delete', key })),
      )
      const isLast = keys.length < SWEEP_ROWS
      await forgetType(transaction, { typeId, isLast })
      await closeLog(transaction, log)
      return !isLast
    })
  }
}

async function forgetType(
  { client, clusterId }: FencedTransaction,
  { typeId, isLast }: { typeId: number; isLast: boolean },
): Promise<void> {
  await client.query(
    isLast
      ? 'delete from cluster_resource where cluster_id = $1 and type_id = $2'
      : `update cluster_resource set resource_version = null, control_plane_uid = null
         where cluster_id = $1 and type_id = $2`,
    [clusterId, typeId],
  )
  if (isLast) await notifyCatalogChangeBy(client)
}

async function keysAfter(
  { client, clusterId }: FencedTransaction,
  typeId: number,
  last: ObjectKey | undefined,
): Promise<readonly ObjectKey[]> {
  const { rows } = await client.query<ObjectKey>(
    `select namespace, name from object
     where cluster_id = $1 and type_id = $2 and (namespace, name) > ($3, $4)
     order by namespace, name limit $5`,
    [clusterId, typeId, last?.namespace ?? '', last?.name ?? '', SWEEP_ROWS],
  )
  return rows
}

/** Counts the log under the lease row, and hands the batch to the sequencer. */
async function closeLog(transaction: FencedTransaction, log: LogCursor): Promise<void> {
  const { client, clusterId, lastSeq } = transaction
  if (log.lastSeq === lastSeq) return
  await client.query(CLOSE_LOG, [clusterId, log.lastSeq, lastSeq + 1n])
  transaction.lastSeq = log.lastSeq
}

export const CLOSE_LOG = `
with counted as (
  update cluster_lease set last_seq = $2 where cluster_id = $1
), batch as (
  insert into change_batch (cluster_id, last_seq, first_seq) values ($1, $2, $3)
)
select pg_notify('${CHANGE_CHANNEL}', '')`

/** One change for each key, the last one, sorted by key: so two batches never lock crosswise. */
function latestOfEachKey(changes: readonly ObjectChange[]): readonly ObjectChange[] {
  const latest = new Map<string, ObjectChange>()
  for (const change of changes) {
    const { namespace, name } = change.op === 'put' ? change.row : change.key
    latest.set(`${namespace}/${name}`, change)
  }
  return [...latest].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change)
}
