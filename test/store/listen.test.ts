/** Being told of what others write: whatever becomes of the connection, and without leaving one behind. */
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLogger } from '../../src/log.ts'
import type { Store } from '../../src/store/connect.ts'
import { currentRevision } from '../../src/store/fleet-revision.ts'
import { listen } from '../../src/store/listen.ts'
import { applyChanges } from '../../src/store/put-objects.ts'
import { runSequencer } from '../../src/store/sequencer.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { put, testCluster } from './objects.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

/** The store, with its dedicated connections counted; `refuses` makes opening one fail. */
function countedStore() {
  const open = new Set<pg.Client>()
  const faults = { refuses: false }
  const dedicated = async () => {
    if (faults.refuses) throw new Error('connection refused')
    const client = await database.store.dedicated()
    open.add(client)
    client.once('end', () => open.delete(client))
    return client
  }
  const store: Store = { ...database.store, dedicated }
  return { store, open, faults }
}

const notify = (channel: string) => database.store.pool.query(`notify ${channel}`)
const kill = (client: pg.Client) =>
  database.store.pool.query('select pg_terminate_backend($1)', [
    (client as pg.Client & { processID: number }).processID,
  ])

test('begins without a database, and listens once it answers', async () => {
  const { store, open, faults } = countedStore()
  faults.refuses = true
  let heard = 0
  const stop = await listen(store, { channel: 'late', pollSeconds: 60, listener: () => heard++ })
  expect(open.size).toBe(0)
  faults.refuses = false
  await until(() => open.size === 1 && heard === 1)
  await notify('late')
  await until(() => heard === 2)
  await stop()
  await until(() => open.size === 0)
})

test('a connection that breaks is replaced, and told of as if something had come', async () => {
  const { store, open } = countedStore()
  let heard = 0
  const stop = await listen(store, { channel: 'broken', pollSeconds: 60, listener: () => heard++ })
  const [first] = open
  await kill(first!)
  await until(() => heard === 1)
  expect([...open]).toHaveLength(1)
  expect(open.has(first!)).toBe(false)
  await notify('broken')
  await until(() => heard === 2)
  await stop()
})

test('a channel that cannot be listened to leaves no connection open', async () => {
  const { store, open } = countedStore()
  const stop = await listen(store, {
    channel: 'not a name',
    pollSeconds: 60,
    listener: () => undefined,
  })
  await until(() => open.size === 0)
  await stop()
})

test('a poll may have a listener of its own', async () => {
  let polls = 0
  let heard = 0
  const stop = await listen(database.store, {
    channel: 'polled',
    pollSeconds: 0.01,
    listener: () => heard++,
    onPoll: () => polls++,
  })
  await until(() => polls > 2)
  expect(heard).toBe(0)
  await stop()
})

test('a sequencer that loses its connections opens as many again, and none when it is stopped', async () => {
  const { store, open } = countedStore()
  const cluster = await testCluster(database.store, 'sequenced')
  const stopping = new AbortController()
  const done = runSequencer(store, { signal: stopping.signal, log: createLogger('silent') })
  for (let round = 0; round < 3; round++) {
    const before = BigInt(await currentRevision(database.store))
    const changes = [put({ metadata: { name: `p-${round}`, namespace: 'a' } })]
    await applyChanges(database.store, cluster.target, { changes })
    await expect.poll(async () => BigInt(await currentRevision(database.store))).toBe(before + 1n)
    expect(open.size).toBe(2)
    await Promise.all([...open].map(kill))
  }
  stopping.abort()
  await done
  await until(() => open.size === 0)
})
