/**
 * What PostgreSQL alone needs for the same bytes, measured in the same run: COPY of all stored pods
 * out of the mirror, and of the same bytes into a table of plain text.
 *
 * A figure of ours says little on a machine that is busy; how many times its floor it is does.
 */
import type { Store } from '../../src/store/connect.ts'

export interface Floor {
  readonly copyOutSeconds: number
  readonly copyInSeconds: number
}

/** On the server's own disk, so that no client takes part. */
export async function measureFloor(store: Store): Promise<Floor> {
  const client = await store.dedicated()
  try {
    await client.query('set statement_timeout = 0')
    await client.query('create unlogged table bench_floor (body text)')
    const copyOutSeconds = await timed(() =>
      client.query(`copy (select o.head || o.metadata || o.tail from object o
        join resource_type t on t.id = o.type_id where t.resource = 'pods') to program 'cat >/dev/null'`),
    )
    const copyInSeconds = await timed(() =>
      client.query(`insert into bench_floor select o.head || o.metadata || o.tail from object o
        join resource_type t on t.id = o.type_id where t.resource = 'pods'`),
    )
    return { copyOutSeconds, copyInSeconds }
  } finally {
    await client.query('drop table if exists bench_floor')
    await client.end()
  }
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}
