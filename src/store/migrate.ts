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
 * @throws {@link StoreUnavailable} when a newer release made it what this one cannot work with.
 */
export async function migrate(store: Store, directory = DIRECTORY): Promise<readonly string[]> {
  const known = await migrationsIn(directory)
  // Migrations and the wait for another process's may take longer than a query should.
  const client = await store.dedicated({ patient: true })
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    await client.query(MIGRATIONS_TABLE)
    const applied = await appliedMigrations(client)
    refuseBreaking(known, applied)
    const missing = known.filter((name) => !applied.has(name))
    for (const name of missing) await applyOne(client, directory, name)
    return missing
  } finally {
    await client.end()
  }
}

/**
 * Holds a process that migrates nothing to the schema it needs: the one of its release, or a newer
 * one that says that this release can go on working on it.
 *
 * @throws {@link StoreUnavailable} when it is an older one, or one that breaks with this release.
 */
export async function checkSchema(store: Store, directory = DIRECTORY): Promise<void> {
  const known = await migrationsIn(directory)
  const client = await store.pool.connect()
  try {
    const applied = await appliedMigrations(client)
    refuseBreaking(known, applied)
    const missing = known.filter((name) => !applied.has(name))
    if (missing.length === 0) return
    throw new StoreUnavailable(
      `the database has not got ${missing.join(', ')} yet: run fleetglass migrate first`,
      { passing: 'it has not been migrated to the schema of this release yet' },
    )
  } finally {
    client.release()
  }
}

async function migrationsIn(directory: string): Promise<readonly string[]> {
  return (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()
}

const MIGRATIONS_TABLE = `
create table if not exists schema_migration (
  name text collate "C" primary key, applied_at timestamptz not null default now());
alter table schema_migration add column if not exists breaking bool not null default false`

/** By name, whether releases that do not know it must not go on. */
async function appliedMigrations(client: pg.ClientBase): Promise<ReadonlyMap<string, boolean>> {
  const { rows: found } = await client.query<{ known: boolean }>(
    `select to_regclass('schema_migration') is not null as known`,
  )
  if (!found[0]?.known) return new Map()
  // As JSON, because a table from before has no such column.
  const { rows } = await client.query<{ name: string; breaking: string | null }>(
    `select name, to_jsonb(m) ->> 'breaking' as breaking from schema_migration m`,
  )
  return new Map(rows.map(({ name, breaking }) => [name, breaking === 'true']))
}

/** What adds only is none of our business: the release after ours is being rolled out. */
function refuseBreaking(known: readonly string[], applied: ReadonlyMap<string, boolean>): void {
  const unknown = [...applied].filter(([name, breaking]) => breaking && !known.includes(name))
  if (unknown.length === 0) return
  const names = unknown.map(([name]) => name).sort()
  throw new StoreUnavailable(
    `the database was migrated by a newer release of fleetglass, with which this one cannot work (${names.join(', ')}): use that release`,
  )
}

/** How a file says that the release before cannot work on what it makes. */
const BREAKING = /^-- breaking:/

async function applyOne(client: pg.Client, directory: string, name: string): Promise<void> {
  const text = await readFile(join(directory, name), 'utf8')
  await client.query('begin')
  try {
    await client.query(text)
    await client.query('insert into schema_migration (name, breaking) values ($1, $2)', [
      name,
      BREAKING.test(text),
    ])
    await client.query('commit')
  } catch (error) {
    // A connection that broke has no transaction left; what broke it is what to tell.
    await client.query('rollback').catch(() => undefined)
    throw new Error(`migration ${name} failed: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
}
