/**
 * What many updates do to the size of the database: `npm run bench:churn` in small, without its
 * clock. Autovacuum looks once in a while; here it looks after every so many updates, and cleans
 * what is due by the settings that the migrations gave the tables.
 */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLogger } from '../../src/log.ts'
import { pruneChanges } from '../../src/store/prune-changes.ts'
import { runSequencer } from '../../src/store/sequencer.ts'
import { Churn, databaseBytes } from '../bench/churn-objects.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'

const SIZES = { clusters: 4, podsPerCluster: 250 }
const PODS = SIZES.clusters * SIZES.podsPerCluster
/** What a minute of 1,000 changes a second is to 120,000 objects. */
const UPDATES_BETWEEN_LOOKS = PODS / 2
/** The log that is kept by default, as a share of the mirror it was measured with. */
const CHANGES_KEPT = 10 * PODS

let database: TestDatabase
const stopping = new AbortController()
let sequencer: Promise<void>
beforeEach(async () => {
  database = await testDatabase()
  const log = createLogger('silent')
  sequencer = runSequencer(database.store, { signal: stopping.signal, log })
})
afterEach(async () => {
  stopping.abort()
  await sequencer
  await database.drop()
})

/** PostgreSQL's rule: threshold + scale factor × rows; a setting of the table wins over the server's. */
const DUE = `
  with setting as (
    select c.oid, c.relname as name, c.reltuples,
      (select option_value from pg_options_to_table(c.reloptions)
       where option_name = 'autovacuum_vacuum_scale_factor')::float8 as factor,
      (select option_value from pg_options_to_table(c.reloptions)
       where option_name = 'autovacuum_vacuum_threshold')::float8 as threshold
    from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
  )
  select name from setting
  where (name ~ '^object_' and exists (select from change) or name in ('change', 'change_batch'))
  and $1 > coalesce(threshold, current_setting('autovacuum_vacuum_threshold')::float8)
    + coalesce(factor, current_setting('autovacuum_vacuum_scale_factor')::float8) * greatest(reltuples, 0)`

async function vacuumWhatIsDue(): Promise<number> {
  const { pool } = database.store
  const { rows } = await pool.query<{ name: string }>(DUE, [UPDATES_BETWEEN_LOOKS / SIZES.clusters])
  for (const { name } of rows) await pool.query(`vacuum ${name}`)
  return rows.length
}

test('updates of everything many times over leave it under twice its size', async () => {
  const churn = await Churn.start(database.store, SIZES)
  await vacuumWhatIsDue()
  const before = await databaseBytes(database.store)
  let largest = 0
  for (let updates = 0; updates < 15 * PODS; updates += UPDATES_BETWEEN_LOOKS) {
    await churn.update(UPDATES_BETWEEN_LOOKS)
    largest = Math.max(largest, await databaseBytes(database.store))
    expect(await vacuumWhatIsDue()).toBeGreaterThan(0)
    const bounds = { maxAgeSeconds: 86_400, maxChanges: CHANGES_KEPT, batchesAtOnce: 500 }
    await pruneChanges(database.store, bounds)
  }
  const { rows } = await database.store.pool.query(`select count(*)::int as pods from object`)
  expect(rows).toEqual([{ pods: PODS }])
  expect(largest / before).toBeLessThan(2)
})
