/** Large lists and slow readers: bounded memory, short transactions, and connections that survive. */
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listObjects } from '../../src/store/list-objects.ts'
import type { ListRequest } from '../../src/store/list-request.ts'
import { READ_LIMITS } from '../../src/store/portal-reader.ts'
import { applyChanges } from '../../src/store/put-objects.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { PODS, put, type TestCluster, testCluster } from './objects.ts'

const CLUSTERS = 5
const PODS_PER_CLUSTER = 10_000
const TEXT = 'x'.repeat(1_200)
/** The server itself ends a transaction that nobody goes on with after 15 s (connect.test.ts). */
const SERVER_ENDS_AFTER_SECONDS = 12

let database: TestDatabase
const clusters: TestCluster[] = []

beforeAll(async () => {
  database = await testDatabase()
  for (let c = 0; c < CLUSTERS; c++) {
    const cluster = await testCluster(database.store, `c-${c}`)
    clusters.push(cluster)
    for (let start = 0; start < PODS_PER_CLUSTER; start += 1_000) {
      const changes = Array.from({ length: 1_000 }, (_, i) =>
        put({
          metadata: {
            name: `p-${String(start + i).padStart(5, '0')}`,
            namespace: 'a',
            labels: { app: 'web' },
          },
          data: { text: TEXT },
        }),
      )
      await applyChanges(database.store, cluster.target, { changes })
    }
  }
})
afterAll(() => database.drop())

const request = (more: Partial<ListRequest> = {}): ListRequest => ({
  type: { ...PODS, id: clusters[0]!.target.typeId },
  scope: clusters.map(({ id, name }) => ({ id, name, namespaces: 'every-namespace' })),
  conditions: [],
  order: [],
  want: { cells: true, metadata: true, body: true },
  ...more,
})

/** The longest time that a transaction of the test's database has been open, in seconds. */
async function watchTransactions<T>(
  work: () => Promise<T>,
): Promise<{ result: T; seconds: number }> {
  let seconds = 0
  const look = setInterval(async () => {
    const { rows } = await database.store.pool.query<{ seconds: number }>(
      `select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0)::float8 as seconds
       from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
       and backend_type = 'client backend'`,
    )
    seconds = Math.max(seconds, rows[0]!.seconds)
  }, 100)
  try {
    return { result: await work(), seconds }
  } finally {
    clearInterval(look)
  }
}

const collectGarbage = (() => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
})()

/** What is held on to: garbage is V8's business. */
function liveBytes(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Takes rows at a given rate, as a client behind a slow line does. */
async function readSlowly(asked: ListRequest, bytesPerSecond: number) {
  let rows = 0
  let peakBytes = 0
  const seen = new Set<string>()
  for await (const batch of listObjects(database.store, asked)) {
    let bytes = 0
    for (const row of batch) {
      bytes += row.cells!.length + row.head!.length + row.metadata!.length + row.tail!.length
      const { cluster, name } = row.position()
      seen.add(`${cluster}/${name}`)
    }
    rows += batch.length
    peakBytes = Math.max(peakBytes, liveBytes())
    await delay((bytes / bytesPerSecond) * 1000)
  }
  return { rows, distinct: seen.size, peakBytes }
}

describe('a reader slower than the database', () => {
  test.each([
    { name: 'in the order of keys', conditions: [], order: [] },
    {
      name: 'sorted, of a label that all have',
      conditions: [{ on: 'label', requirement: { key: 'app', operator: 'In', values: ['web'] } }],
      order: [{ by: 'name', descending: true }],
    },
  ] satisfies Array<Partial<ListRequest> & { name: string }>)(
    'gets 50,000 objects once each, with short transactions and little memory: $name',
    { timeout: 120_000 },
    async ({ conditions, order }) => {
      const few = await readSlowly(request({ conditions, order, limit: 1_000 }), 8e6)
      const { result: all, seconds } = await watchTransactions(() =>
        readSlowly(request({ conditions, order }), 8e6),
      )
      expect(few.rows).toBe(1_000)
      expect(all.rows).toBe(CLUSTERS * PODS_PER_CLUSTER)
      expect(all.distinct).toBe(all.rows)
      expect(seconds).toBeLessThan(SERVER_ENDS_AFTER_SECONDS)
      expect((all.peakBytes - few.peakBytes) / 2 ** 20).toBeLessThan(32)
    },
  )

  test('that stops taking rows holds no transaction after about a second', async () => {
    const { seconds } = await watchTransactions(async () => {
      const list = listObjects(database.store, request())
      await list.next()
      await expect.poll(openTransactions).toBe(0)
      await list.return(undefined)
    })
    expect(seconds).toBeLessThan(SERVER_ENDS_AFTER_SECONDS)
  })
})

async function openTransactions(): Promise<number> {
  const { rows } = await database.store.pool.query<{ open: number }>(
    `select count(*)::int as open from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
     and backend_type = 'client backend'`,
  )
  return rows[0]!.open
}

const idleReaders = async () => {
  const inUse = () => {
    const { total, idle } = database.store.readers.usage()
    return total - idle
  }
  await expect.poll(inUse).toBe(0)
}

describe('a connection', () => {
  test('is used again after readers that left early', async () => {
    await idleReaders()
    for (let i = 0; i < 30; i++) {
      for await (const rows of listObjects(database.store, request())) {
        expect(rows.length).toBeGreaterThan(0)
        break
      }
    }
    await idleReaders()
    expect(database.store.readers.usage().total).toBeLessThanOrEqual(6)
    expect((await readSlowly(request({ limit: 3 }), 1e9)).rows).toBe(3)
  })

  test('that breaks in the middle is replaced, and the list goes on behind its last row', async () => {
    const list = listObjects(database.store, request())
    let rows = (await list.next()).value?.length ?? 0
    await database.store.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and state in ('active', 'idle in transaction')`,
    )
    for await (const more of list) rows += more.length
    expect(rows).toBe(CLUSTERS * PODS_PER_CLUSTER)
    expect((await readSlowly(request({ limit: 3 }), 1e9)).rows).toBe(3)
  })

  test('is free for others while a reader is slow', async () => {
    const slow = Array.from({ length: 15 }, () => listObjects(database.store, request()))
    // More than there are connections: the sixteenth reader waits about a second, not for ever.
    await Promise.all(slow.slice(0, 10).map((list) => list.next()))
    expect((await readSlowly(request({ limit: 3 }), 1e9)).rows).toBe(3)
    await Promise.all(slow.map((list) => list.return(undefined)))
    await idleReaders()
  })
})

describe('a reader that leaves while its query runs', () => {
  test('ends the query', async () => {
    const controller = new AbortController()
    const lock = await database.store.pool.connect()
    await lock.query('begin; lock table object in access exclusive mode')
    const list = listObjects(database.store, request(), { signal: controller.signal })
    const first = list.next()
    // That of the lock itself, and the one that waits for it.
    await expect.poll(openTransactions).toBe(2)
    controller.abort(new Error('gone'))
    await expect(first).rejects.toThrow('gone')
    await expect.poll(openTransactions).toBe(1)
    await lock.query('rollback')
    lock.release()
    await idleReaders()
  })
})

describe('a statement', () => {
  test('that takes too long is answered with Timeout, and its connection used again', async () => {
    const client = await database.store.readers.connect()
    await client.query('set statement_timeout = 100')
    client.release()
    const lock = await database.store.pool.connect()
    await lock.query('begin; lock table object in access exclusive mode')
    const list = listObjects(database.store, request())
    // The pool gives out the connection that was given back last.
    await expect(list.next()).rejects.toMatchObject({ reason: 'Timeout' })
    await lock.query('rollback')
    lock.release()
    await idleReaders()
    const again = await database.store.readers.connect()
    expect((await again.query('show statement_timeout')).rows).toEqual([
      { statement_timeout: '100ms' },
    ])
    await again.query('reset statement_timeout')
    again.release()
  })
})

describe('rows', () => {
  test('far larger than what is buffered come through whole', async () => {
    const cluster = await testCluster(database.store, 'large')
    const sizes = [10, 3_000_000, 70_000, 6_000_000, 65_531, 1, 65_536]
    const changes = sizes.map((size, i) =>
      put({ metadata: { name: `p-${i}`, namespace: 'a' }, data: 'é'.repeat(size / 2) }),
    )
    await applyChanges(database.store, cluster.target, { changes })
    const texts: string[] = []
    const scope = [{ id: cluster.id, name: 'large', namespaces: 'every-namespace' as const }]
    const limits = { ...READ_LIMITS, bytesBuffered: 100_000, patienceMilliseconds: 50 }
    for await (const rows of listObjects(database.store, request({ scope }), { limits })) {
      await delay(100)
      texts.push(...rows.map(({ head, metadata, tail }) => `${head}${metadata}${tail}`))
    }
    expect(texts.map((text) => JSON.parse(text).data.length)).toEqual(
      sizes.map((size) => Math.floor(size / 2)),
    )
  })
})
