/**
 * Bounds the change log, by age and by length, and raises the floor below which readers get 410.
 *
 * Only stamped batches go, oldest revision first and whole, so the floor is exact.
 */
import { sql } from 'kysely'
import type { Store } from './connect.ts'

export interface ChangeLogBounds {
  readonly maxAgeSeconds: number
  readonly maxChanges: number
  /** Batches of changes deleted in one transaction. */
  readonly batchesAtOnce: number
}

/** @returns how many changes were deleted; call again until it is 0. */
export async function pruneChanges(store: Store, bounds: ChangeLogBounds): Promise<number> {
  const { maxAgeSeconds, maxChanges, batchesAtOnce } = bounds
  return store.db.transaction().execute(async (transaction) => {
    // The new floor first: a reader that sees the log shortened must see the floor raised.
    const { rows } = await sql<{ changes: number }>`
      with old as materialized (
        select b.cluster_id, b.first_seq, b.last_seq, b.last_revision
        from change_batch b
        where b.last_revision is not null and (
          b.last_revision <= (select latest from fleet_revision) - ${maxChanges}::int8
          or exists (
            select from change c where c.cluster_id = b.cluster_id and c.seq = b.last_seq
            and c.at < clock_timestamp() - make_interval(secs => ${maxAgeSeconds})))
        and b.last_revision <= (
          select max(last_revision) from (
            select last_revision from change_batch where last_revision is not null
            order by last_revision limit ${batchesAtOnce}) oldest)
      ), floor as (
        update fleet_revision set floor = greatest(floor, (select max(last_revision) from old))
        where exists (select from old) returning floor
      ), batches as (
        delete from change_batch b using floor f where b.last_revision <= f.floor
        returning b.cluster_id, b.first_seq, b.last_seq
      ), gone as (
        delete from change c using batches b
        where c.cluster_id = b.cluster_id and c.seq between b.first_seq and b.last_seq
        returning 1
      )
      select count(*)::int as changes from gone`.execute(transaction)
    return rows[0]!.changes
  })
}
