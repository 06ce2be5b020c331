/** More custom types than watches: they take turns, none is left out, and it is said. */
import { expect, test } from 'vitest'
import { connectStore, type Store } from '../../src/store/connect.ts'
import { WatchTurns } from '../../src/sync/watch-turns.ts'
import { startMemberCluster } from '../support/member-cluster.ts'
import { CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS } from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { syncedFleet } from './synced-fleet.ts'

const TYPES = 40
const PLACES = 5

function definition(i: number) {
  return {
    metadata: { name: `t${i}.many.example.com` },
    spec: {
      group: 'many.example.com',
      scope: 'Namespaced',
      names: { plural: `t${i}`, kind: `T${i}` },
      versions: [{ name: 'v1', served: true, storage: true }],
    },
  }
}

const typeOf = (i: number) => ({ group: 'many.example.com', version: 'v1', resource: `t${i}` })

test('forty types share five watches, and every change of each arrives', async () => {
  const fleet = await syncedFleet({
    limits: { customWatchesPerMember: PLACES, turnMilliseconds: 100 },
  })
  const member = await startMemberCluster()
  for (let i = 0; i < TYPES; i++) {
    member.put(CUSTOM_RESOURCE_DEFINITIONS, definition(i))
    member.put(typeOf(i), { metadata: { name: 'first', namespace: 'default' } })
  }
  await fleet.register('dot-01', {
    apiserver: member.url,
    syncResources: [{ group: '', resources: ['configmaps'] }],
    syncAllCustomResources: true,
  })
  const stored = async (name: string) =>
    (
      await fleet.query(
        `select 1 from object o join resource_type t on t.id = o.type_id
         where t.api_group = 'many.example.com' and o.name = $1`,
        [name],
      )
    ).length
  await until(async () => (await stored('first')) === TYPES)
  const said = `${TYPES} custom types take turns with ${PLACES} watches`
  await until(async () => (await fleet.condition('dot-01', 'SynchroRunning'))?.message === said)
  let most = 0
  const counting = setInterval(() => {
    const open = member.openWatches().filter(({ of }) => of.group === 'many.example.com').length
    most = Math.max(most, open)
  }, 2)
  for (let i = 0; i < TYPES; i++) {
    member.put(typeOf(i), { metadata: { name: 'second', namespace: 'default' } })
    member.remove(typeOf(i), 'default', 'first')
  }
  await until(async () => (await stored('second')) === TYPES && (await stored('first')) === 0)
  clearInterval(counting)
  // One that is just closing may overlap with the next.
  expect(most).toBeLessThanOrEqual(PLACES * 2)
  expect(member.openWatches(CONFIG_MAPS)).toHaveLength(1)
  for (let i = 0; i < TYPES; i++) {
    expect(await fleet.log('dot-01', typeOf(i))).toHaveLength(3)
    expect(await fleet.metric('dot-01', typeOf(i), 'relists_total{cause="first"}')).toBe(1)
    await expect
      .poll(async () => (await fleet.syncCondition('dot-01', typeOf(i)))?.status)
      .toBe('Syncing')
  }
  // Each was listed once: turns lose no position.
  expect(
    member
      .requests({ kind: 'list' })
      .filter(({ path, query }) => path.includes('many.example.com') && query.get('limit') !== '1'),
  ).toHaveLength(TYPES)
  await fleet.stop()
  await member.stop()
})

test('types that wait for the database leave its connections to others', async () => {
  let store: Store | undefined
  const fleet = await syncedFleet({
    through: async (url) => {
      store = await connectStore({ url, applicationName: 'test syncer', poolSize: 4 })
      return store
    },
  })
  const member = await startMemberCluster()
  const blocker = await fleet.store.pool.connect()
  await blocker.query('begin; lock table column_set in access exclusive mode')
  await fleet.register('dot-01', {
    apiserver: member.url,
    syncResources: [{ group: '*', resources: ['*'] }],
  })
  const waiting = `select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  await until(async () => (await fleet.query(waiting)).length > 0)
  await new Promise((resolve) => setTimeout(resolve, 300))
  await until(() => store?.pool.waitingCount === 0)
  // One type, and whoever reads the catalog.
  expect((await fleet.query(waiting)).length).toBeLessThanOrEqual(2)
  await blocker.query('commit')
  blocker.release()
  await fleet.ready('dot-01')
  await fleet.stop()
  await member.stop()
})

test('with room for all, no watch is ended', async () => {
  const turns = new WatchTurns(2, 5)
  const stop = new AbortController()
  let ended = 0
  const watch = () =>
    turns.run(({ seconds, signal }) => {
      expect(seconds).toBeUndefined()
      return new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          ended++
          resolve()
        })
        stop.signal.addEventListener('abort', () => resolve())
      })
    }, stop.signal)
  const both = [watch(), watch()]
  await new Promise((resolve) => setTimeout(resolve, 40))
  expect(ended).toBe(0)
  stop.abort()
  await Promise.all(both)
})

test('a group behind the aggregator is noticed as soon as it is registered', async () => {
  const fleet = await syncedFleet({ limits: { discoveryMilliseconds: 600_000 } })
  const member = await startMemberCluster()
  await fleet.register('dot-01', {
    apiserver: member.url,
    syncResources: [{ group: 'metrics.example.com', resources: ['*'] }],
  })
  await until(
    () =>
      member.openWatches({ group: 'apiregistration.k8s.io', resource: 'apiservices' }).length > 0,
  )
  const resource = {
    ...typeOf(1),
    group: 'metrics.example.com',
    kind: 'T1',
    namespaced: true,
    custom: false,
  }
  member.server.addResource({
    ...resource,
    ...{ singularName: 't1', shortNames: [], categories: [], verbs: ['get', 'list', 'watch'] },
  })
  member.put(
    { ...typeOf(1), group: 'metrics.example.com' },
    { metadata: { name: 'm', namespace: 'default' } },
  )
  member.put(
    { group: 'apiregistration.k8s.io', resource: 'apiservices' },
    {
      metadata: { name: 'v1.metrics.example.com' },
      spec: { group: 'metrics.example.com', version: 'v1' },
    },
  )
  const of = { group: 'metrics.example.com', resource: 't1' }
  await until(async () => (await fleet.rows('dot-01', of)).size === 1)
  await fleet.stop()
  await member.stop()
})

test('the status of hundreds of types is written when the cluster changes, not with each of them', {
  timeout: 60_000,
}, async () => {
  const types = 200
  const places = 20
  const fleet = await syncedFleet({
    limits: {
      ...{ customWatchesPerMember: places, turnMilliseconds: 200 },
      // So slowly that only what holds for the cluster is worth a write.
      statusBytesPerSecond: 1,
    },
  })
  const member = await startMemberCluster()
  for (let i = 0; i < types; i++) {
    member.put(CUSTOM_RESOURCE_DEFINITIONS, definition(i))
    member.put(typeOf(i), { metadata: { name: 'first', namespace: 'default' } })
  }
  let lists = 0
  let mostLists = 0
  let mostWatches = 0
  const isMany = ({ group }: { group: string }) => group === 'many.example.com'
  member.server.intercept(({ request, response }) => {
    mostWatches = Math.max(mostWatches, member.openWatches().filter(({ of }) => isMany(of)).length)
    // A list of one item asks for the revision only.
    if (request.kind !== 'list' || !isMany(request) || request.query.get('limit') === '1')
      return false
    mostLists = Math.max(mostLists, ++lists)
    response.once('close', () => lists--)
    return false
  })
  await fleet.query('create table written (bytes int)')
  await fleet.query(`create function note_written() returns trigger language plpgsql as $$
    begin insert into written values (octet_length(new.object)); return null; end $$`)
  await fleet.query(`create trigger note_written after insert on registration_event
    for each row execute function note_written()`)
  await fleet.register('dot-01', {
    apiserver: member.url,
    syncResources: [{ group: '', resources: ['configmaps'] }],
    syncAllCustomResources: true,
  })
  await until(async () => (await fleet.condition('dot-01', 'Ready'))?.status === 'True', 50_000)
  const { syncResources = [] } = (await fleet.get('dot-01')).status ?? {}
  expect(syncResources.flatMap(({ resources }) => resources)).toHaveLength(types + 1)
  const written = await fleet.query<{ bytes: number }>('select bytes from written')
  // The registration, and conditions on the way to Ready; the types are in some of them.
  expect(written.length).toBeLessThan(12)
  const large = written.filter(({ bytes }) => bytes > 20_000)
  expect(large.length).toBeGreaterThan(0)
  expect(large.length).toBeLessThan(6)
  expect(mostLists).toBeLessThanOrEqual(2)
  // One that is just closing may overlap with the next.
  expect(mostWatches).toBeLessThanOrEqual(places * 2)
  await fleet.stop()
  await member.stop()
})
