/**
 * `npm run bench:churn`: a million updates of 100,000 pods on the embedded PostgreSQL as `serve`
 * starts it, with its real autovacuum; how large the database is before and after.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runUpkeep } from '../../src/cli/parts/upkeep.ts'
import { startEmbeddedPostgres } from '../../src/cli/postgres/embedded-postgres.ts'
import { systemClock } from '../../src/clock.ts'
import { createLogger } from '../../src/log.ts'
import { connectStore } from '../../src/store/connect.ts'
import { migrate } from '../../src/store/migrate.ts'
import { Churn, databaseBytes } from './churn-objects.ts'
import { printLine, sizesAsked } from './settings.ts'

const ROUNDS = 20
const RATE = 1_000

const { clusters, pods } = sizesAsked()
const updates = clusters * pods * 10
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`
const dataDir = mkdtempSync(join(tmpdir(), 'fleetglass-bench-'))
const log = createLogger('error')
const stopping = new AbortController()
const postgres = await startEmbeddedPostgres(dataDir, log)
try {
  const store = await connectStore({ url: postgres.url, applicationName: 'bench' })
  await migrate(store)
  const upkeep = runUpkeep(
    { store, log, clock: systemClock, changeLogHours: 24, changeLogChanges: 1_000_000 },
    stopping.signal,
  )
  const churn = await Churn.start(store, { clusters, podsPerCluster: pods })
  const before = await databaseBytes(store)
  printLine(`${clusters * pods} pods`, megabytes(before))
  let largest = 0
  for (let round = 1; round <= ROUNDS; round++) {
    const start = performance.now()
    await churn.update(updates / ROUNDS)
    const seconds = (performance.now() - start) / 1000
    await delay(Math.max(0, (updates / ROUNDS / RATE - seconds) * 1000))
    const now = await databaseBytes(store)
    largest = Math.max(largest, now)
    const rate = `${(updates / ROUNDS / seconds).toFixed(0)}/s while writing`
    printLine(`after ${(updates / ROUNDS) * round} updates`, megabytes(now), rate)
  }
  printLine('the largest was', `${(largest / before).toFixed(2)} times`)
  const { rows } = await store.pool.query<{ name: string; bytes: string }>(
    `select regexp_replace(relname, '_[0-9]+(_|$)', '_N\\1') as name, sum(pg_relation_size(oid)) as bytes
     from pg_class group by 1 having sum(pg_relation_size(oid)) > 4e6 order by 2 desc`,
  )
  for (const { name, bytes } of rows) printLine(`  ${name}`, megabytes(Number(bytes)))
  stopping.abort()
  await upkeep
  await store.close()
} finally {
  await postgres.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
