/** The database is away for longer than a lease: what happens meanwhile waits at the members. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { runUpkeep } from '../../src/cli/parts/upkeep.ts'
import { type Clock, systemClock } from '../../src/clock.ts'
import { createLogger } from '../../src/log.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { hugeConfigMap } from '../support/odd-objects.ts'
import { type ProxiedStore, proxiedStore } from '../support/proxied-store.ts'
import { CONFIG_MAPS, NAMESPACES } from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { inStep } from './in-step.ts'
import { type SyncedFleet, syncedFleet } from './synced-fleet.ts'

const MEBIBYTE = 1024 * 1024
const LIST = [{ group: '', resources: ['configmaps', 'namespaces'] }]

let fleet: SyncedFleet
let member: MemberCluster
let database: ProxiedStore

beforeAll(async () => {
  fleet = await syncedFleet({
    limits: { leaseSeconds: 1, queueBytes: 4 * MEBIBYTE, lagMilliseconds: 1_000 },
    through: async (url) => {
      database = await proxiedStore(url)
      return database.store
    },
  })
})

afterAll(async () => {
  await fleet.stop()
  await database.proxy.stop()
})

beforeEach(async () => {
  member = await startMemberCluster({ bookmarkSeconds: 0.2 })
})

afterEach(async () => await member.stop())

async function metric(series: string): Promise<number> {
  const line = (await fleet.metrics()).split('\n').find((one) => one.startsWith(`${series} `))
  return Number(line?.slice(series.length) ?? 0)
}

test('memory stays bounded, it is said, and afterwards it goes on where it was', async () => {
  const put = (name: string) => member.put(CONFIG_MAPS, hugeConfigMap(name, 100_000))
  for (let i = 0; i < 50; i++) put(`c-${i}`)
  await fleet.register('dot-01', { apiserver: member.url, syncResources: LIST })
  await fleet.ready('dot-01')
  const mirror = { fleet, member, cluster: 'dot-01' }
  await inStep(mirror, CONFIG_MAPS)
  await database.proxy.stop()
  const waiting = () => metric('fleetglass_sync_queue_bytes')
  let most = 0
  for (let round = 0; round < 20; round++) {
    for (let i = 0; i < 10; i++) put(`d-${round}-${i}`)
    member.remove(CONFIG_MAPS, 'odd', `c-${round}`)
    most = Math.max(most, await waiting())
    await new Promise((resolve) => setTimeout(resolve, 150))
  }
  expect(most).toBeGreaterThan(3 * MEBIBYTE)
  expect(most).toBeLessThanOrEqual(4 * MEBIBYTE)
  // Of namespaces nothing waits: that they are quiet is known.
  await until(async () => (await metric('fleetglass_sync_lagging_types{cluster="dot-01"}')) === 1)
  expect(await metric('fleetglass_sync_write_errors_total')).toBeGreaterThan(0)
  await database.proxy.start()
  await until(async () => (await fleet.rows('dot-01', CONFIG_MAPS)).size === 230, 15_000)
  await inStep(mirror, CONFIG_MAPS)
  await fleet.ready('dot-01')
  await until(async () => (await fleet.syncCondition('dot-01', CONFIG_MAPS))?.reason === 'Watching')
  const log = await fleet.log('dot-01', CONFIG_MAPS)
  expect(log).toHaveLength(50 + 200 + 20)
  expect(new Set(log).size).toBe(log.length)
  const lists = member.requests({ of: CONFIG_MAPS, kind: 'list' })
  expect(lists.filter(({ query }) => query.get('limit') !== '1')).toHaveLength(1)
  expect(await fleet.metric('dot-01', CONFIG_MAPS, 'relists_total{cause="expired"}')).toBe(0)
  await fleet.remove('dot-01')
})

test('a cluster is removed, and the database goes away in the middle of its purge', async () => {
  for (let i = 0; i < 50; i++) {
    member.put(CONFIG_MAPS, { metadata: { name: `c-${i}`, namespace: 'default' } })
  }
  await fleet.register('gone', { apiserver: member.url, syncResources: LIST })
  await fleet.ready('gone')
  const [{ id } = { id: 0 }] = await fleet.query<{ id: number }>(
    `select id from cluster where name = 'gone' and removed_at is null`,
  )
  const left = async () =>
    (await fleet.query('select 1 from object where cluster_id = $1', [id])).length
  await member.goDown()
  await fleet.remove('gone')
  expect((await fleet.rows('gone', CONFIG_MAPS)).size).toBe(0)
  expect(await left()).toBeGreaterThan(50)
  const blocker = await fleet.store.pool.connect()
  await blocker.query('begin')
  await blocker.query('select from object where cluster_id = $1 for update', [id])
  const stopping = new AbortController()
  const upkeep = startUpkeep(stopping.signal)
  const purging = `select 1 from pg_stat_activity where datname = current_database()
    and wait_event_type = 'Lock' and query like '%delete from "object"%'`
  await until(async () => (await fleet.query(purging)).length > 0)
  await database.proxy.stop()
  await blocker.query('commit')
  blocker.release()
  await until(async () => (await fleet.query(purging)).length === 0)
  // Its name is free at once.
  await member.comeBack()
  await fleet.register('gone', { apiserver: member.url, syncResources: LIST })
  expect((await fleet.rows('gone', CONFIG_MAPS)).size).toBe(0)
  await database.proxy.start()
  await until(async () => (await left()) === 0, 15_000)
  const known = 'select 1 from cluster where id = $1'
  await until(async () => (await fleet.query(known, [id])).length === 0, 15_000)
  await fleet.ready('gone')
  await inStep({ fleet, member, cluster: 'gone' }, CONFIG_MAPS)
  await inStep({ fleet, member, cluster: 'gone' }, NAMESPACES)
  expect(await fleet.log('gone', CONFIG_MAPS)).toHaveLength(50)
  expect(await fleet.metric('gone', CONFIG_MAPS, 'relists_total{cause="first"}')).toBe(1)
  stopping.abort()
  await upkeep
  await fleet.remove('gone')
})

/** As every process has it, but for the waiting. */
function startUpkeep(signal: AbortSignal): Promise<void> {
  const clock: Clock = {
    now: () => systemClock.now(),
    sleep: (milliseconds, signal) => systemClock.sleep(Math.min(milliseconds, 50), signal),
  }
  const log = createLogger('silent')
  const bounds = { changeLogHours: 24, changeLogChanges: 1_000_000 }
  return runUpkeep({ store: database.store, log, clock, ...bounds }, signal)
}
