/** A mirror that is older than it may be says so, and a type in which nothing happens does not. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { staleWarning } from '../../src/apiserver/warnings.ts'
import { loadCatalog } from '../../src/store/catalog.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { CONFIG_MAPS, PODS } from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { inStep } from './in-step.ts'
import { type SyncedFleet, syncedFleet } from './synced-fleet.ts'

const WIDGETS = { group: 'shop.example.com', version: 'v1', resource: 'widgets' }
const LIST = [
  { group: '', resources: ['configmaps', 'pods'] },
  { group: 'shop.example.com', resources: ['*'] },
]
const LAG_MILLISECONDS = 2_000

let fleet: SyncedFleet
let member: MemberCluster
let name = ''
let count = 0

beforeAll(async () => {
  fleet = await syncedFleet({
    limits: {
      lagMilliseconds: LAG_MILLISECONDS,
      healthMilliseconds: 50,
      follow: { idleMilliseconds: 400 },
      batch: { rows: 1 },
    },
  })
})

afterAll(async () => await fleet.stop())

beforeEach(async () => {
  name = `dot-${++count}`
  member = await startMemberCluster({ bookmarkSeconds: 0.1 })
  const resource = { ...WIDGETS, kind: 'Widget', namespaced: true, custom: true }
  member.server.addResource({
    ...resource,
    ...{ singularName: 'widget', shortNames: [], categories: [], verbs: ['get', 'list', 'watch'] },
  })
  // No bookmark ever comes of them, as of an API server of its own kind behind the aggregator.
  member.holdBackWatches(WIDGETS)
  put('one')
  await fleet.register(name, { apiserver: member.url, syncResources: LIST })
  await fleet.ready(name)
})

afterEach(async () => {
  await fleet.remove(name)
  await member.stop()
})

const put = (one: string) =>
  member.put(CONFIG_MAPS, { metadata: { name: one, namespace: 'default' } })
const condition = () => fleet.syncCondition(name, CONFIG_MAPS)
const reason = async () => (await condition())?.reason
const laggingTypes = async () =>
  new RegExp(`^fleetglass_sync_lagging_types\\{cluster="${name}"\\} (\\d+)$`, 'm').exec(
    await fleet.metrics(),
  )?.[1]
const inStepAgain = () => inStep({ fleet, member, cluster: name }, CONFIG_MAPS)

/** What a reader of ConfigMaps is told. */
async function warnings(): Promise<readonly string[]> {
  const { clusters } = await loadCatalog(fleet.store)
  const cluster = clusters.find((one) => one.name === name)!
  const resource = cluster.resources.find((one) => one.resource === 'configmaps')!
  return staleWarning([{ cluster, resource, servesVersion: true }], Date.now())
}

test('watches that are accepted, and of which nothing comes: since when is said, once', async () => {
  const before = Date.now()
  const release = member.holdBackWatches(CONFIG_MAPS)
  member.cutWatches(CONFIG_MAPS)
  put('two')
  await until(async () => (await reason()) === 'Lagging')
  const { status, message = '' } = (await condition()) ?? {}
  expect(status).toBe('Error')
  const since = /^Lagging: last event (\S+Z)$/.exec(message)?.[1] ?? ''
  expect(Date.parse(since)).toBeGreaterThan(before - 60_000)
  expect(Date.parse(since)).toBeLessThanOrEqual(Date.now() - LAG_MILLISECONDS)
  await until(async () => (await warnings()).length > 0)
  expect(await warnings()).toEqual([
    `not in step, and shown as last seen: ${name} (${message}; last in step ${since})`,
  ])
  expect(await laggingTypes()).toBe('1')
  await expect.poll(async () => (await fleet.syncCondition(name, PODS))?.reason).toBe('Watching')
  const version = (await fleet.get(name)).metadata.resourceVersion
  // Some more watches that are given up.
  const watches = member.requests({ of: CONFIG_MAPS, kind: 'watch' }).length
  await until(() => member.requests({ of: CONFIG_MAPS, kind: 'watch' }).length > watches + 2)
  expect((await condition())?.message).toBe(message)
  expect((await fleet.get(name)).metadata.resourceVersion).toBe(version)
  release()
  await inStepAgain()
  await until(async () => (await reason()) === 'Watching')
  await until(async () => (await laggingTypes()) === '0')
  expect(await warnings()).toEqual([])
  expect(await fleet.log(name, CONFIG_MAPS)).toEqual(['A default/one', 'A default/two'])
})

test('a type in which nothing happens is quiet, with bookmarks and without', async () => {
  const watches = () => member.requests({ of: WIDGETS, kind: 'watch' }).length
  const before = watches()
  const seen = new Set<string | undefined>()
  // Given up, and opened again, for longer than a lag is.
  await until(async () => {
    seen.add((await fleet.syncCondition(name, WIDGETS))?.reason).add(await reason())
    return watches() > before + 6
  })
  expect([...seen]).toEqual(['Watching'])
})

test('changes that wait to be stored for too long are said, and that they are stored', async () => {
  await fleet.query(`create function slow() returns trigger language plpgsql
    as $$ begin perform pg_sleep(2.5); return null; end $$`)
  await fleet.query('create trigger slow after insert on change execute function slow()')
  for (let i = 0; i < 4; i++) put(`c-${i}`)
  await until(async () => (await reason()) === 'Lagging')
  expect((await condition())?.message).toMatch(/^Lagging: changes wait to be stored since 20\S+Z$/)
  await fleet.query('drop trigger slow on change')
  await inStepAgain()
  await until(async () => (await reason()) === 'Watching')
  expect(await fleet.log(name, CONFIG_MAPS)).toHaveLength(5)
})
