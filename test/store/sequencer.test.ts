/** Fleet revisions: in commit order, without holes that a reader could see, whoever is slow or fails. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLogger } from '../../src/log.ts'
import { currentRevision, revisionBounds } from '../../src/store/fleet-revision.ts'
import { pruneChanges } from '../../src/store/prune-changes.ts'
import { applyChanges } from '../../src/store/put-objects.ts'
import { runSequencer } from '../../src/store/sequencer.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { put, type TestCluster, testCluster } from './objects.ts'

let database: TestDatabase
let running: Array<{ stop: AbortController; done: Promise<void> }> = []
beforeEach(async () => {
  database = await testDatabase()
})
afterEach(async () => {
  for (const { stop } of running) stop.abort()
  await Promise.all(running.map(({ done }) => done))
  running = []
  await database.drop()
})
afterAll(() => expect(running).toEqual([]))

function start(): AbortController {
  const stop = new AbortController()
  const done = runSequencer(database.store, { signal: stop.signal, log: createLogger('silent') })
  running.push({ stop, done })
  return stop
}

const pods = (...names: string[]) =>
  names.map((name) => put({ metadata: { name, namespace: 'a' } }))
const write = (cluster: TestCluster, ...names: string[]) =>
  applyChanges(database.store, cluster.target, { changes: pods(...names) })

interface Entry {
  readonly cluster: number
  readonly seq: number
  readonly revision: number
}

/** Every stamped change with its revision, by revision. */
async function stamped(): Promise<Entry[]> {
  const { rows } = await database.store.pool.query<Entry>(
    `select c.cluster_id as cluster, c.seq::int as seq, (b.last_revision - (b.last_seq - c.seq))::int as revision
     from change c join change_batch b on b.cluster_id = c.cluster_id and c.seq between b.first_seq and b.last_seq
     where b.last_revision is not null order by revision`,
  )
  return rows
}

const untilRevision = (revision: number) =>
  expect.poll(() => currentRevision(database.store)).toBe(String(revision))

describe('the sequencer', () => {
  test('numbers what was written before it started and after, without holes', async () => {
    const [a, b] = [await testCluster(database.store, 'a'), await testCluster(database.store, 'b')]
    await write(a, 'p-1', 'p-2')
    start()
    await untilRevision(3)
    await write(b, 'p-1')
    await write(a, 'p-3')
    await untilRevision(5)
    expect((await stamped()).map(({ revision }) => revision)).toEqual([2, 3, 4, 5])
  })

  test('does not wait for a transaction that is slow to commit, nor for one that rolls back', async () => {
    const [a, b, c] = [
      await testCluster(database.store, 'a'),
      await testCluster(database.store, 'b'),
      await testCluster(database.store, 'c'),
    ]
    start()
    // Two writers are in the middle: they have their numbers in their clusters, and no commit.
    const slow = await begun(a)
    const failing = await begun(b)
    await write(c, 'p-1')
    await untilRevision(2)
    await failing.query('rollback')
    await write(c, 'p-2')
    await untilRevision(3)
    await slow.query('commit')
    await untilRevision(4)
    slow.release()
    failing.release()
    expect((await stamped()).map(({ cluster }) => cluster)).toEqual([c.id, c.id, a.id])
  })

  test('lets no reader see a revision before all below it', async () => {
    const clusters = await Promise.all(
      ['a', 'b', 'c'].map((name) => testCluster(database.store, name)),
    )
    start()
    const writers = clusters.map(async (cluster) => {
      for (let i = 0; i < 25; i++)
        await write(cluster, ...Array.from({ length: (i % 4) + 1 }, (_, k) => `p-${i}-${k}`))
    })
    let isWriting = true
    const reader = (async () => {
      while (isWriting) {
        const latest = Number(await currentRevision(database.store))
        const revisions = (await stamped())
          .map(({ revision }) => revision)
          .filter((revision) => revision <= latest)
        expect(revisions).toEqual(Array.from({ length: latest - 1 }, (_, i) => i + 2))
      }
    })()
    await Promise.all(writers)
    isWriting = false
    await reader
    const { rows } = await database.store.pool.query('select count(*)::int as n from change')
    await untilRevision(rows[0].n + 1)
    for (const { id } of clusters) {
      const seqs = (await stamped()).filter(({ cluster }) => cluster === id).map(({ seq }) => seq)
      expect(seqs).toEqual(seqs.toSorted((x, y) => x - y))
    }
  })

  test('is one of several; another takes over when it stops or its connection breaks', async () => {
    const a = await testCluster(database.store, 'a')
    const first = start()
    await write(a, 'p-1')
    await untilRevision(2)
    start()
    first.abort()
    await write(a, 'p-2')
    await untilRevision(3)
    await database.store.pool.query(
      // Of this database only: sequencers of other files run on the same server.
      `select pg_terminate_backend(pid) from pg_locks join pg_database d on d.oid = database
       where locktype = 'advisory' and granted and datname = current_database()`,
    )
    await write(a, 'p-3')
    await untilRevision(4)
  })

  /** A writing transaction as put-objects.ts makes it, but left open. */
  async function begun(cluster: TestCluster) {
    const client = await database.store.pool.connect()
    await client.query('begin')
    await client.query('update cluster_lease set last_seq = last_seq + 1 where cluster_id = $1', [
      cluster.id,
    ])
    await client.query(
      `insert into change (cluster_id, seq, type_id, op, namespace, name, uid, resource_version)
       values ($1, 1, 1, 'A', 'a', 'x', 'x', '1')`,
      [cluster.id],
    )
    await client.query(
      'insert into change_batch (cluster_id, last_seq, first_seq) values ($1, 1, 1)',
      [cluster.id],
    )
    await client.query(`select pg_notify('fleetglass_change', '')`)
    return client
  }
})

describe('the change log', () => {
  const bounds = { maxAgeSeconds: 3600, maxChanges: 1_000, batchesAtOnce: 100 }

  test('is cut by length, oldest first, and says from where it is whole', async () => {
    const a = await testCluster(database.store, 'a')
    start()
    for (let i = 0; i < 6; i++) await write(a, `p-${i}`, `q-${i}`)
    await untilRevision(13)
    expect(await pruneChanges(database.store, { ...bounds, maxChanges: 4 })).toBe(8)
    expect(await pruneChanges(database.store, { ...bounds, maxChanges: 4 })).toBe(0)
    expect(await revisionBounds(database.store)).toEqual({ latest: '13', floor: '9' })
    expect((await stamped()).map(({ revision }) => revision)).toEqual([10, 11, 12, 13])
  })

  test('is cut by age, a bounded piece at a time', async () => {
    const a = await testCluster(database.store, 'a')
    start()
    for (let i = 0; i < 5; i++) await write(a, `p-${i}`)
    await untilRevision(6)
    await database.store.pool.query(
      `update change set at = now() - interval '2 hours' where seq <= 3`,
    )
    const some = { ...bounds, batchesAtOnce: 2 }
    expect(await pruneChanges(database.store, some)).toBe(2)
    expect(await pruneChanges(database.store, some)).toBe(1)
    expect(await pruneChanges(database.store, some)).toBe(0)
    expect(await revisionBounds(database.store)).toEqual({ latest: '6', floor: '4' })
  })

  test('keeps what has no revision yet, however old', async () => {
    const a = await testCluster(database.store, 'a')
    await write(a, 'p-1')
    await database.store.pool.query(`update change set at = now() - interval '2 hours'`)
    expect(await pruneChanges(database.store, bounds)).toBe(0)
    start()
    await untilRevision(2)
  })
})
