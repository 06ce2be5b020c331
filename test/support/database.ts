/** A database of its own for a test file: a copy of the migrated one that global-setup.ts made. */
import pg from 'pg'
import { inject } from 'vitest'
import { connectStore, type Store } from '../../src/store/connect.ts'
import { TEMPLATE } from './global-setup.ts'

export interface TestDatabase {
  readonly url: string
  readonly store: Store
  /** Closes the store and removes the database. */
  readonly drop: () => Promise<void>
}

export interface TestDatabaseOptions {
  /** Without any table, for tests of migrations. */
  readonly empty?: boolean
  /** What `create database` says of a locale, with `empty`. */
  readonly locale?: string
}

export async function testDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const server = inject('postgresUrl')
  if (!server) throw new Error('vitest runs without globalSetup: test/support/global-setup.ts')
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`
  await administer(
    server,
    `create database ${name} template ${options.empty ? 'template0' : TEMPLATE} ${options.locale ?? ''}`,
  )
  const url = new URL(server)
  url.pathname = name
  const store = await connectStore({ url: url.href, applicationName: 'test' })
  return {
    url: url.href,
    store,
    drop: async () => {
      await store.close()
      await administer(server, `drop database ${name} with (force)`)
    },
  }
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
