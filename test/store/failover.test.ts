/** A real standby is read from, falls behind, is lost, and is promoted behind a proxy that switches. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createLogger } from '../../src/log.ts'
import { connectStore, type Store } from '../../src/store/connect.ts'
import { currentRevision, revisionBounds } from '../../src/store/fleet-revision.ts'
import { acquireLease, StoreWentBack } from '../../src/store/leases.ts'
import { listObjects } from '../../src/store/list-objects.ts'
import type { RawRow } from '../../src/store/list-request.ts'
import { migrate } from '../../src/store/migrate.ts'
import { applyChanges } from '../../src/store/put-objects.ts'
import { type Freshness, openReadView } from '../../src/store/read-view.ts'
import { runSequencer } from '../../src/store/sequencer.ts'
import {
  type PostgresServer,
  type Standby,
  startPostgres,
  startStandby,
} from '../support/postgres-server.ts'
import { SwitchingProxy } from '../support/switching-proxy.ts'
import { until } from '../support/until.ts'
import { PODS, put, type TestCluster, testCluster } from './objects.ts'

let primary: PostgresServer
let standby: Standby
/** What is given as --database-url and --read-database-url. */
let front: SwitchingProxy
let readFront: SwitchingProxy
let store: Store
let cluster: TestCluster
let stopSequencer: AbortController
let sequencer: Promise<void>

const portOf = ({ url }: { readonly url: string }) => Number(new URL(url).port)
const urlOf = (proxy: SwitchingProxy) => `postgres://postgres@127.0.0.1:${proxy.port}/postgres`

beforeAll(async () => {
  primary = await startPostgres('embedded')
})
beforeEach(async () => {
  front = await SwitchingProxy.start(portOf(primary))
  const first = await connectStore({ url: primary.url, applicationName: 'test' })
  await first.pool.query('drop schema public cascade; create schema public')
  await migrate(first)
  await first.close()
  standby = await startStandby(primary)
  readFront = await SwitchingProxy.start(portOf(standby))
  store = await connectStore({
    ...{ url: urlOf(front), readUrl: urlOf(readFront), applicationName: 'test' },
    statementTimeoutSeconds: 3,
  })
  cluster = await testCluster(store, 'dot-01')
  stopSequencer = new AbortController()
  const log = createLogger('silent')
  sequencer = runSequencer(store, { signal: stopSequencer.signal, log })
})
afterEach(async () => {
  stopSequencer.abort()
  await sequencer
  await store.close()
  for (const proxy of [front, readFront]) proxy.stop()
  await standby.stop()
})
afterAll(() => primary.stop())

async function write(...names: readonly string[]): Promise<void> {
  const before = BigInt(await currentRevision(store))
  const changes = names.map((name) => put({ metadata: { name, namespace: 'a' } }))
  await applyChanges(store, cluster.target, { changes })
  await until(async () => BigInt(await currentRevision(store)) === before + BigInt(names.length))
}

const request = () => ({
  type: { ...PODS, id: cluster.target.typeId },
  scope: [{ id: cluster.id, name: 'dot-01', namespaces: 'every-namespace' as const }],
  conditions: [],
  order: [],
  want: { cells: true, metadata: true, body: true },
})

async function namesIn(from: Store): Promise<readonly string[]> {
  const names: string[] = []
  for await (const rows of listObjects(from, request())) {
    names.push(...rows.map((row) => row.position().name))
  }
  return names
}

async function read(freshness: Freshness) {
  const view = await openReadView(store, freshness)
  return { revision: await view.revision(), names: await namesIn(view.store) }
}

const onStandby = async (statement: string) => {
  const other = await connectStore({ url: standby.url, applicationName: 'admin' })
  try {
    return (await other.pool.query(statement)).rows
  } finally {
    await other.close()
  }
}

describe('a read replica', () => {
  test('answers in the place of the primary, and never with less than was committed', async () => {
    for (let i = 0; i < 10; i++) {
      await write(`p-${i}`)
      expect((await read('latest')).names).toHaveLength(i + 1)
    }
    const [{ reads }] = (await onStandby(
      "select count(*)::int as reads from pg_stat_activity where application_name = 'test'",
    )) as [{ reads: number }]
    expect(reads).toBeGreaterThan(0)
    expect(store.replica?.trouble).toBeUndefined()
  })

  test('that is behind: what is new is waited for, then the primary answers; what is content with less is not held up', async () => {
    await write('p-0')
    expect((await read('any')).names).toEqual(['p-0'])
    await onStandby('select pg_wal_replay_pause()')
    await until(async () => {
      const [row] = await onStandby('select pg_get_wal_replay_pause_state() as state')
      return row?.state === 'paused'
    })
    await write('p-1')
    expect(await read('any')).toMatchObject({ names: ['p-0'] })
    const waiting = read('latest')
    setTimeout(() => void onStandby('select pg_wal_replay_resume()'), 200)
    expect((await waiting).names).toEqual(['p-0', 'p-1'])
    await onStandby('select pg_wal_replay_pause()')
    await write('p-2')
    const { revision, names } = await read('latest')
    expect(names).toEqual(['p-0', 'p-1', 'p-2'])
    expect(store.replica?.trouble).toBe('it is behind the primary')
    expect(await read({ atLeast: BigInt(revision) })).toMatchObject({ revision, names })
    const beyond = BigInt(revision) + 1n
    expect(
      BigInt(await openReadView(store, { atLeast: beyond }).then((v) => v.revision())),
    ).toBeLessThan(beyond)
    await onStandby('select pg_wal_replay_resume()')
    await until(() => store.replica?.trouble === undefined)
  })

  test('that is gone: the primary answers, and it is used again once it is back', async () => {
    await write('p-0')
    readFront.switchTo()
    readFront.cut()
    expect((await read('latest')).names).toEqual(['p-0'])
    await until(() => store.replica?.trouble === 'it does not answer')
    expect((await read('any')).names).toEqual(['p-0'])
    readFront.switchTo(portOf(standby))
    await until(() => store.replica?.trouble === undefined)
  })

  test('whose replay needs rows that a list still reads: the list goes on behind its last row', async () => {
    const names = Array.from({ length: 3_000 }, (_, i) => `p-${String(i).padStart(4, '0')}`)
    await write(...names)
    const view = await openReadView(store, 'latest')
    const rows = listObjects(view.store, request())
    const first: readonly RawRow[] = (await rows.next()).value ?? []
    const seen = first.map((row) => row.position().name)
    // What is removed and cleaned up on the primary is under the list's eyes on the standby.
    await store.pool.query('delete from object where name = $1', [names.at(-1)])
    await store.pool.query('vacuum object')
    await until(async () => {
      const [row] = await onStandby(
        'select sum(confl_snapshot + confl_bufferpin)::int as conflicts from pg_stat_database_conflicts',
      )
      return Number(row?.conflicts) > 0
    })
    for await (const more of rows) seen.push(...more.map((row) => row.position().name))
    expect(seen).toEqual(names.slice(0, -1))
  })
})

describe('a failover', () => {
  /** As a cluster manager does it: the old primary takes no writes, the standby some that it has. */
  async function failOver(lose: () => Promise<void>): Promise<void> {
    await until(async () => {
      const { rows } = await store.pool.query(
        "select pg_current_wal_lsn() = replay_lsn as same from pg_stat_replication where application_name = 'standby'",
      )
      return rows[0]?.same === true
    })
    await onStandby("alter system set primary_conninfo = ''")
    await onStandby('select pg_reload_conf()')
    await until(async () => (await onStandby('select from pg_stat_wal_receiver')).length === 0)
    await lose()
    await standby.promote()
    front.switchTo(portOf(standby))
    readFront.switchTo(portOf(primary))
  }
  afterEach(async () => {
    const admin = await connectStore({ url: primary.url, applicationName: 'admin' })
    await admin.pool.query('alter system reset default_transaction_read_only')
    await admin.pool.query('select pg_reload_conf()')
    await admin.close()
  })
  const makeReadOnly = async () => {
    const admin = await connectStore({ url: primary.url, applicationName: 'admin' })
    await admin.pool.query('alter system set default_transaction_read_only = on')
    await admin.pool.query('select pg_reload_conf()')
    await admin.close()
  }

  test('to a standby that lacks the last transactions: writers notice, revisions are never given out again', async () => {
    await write('p-0')
    let lost = '0'
    await failOver(async () => {
      await write('p-1', 'p-2')
      lost = await currentRevision(store)
      await makeReadOnly()
    })
    // Connections to the former primary are still open: the first write finds out, and is repeated.
    await until(async () => {
      try {
        await applyChanges(store, cluster.target, {
          changes: [put({ metadata: { name: 'p-3', namespace: 'a' } })],
        })
        return true
      } catch (error) {
        return error instanceof StoreWentBack
      }
    })
    const lease = await acquireLease(store, { clusterId: cluster.id, holder: 'test', seconds: 60 })
    const target = { ...cluster.target, lease: lease! }
    const changes = ['p-1', 'p-2'].map((name) => put({ metadata: { name, namespace: 'a' } }))
    await applyChanges(store, target, { changes })
    await until(async () => BigInt(await currentRevision(store)) > BigInt(lost))
    const { latest, floor } = await revisionBounds(store)
    expect(BigInt(floor)).toBeGreaterThan(BigInt(lost))
    expect(BigInt(latest)).toBe(BigInt(floor) + 2n)
    expect(await namesIn(store)).toEqual(['p-0', 'p-1', 'p-2'])
  })

  test('with connections that are reset, or lead to a host that is gone: each is replaced', async () => {
    await write('p-0')
    const writes = (name: string) => async () => {
      const changes = [put({ metadata: { name, namespace: 'a' } })]
      return applyChanges(store, cluster.target, { changes }).then(
        () => true,
        () => false,
      )
    }
    front.cut()
    await until(writes('p-1'))
    front.silence()
    await until(writes('p-2'))
    // 1 is the revision of an empty store; the sequencer had a connection of its own.
    await until(async () => (await currentRevision(store)) === '4')
    expect(await namesIn(store)).toEqual(['p-0', 'p-1', 'p-2'])
  })
})
