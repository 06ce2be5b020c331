/**
 * What goes wrong around the store while a member is mirrored into it: after each fault the rows,
 * the change log, the condition and the metrics are right.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { expect, test } from 'vitest'
import { builtInResources } from '../../src/demo/recorded.ts'
import type { GroupResource } from '../../src/kube/group-resource.ts'
import { createLogger } from '../../src/log.ts'
import { loadCatalog } from '../../src/store/catalog.ts'
import { connectStore, type Store } from '../../src/store/connect.ts'
import { currentRevision } from '../../src/store/fleet-revision.ts'
import { runSequencer } from '../../src/store/sequencer.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, PODS } from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { inStep as rightAbout } from './in-step.ts'
import { oneMember } from './one-member.ts'
import type { SyncedFleet } from './synced-fleet.ts'

const LIST = [{ group: '', resources: ['configmaps', 'namespaces'] }]
const WIDGETS = { group: 'shop.example.com', version: 'v1', resource: 'widgets' }

let fleet: SyncedFleet
/** The syncer's own, with two connections for everything that writes nothing. */
let syncerStore: Store
let member: MemberCluster
let name = ''

oneMember(
  {
    fleet: {
      through: async (url) => {
        syncerStore = await connectStore({ url, applicationName: 'test syncer', poolSize: 2 })
        return syncerStore
      },
    },
    member: { bookmarkSeconds: 3600 },
  },
  (made) => {
    fleet = made.fleet
    member = made.member
    name = made.name
  },
)

const put = (one: string, value = '1', namespace = 'default') =>
  member.put(CONFIG_MAPS, { metadata: { name: one, namespace }, data: { value } })

async function mirrorIt(spec: object = {}) {
  await fleet.register(name, { apiserver: member.url, syncResources: LIST, ...spec })
  await fleet.ready(name)
}

/** As counted by the syncer that runs now: of a type, or of all. */
const events = (of: GroupResource = CONFIG_MAPS) => fleet.metric(name, of, 'events_total')

async function total(series: string): Promise<number> {
  const start = `fleetglass_sync_${series} `
  const line = (await fleet.metrics()).split('\n').find((one) => one.startsWith(start))
  return Number(line?.slice(start.length) ?? 0)
}

/** Rows and condition, the whole of the change log, and how many events were taken. */
async function right(log: readonly string[], taken: number, of: GroupResource = CONFIG_MAPS) {
  await rightAbout({ fleet, member, cluster: name }, of)
  expect(await fleet.log(name, of)).toEqual(log)
  expect(await events(of)).toBe(taken)
  await expect.poll(async () => (await fleet.syncCondition(name, of))?.reason).toBe('Watching')
}

async function begun(): Promise<pg.PoolClient> {
  const client = await fleet.store.pool.connect()
  await client.query('begin')
  return client
}

const clusterId = async () =>
  (await loadCatalog(fleet.store)).clusters.find((one) => one.name === name)!.id

/** Backends of the syncer that wait for a lock. */
const waiting = () =>
  fleet.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database()
     and application_name = 'test syncer' and wait_event_type = 'Lock'`,
  )

test('integers above 2^53 keep their digits, in the object and in what is printed of it', async () => {
  const columns = [{ name: 'Id', type: 'integer', jsonPath: '.spec.id' }]
  member.put(CUSTOM_RESOURCE_DEFINITIONS, {
    metadata: { name: 'widgets.shop.example.com' },
    spec: {
      group: 'shop.example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget', singular: 'widget' },
      versions: [{ name: 'v1', served: true, storage: true, additionalPrinterColumns: columns }],
    },
  })
  const widget = (one: string, id: string) =>
    member.put(
      WIDGETS,
      Buffer.from(
        `{"metadata":{"name":"${one}","namespace":"default"},"spec":{"id":${id},"fsGroup":9007199254740993}}`,
      ),
    )
  widget('listed', '9223372036854775807')
  await mirrorIt({ syncResources: [{ group: 'shop.example.com', resources: ['*'] }] })
  widget('watched', '9007199254740993')
  await right(['A default/listed', 'A default/watched'], 1, WIDGETS)
  const rows = await fleet.rows(name, WIDGETS)
  expect([...rows.values()].map(({ cells }) => cells)).toEqual([
    '"listed",9223372036854775807',
    '"watched",9007199254740993',
  ])
  expect(rows.get('default/watched')?.text).toContain('"fsGroup":9007199254740993')
  expect(await fleet.metric(name, WIDGETS, 'refused_objects_total')).toBe(0)
})

test('seven thousand objects of one page are one transaction', { timeout: 60_000 }, async () => {
  await fleet.stopSyncer()
  await fleet.startSyncer({
    follow: { pageItems: 7_000 },
    batch: { rows: 7_000, lingerMilliseconds: 30_000 },
  })
  const names = Array.from({ length: 7_000 }, (_, i) => `c-${String(i).padStart(4, '0')}`)
  for (const one of names) put(one)
  await mirrorIt({ syncResources: [{ group: '', resources: ['configmaps'] }] })
  await right(
    names.map((one) => `A default/${one}`),
    0,
  )
  const batches = await fleet.query<{ changes: number }>(
    `select (last_seq - first_seq + 1)::int as changes from change_batch b
     join cluster c on c.id = b.cluster_id where c.name = $1`,
    [name],
  )
  expect(batches).toEqual([{ changes: 7_000 }])
  expect(await total('rows_total{change="added"}')).toBe(7_000)
  await fleet.stopSyncer()
  await fleet.startSyncer()
})

test('a deadlock with another transaction is no failure, and writes nothing twice', async () => {
  put('one')
  await mirrorIt()
  const [modified, failures] = [
    await total('rows_total{change="modified"}'),
    await total('write_errors_total'),
  ]
  const other = await begun()
  // Whoever looks first loses; here that is always the syncer.
  await other.query(`set local deadlock_timeout = '1min'`)
  await other.query('select from object where cluster_id = $1 for update', [await clusterId()])
  put('one', '2')
  await until(async () => (await waiting()).length > 0)
  await other.query('select from cluster_lease where cluster_id = $1 for update', [
    await clusterId(),
  ])
  await other.query('commit')
  other.release()
  await right(['A default/one', 'M default/one'], 1)
  expect(await total('rows_total{change="modified"}')).toBe(modified + 1)
  expect(await total('write_errors_total')).toBe(failures)
})

test('commits out of order and one that is rolled back: revisions have no gap, and none waits', async () => {
  const stop = new AbortController()
  const log = createLogger('silent')
  const sequencing = runSequencer(fleet.store, { signal: stop.signal, log })
  const otherMember = await startMemberCluster({ bookmarkSeconds: 3600 })
  const other = `${name}-other`
  put('one')
  await mirrorIt()
  await fleet.register(other, { apiserver: otherMember.url, syncResources: LIST })
  await fleet.ready(other)
  const failures = await total('write_errors_total')
  const revision = async () => Number(await currentRevision(fleet.store))
  const logged = async () =>
    Number((await fleet.query<{ n: string }>('select count(*) as n from change'))[0]!.n)
  await until(async () => (await revision()) === (await logged()) + 1)
  // The write of this cluster has its numbers and does not commit; that of the other one does.
  const blocker = await begun()
  await blocker.query('select from object where cluster_id = $1 for update', [await clusterId()])
  put('one', '2')
  await until(async () => (await waiting()).length === 1)
  const before = await revision()
  otherMember.put(CONFIG_MAPS, { metadata: { name: 'other', namespace: 'default' } })
  await until(async () => (await revision()) === before + 1)
  expect(await fleet.log(other, CONFIG_MAPS)).toEqual(['A default/other'])
  const [writer] = await waiting()
  await fleet.query('select pg_terminate_backend($1)', [writer!.pid])
  await blocker.query('commit')
  blocker.release()
  await right(['A default/one', 'M default/one'], 1)
  await rightAbout({ fleet, member: otherMember, cluster: other }, CONFIG_MAPS)
  await until(async () => (await revision()) === before + 2)
  expect(await revision()).toBe((await logged()) + 1)
  expect(await total('write_errors_total')).toBe(failures + 1)
  await fleet.remove(other)
  await otherMember.stop()
  stop.abort()
  await sequencing
})

test('writes that wait for a lock leave connections to whoever reads', async () => {
  put('one')
  await mirrorIt()
  const others = [`${name}-2`, `${name}-3`]
  for (const other of others) {
    await fleet.register(other, { apiserver: member.url, syncResources: LIST })
    await fleet.ready(other)
  }
  const blocker = await begun()
  await blocker.query('select from cluster_lease for update')
  put('one', '2')
  // More than the connections there are for all that is no write of objects.
  await until(async () => (await waiting()).length > 2)
  const reads = Array.from({ length: 50 }, () => loadCatalog(syncerStore))
  expect((await Promise.all(reads)).every(({ clusters }) => clusters.length > 0)).toBe(true)
  expect(await total('queue_bytes')).toBeGreaterThan(0)
  await blocker.query('commit')
  blocker.release()
  await right(['A default/one', 'M default/one'], 1)
  for (const other of others) {
    await rightAbout({ fleet, member, cluster: other }, CONFIG_MAPS)
    await fleet.remove(other)
  }
  expect(await total('queue_bytes')).toBe(0)
})

test('a transaction that nobody goes on with is ended by the server, and what was unchanged is not written', async () => {
  for (const one of ['one', 'two']) put(one)
  await mirrorIt()
  const forgotten = await syncerStore.writers.connect()
  // Whoever holds the connection learns of its end; here nobody does.
  forgotten.on('error', () => undefined)
  const setting = await forgotten.query('show idle_in_transaction_session_timeout')
  expect(setting.rows).toEqual([{ idle_in_transaction_session_timeout: '15s' }])
  await forgotten.query(`begin; set local idle_in_transaction_session_timeout = '300ms'`)
  await forgotten.query('select from cluster_lease where cluster_id = $1 for update', [
    await clusterId(),
  ])
  const unchanged = await total('rows_total{change="unchanged"}')
  member.expireNextWatchByStatus(CONFIG_MAPS)
  member.cutWatches(CONFIG_MAPS)
  put('one', '2')
  await right(['A default/one', 'A default/two', 'M default/one'], 0)
  expect(await total('rows_total{change="unchanged"}')).toBe(unchanged + 1)
  expect(await fleet.metric(name, CONFIG_MAPS, 'relists_total{cause="expired"}')).toBe(1)
  forgotten.release(true)
})

test('a lease that another took is respected at once, and taken back when it is free', async () => {
  await fleet.stopSyncer()
  await fleet.startSyncer({ leaseSeconds: 1 })
  put('one')
  await mirrorIt()
  await fleet.query(
    `update cluster_lease set holder = 'thief', epoch = epoch + 1,
       expires_at = now() + interval '1 hour' where cluster_id = $1`,
    [await clusterId()],
  )
  put('two')
  await delay(400)
  expect(await fleet.log(name, CONFIG_MAPS)).toEqual(['A default/one'])
  await fleet.query("update cluster_lease set expires_at = now() where holder = 'thief'")
  await until(async () => (await fleet.rows(name, CONFIG_MAPS)).size === 2)
  await right(['A default/one', 'A default/two'], 1)
  // It goes on where it was, and is not read anew.
  expect(await fleet.metric(name, CONFIG_MAPS, 'relists_total{cause="first"}')).toBe(0)
  await fleet.stopSyncer()
  await fleet.startSyncer()
})

test('namespaces and clusters whose names begin alike are not each other', async () => {
  const longer = `${name}-west`
  for (const namespace of ['ns1', 'ns11']) put('same', '1', namespace)
  await mirrorIt({ namespaces: ['ns1'] })
  await fleet.register(longer, { apiserver: member.url, syncResources: LIST })
  await fleet.ready(longer)
  await rightAbout({ fleet, member, cluster: longer }, CONFIG_MAPS)
  member.remove(CONFIG_MAPS, 'ns11', 'same')
  put('next', '1', 'ns1')
  await until(async () => (await fleet.rows(name, CONFIG_MAPS)).size === 2)
  await right(['A ns1/same', 'A ns1/next'], 1)
  await rightAbout({ fleet, member, cluster: longer }, CONFIG_MAPS)
  expect(await fleet.metric(longer, CONFIG_MAPS, 'events_total')).toBe(2)
  // The shorter name goes, and takes nothing of the longer with it.
  await fleet.remove(name)
  expect((await fleet.rows(name, CONFIG_MAPS)).size).toBe(0)
  expect((await fleet.rows(longer, CONFIG_MAPS)).size).toBe(2)
  await fleet.register(name, { apiserver: member.url, syncResources: LIST })
  await fleet.remove(longer)
})

test('a wildcard takes in no subresource, and follows each type once', async () => {
  // Plain discovery has them among the resources; this one could even be listed.
  member.server.upgrade('v1.20.15')
  const pods = builtInResources().find((one) => one.resource === 'pods')!
  const details = { name: 'details', kind: 'Pod', verbs: ['get', 'list', 'watch'] }
  member.server.addResource({ ...pods, subresources: [...(pods.subresources ?? []), details] })
  member.put(PODS, { metadata: { name: 'p', namespace: 'default' } })
  await mirrorIt({
    syncResources: [
      { group: '*', resources: ['*'] },
      { group: '', resources: ['pods'] },
    ],
    syncAllCustomResources: true,
  })
  await right(['A default/p'], 0, PODS)
  const { syncResources = [] } = (await fleet.get(name)).status ?? {}
  const names = syncResources.flatMap(({ group, resources }) =>
    resources.map((one) => `${one.name}.${group}`),
  )
  expect(names).toContain('pods.')
  expect(names.filter((one) => one.includes('/'))).toEqual([])
  expect(new Set(names).size).toBe(names.length)
  expect(member.openWatches(PODS)).toHaveLength(1)
  const asked = member.requests().map(({ path }) => path)
  expect(asked.filter((path) => /\/pods\/./.test(path))).toEqual([])
  expect(await fleet.metric(name, PODS, 'relists_total{cause="first"}')).toBe(1)
})
