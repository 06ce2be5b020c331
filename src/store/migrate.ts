/** Brings a database to the schema of this release: migrations/*.sql in order, under a lock. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { type Store, StoreUnavailable } from './connect.ts'

/** Any constant: what all processes of all releases agree to lock while they migrate. */
const MIGRATION_LOCK = 7_140_351_001n
const DIRECTORY = join(import.meta.dirname, '../../migrations')

/**
 * @returns the names of the files that were applied now, in order.
 * @throws {@link StoreUnavailable} when the database was migrated by a newer release.
 */
export async function migrate(store: Store, directory = DIRECTORY): Promise<readonly string[]> {
  const known = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()
  // Migrations and the wait for another process's may take longer than a query should.
  const client = await store.dedicated({ patient: true })
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    const applied = await appliedMigrations(client)
    refuseNewer(known, applied)
    const missing = known.filter((name) => !applied.has(name))
    for (const name of missing) await applyOne(client, directory, name)
    return missing
  } finally {
    await client.end()
  }
}

async function appliedMigrations(client: pg.Client): Promise<ReadonlySet<string>> {
  await client.query(
    `create table if not exists schema_migration (
       name text collate "C" primary key, applied_at timestamptz not null default now())`,
  )
  const { rows } = await client.query<{ name: string }>('select name from schema_migration')
  return new Set(rows.map(({ name }) => name))
}

function refuseNewer(known: readonly string[], applied: ReadonlySet<string>): void {
  const unknown = [...applied].filter((name) => !known.includes(name)).sort()
  if (unknown.length > 0) {
    throw new StoreUnavailable(
      `the database was migrated by a newer release of fleetglass (${unknown.join(', ')}): use that release`,
    )
  }
}

async function applyOne(client: pg.Client, directory: string, name: string): Promise<void> {
  const text = await readFile(join(directory, name), 'utf8')
  await client.query('begin')
  try {
    await client.query(text)
    await client.query('insert into schema_migration (name) values ($1)', [name])
    await client.query('commit')
  } catch (error) {
    // A connection that broke has no transaction left; what broke it is what to tell.
    await client.query('rollback').catch(() => undefined)
    throw new Error(`migration ${name} failed: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
}
