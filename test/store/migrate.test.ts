/** Migrations: once each, whoever starts at the same time, and never backwards. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../src/store/connect.ts'
import { checkSchema, migrate } from '../../src/store/migrate.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'

let database: TestDatabase
let directory: string
beforeEach(async () => {
  database = await testDatabase({ empty: true })
  directory = await mkdtemp(join(tmpdir(), 'fleetglass-migrations-'))
})
afterEach(async () => {
  await database.drop()
  await rm(directory, { recursive: true })
})

const write = (name: string, text: string) => writeFile(join(directory, name), text)
const tables = async () => {
  const { rows } = await database.store.pool.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
  )
  return rows.map(({ name }) => name)
}

describe('migrations', () => {
  test('of this release make the schema, and the second time nothing', async () => {
    const applied = await migrate(database.store)
    expect(applied[0]).toBe('0001_store.sql')
    expect(applied).toEqual(applied.toSorted())
    expect(await migrate(database.store)).toEqual([])
    expect(await tables()).toContain('cluster_lease')
  })

  test('are applied once when several processes start together', async () => {
    await write('0001_a.sql', 'create table a (x int4); select pg_sleep(0.2);')
    const applied = await Promise.all([1, 2, 3].map(() => migrate(database.store, directory)))
    expect(applied.flat()).toEqual(['0001_a.sql'])
  })

  test('that fail leave nothing of theirs, and keep those before', async () => {
    await write('0001_a.sql', 'create table a (x int4);')
    await write('0002_b.sql', 'create table b (x int4); select 1/0;')
    await expect(migrate(database.store, directory)).rejects.toThrow(
      'migration 0002_b.sql failed: division by zero',
    )
    expect(await tables()).toEqual(['a', 'schema_migration'])
    await write('0002_b.sql', 'create table b (x int4);')
    expect(await migrate(database.store, directory)).toEqual(['0002_b.sql'])
  })

  test('of a newer release are not touched, and it goes on beside them', async () => {
    await write('0001_a.sql', '')
    await write('0002_b.sql', '')
    await migrate(database.store, directory)
    await rm(join(directory, '0002_b.sql'))
    expect(await migrate(database.store, directory)).toEqual([])
    await checkSchema(database.store, directory)
  })

  test('of a newer release that say that they break with it: nothing of it starts', async () => {
    await write('0001_a.sql', '')
    await write('0002_b.sql', '-- breaking: table a is gone\n')
    await migrate(database.store, directory)
    await rm(join(directory, '0002_b.sql'))
    for (const start of [migrate, checkSchema]) {
      const error = await start(database.store, directory).catch((caught: unknown) => caught)
      expect(error).toBeInstanceOf(StoreUnavailable)
      expect((error as Error).message).toBe(
        'the database was migrated by a newer release of fleetglass, with which this one cannot work (0002_b.sql): use that release',
      )
    }
  })

  test('that are missing: a process that makes none says so', async () => {
    await write('0001_a.sql', '')
    const missing = 'the database has not got 0001_a.sql yet: run fleetglass migrate first'
    await expect(checkSchema(database.store, directory)).rejects.toThrow(missing)
    await migrate(database.store, directory)
    await checkSchema(database.store, directory)
  })

  test('tables of a release that noted no breaks are taken over', async () => {
    await database.store.pool.query(
      `create table schema_migration (name text primary key, applied_at timestamptz not null default now());
       insert into schema_migration (name) values ('0001_a.sql')`,
    )
    await write('0001_a.sql', '')
    await write('0002_b.sql', '')
    await expect(checkSchema(database.store, directory)).rejects.toThrow('0002_b.sql')
    expect(await migrate(database.store, directory)).toEqual(['0002_b.sql'])
  })
})

test('every partition compresses bodies as well as this server can', async () => {
  await migrate(database.store)
  const { rows } = await database.store.pool.query(
    `select distinct attcompression, 'lz4' = any (enumvals) as has_lz4
     from pg_attribute join pg_class c on c.oid = attrelid, pg_settings
     where relname ~ '^object_[0-9]+$' and attname = 'tail' and pg_settings.name = 'default_toast_compression'`,
  )
  expect(rows).toEqual([{ attcompression: rows[0].has_lz4 ? 'l' : 'p', has_lz4: rows[0].has_lz4 }])
})

test('what parallel workers refuse is not offered to them', async () => {
  await migrate(database.store)
  const { rows } = await database.store.pool.query<{ name: string; parallel: string }>(
    `select proname as name, proparallel as parallel from pg_proc
     where pronamespace = 'public'::regnamespace and prosrc ~ '\\mexception\\M' order by proname`,
  )
  const names = ['nodes_at_odd_path', 'nodes_at_path', 'values_at_path']
  expect(rows).toEqual(names.map((name) => ({ name, parallel: 'u' })))
})
