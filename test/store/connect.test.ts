/** What a person who gave a wrong URL reads, and what a client reads when the database fails. */
import { createServer } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StatusError } from '../../src/kube/status-error.ts'
import { loadCatalog } from '../../src/store/catalog.ts'
import { connectStore, StoreUnavailable } from '../../src/store/connect.ts'
import { fromPostgres } from '../../src/store/pg-error.ts'
import { applyChanges } from '../../src/store/put-objects.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { testCluster } from './objects.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

const connect = (url: string) => connectStore({ url, applicationName: 'test' })
const edited = (edit: (url: URL) => void) => {
  const url = new URL(database.url)
  edit(url)
  return url.href
}

describe('a database that cannot be used is explained in one sentence', () => {
  const cases: ReadonlyArray<{ name: string; url: () => string; says: RegExp }> = [
    {
      name: 'no URL at all',
      url: () => 'localhost:5432',
      says: /^the database URL must start with postgres:\/\//,
    },
    {
      name: 'another database',
      url: () => 'mysql://localhost/x',
      says: /^the database URL must start with/,
    },
    {
      name: 'rubbish',
      url: () => 'postgres://:::',
      says: /^cannot use the database at the given URL: the URL is malformed$/,
    },
    {
      name: 'nothing listens',
      url: () => 'postgres://u:s3cret@127.0.0.1:1/db',
      says: /^cannot use the database at 127.0.0.1:1\/db: nothing listens there$/,
    },
    {
      name: 'no such host',
      url: () => 'postgres://u:s3cret@no-such-host.invalid/db',
      says: /^cannot use the database at no-such-host.invalid\/db: the host name (is not known|cannot be looked up)$/,
    },
    {
      name: 'no such database',
      url: () =>
        edited((url) => {
          url.pathname = 'none'
        }),
      says: /\/none: there is no such database$/,
    },
    {
      name: 'no such user',
      url: () =>
        edited((url) => {
          url.username = 'nobody-here'
          url.password = 's3cret'
        }),
      says: /: the user (may not log in|name or password is wrong)$/,
    },
    {
      name: 'no such socket',
      url: () => 'postgres:///db?host=/no/such/directory',
      says: /: there is no such socket$/,
    },
  ]
  test.each(cases)('$name', async ({ url, says }) => {
    const error = await connect(url()).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect((error as Error).message).toMatch(says)
    expect((error as Error).message).not.toContain('s3cret')
    expect((error as Error).message).not.toContain('\n')
  })

  test('an encoding that cannot hold every object', async () => {
    const admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
    const name = `ascii_${crypto.randomUUID().replaceAll('-', '')}`
    await admin.query(`create database ${name} encoding 'SQL_ASCII' template template0`)
    await expect(
      connect(
        edited((url) => {
          url.pathname = name
        }),
      ),
    ).rejects.toThrow('must have encoding UTF8, not SQL_ASCII')
    await admin.query(`drop database ${name}`)
    await admin.end()
  })

  test('a server that accepts and says nothing', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as { port: number }
    await expect(connect(`postgres://u@127.0.0.1:${port}/db`)).rejects.toThrow('it does not answer')
    silent.close()
  })
})

test('writers that wait for a lease leave readers their connections', async () => {
  const store = await connectStore({ url: database.url, applicationName: 'test', poolSize: 2 })
  const cluster = await testCluster(store, 'contended')
  const blocker = await database.store.pool.connect()
  await blocker.query('begin')
  await blocker.query('select from cluster_lease where cluster_id = $1 for update', [cluster.id])
  const position = { resourceVersion: '1', controlPlaneUid: 'cp' }
  const writes = Array.from({ length: 6 }, () =>
    applyChanges(store, cluster.target, { changes: [], position }),
  )
  const reads = Array.from({ length: 50 }, () => loadCatalog(store))
  expect((await Promise.all(reads)).every(({ clusters }) => clusters.length === 1)).toBe(true)
  await blocker.query('commit')
  blocker.release()
  await Promise.all(writes)
  await store.close()
})

test('a transaction that nobody goes on with is ended by the server', async () => {
  const { rows } = await database.store.pool.query('show idle_in_transaction_session_timeout')
  expect(rows).toEqual([{ idle_in_transaction_session_timeout: '15s' }])
})

describe('JSON', () => {
  test('stays text, with every digit', async () => {
    const { rows } = await database.store.pool.query(
      `select '{"a":12345678901234567890}'::json as j, '[1.10]'::jsonb as b, 9007199254740993::int8 as n`,
    )
    expect(rows).toEqual([{ j: '{"a":12345678901234567890}', b: '[1.10]', n: '9007199254740993' }])
  })
})

describe('what a failure of the database means to a client', () => {
  const failing = async (
    work: (client: pg.Client) => Promise<unknown>,
    config: pg.ClientConfig = {},
  ) => {
    const client = new pg.Client({ connectionString: database.url, ...config })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await work(client)
    } catch (error) {
      return fromPostgres(error)
    } finally {
      await client.end().catch(() => undefined)
    }
    throw new Error('it did not fail')
  }
  const cases: ReadonlyArray<{ name: string; fail: () => Promise<unknown>; reason: string }> = [
    {
      name: 'a statement over its time',
      fail: () =>
        failing((client) => client.query('select pg_sleep(5)'), { statement_timeout: 20 }),
      reason: 'Timeout',
    },
    {
      name: 'a backend that is terminated',
      fail: () =>
        failing((client) => client.query('select pg_terminate_backend(pg_backend_pid())')),
      reason: 'ServiceUnavailable',
    },
    {
      name: 'a database that refuses writes',
      fail: () =>
        failing(async (client) => {
          await client.query('set default_transaction_read_only = on')
          await client.query('delete from cluster')
        }),
      reason: 'ServiceUnavailable',
    },
    {
      name: 'nobody listens',
      fail: () =>
        failing(() => Promise.resolve(), { connectionString: 'postgres://127.0.0.1:1/x' }),
      reason: 'ServiceUnavailable',
    },
    {
      name: 'a lock that is not had',
      fail: () =>
        failing((client) =>
          client.query(`do $$ begin raise exception using errcode = '55P03'; end $$`),
        ),
      reason: 'ServiceUnavailable',
    },
  ]
  test.each(cases)('$name', async ({ fail, reason }) => {
    const error = await fail()
    expect(error).toBeInstanceOf(StatusError)
    expect(error).toMatchObject({ reason })
    expect((error as StatusError).message).toMatch(/^the (query|database)/)
  })

  test('a connection that the pool has not got', async () => {
    const pool = new pg.Pool({
      connectionString: database.url,
      max: 1,
      connectionTimeoutMillis: 50,
    })
    const held = await pool.connect()
    const error = await pool.query('select 1').catch(fromPostgres)
    held.release()
    await pool.end()
    expect(error).toMatchObject({
      reason: 'ServiceUnavailable',
      message: 'the database has no connection free',
    })
  })

  test.each([
    new Error('anything'),
    'text',
    undefined,
    Object.assign(new Error('x'), { code: '42601' }),
  ])('a defect of ours stays what it is: %s', (error) => {
    expect(fromPostgres(error)).toBe(error)
  })
})
