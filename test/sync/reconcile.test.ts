/** What a member's watch did not tell is found by comparing, from time to time and when asked. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { requestReconcile } from '../../src/store/reconcile.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { CONFIG_MAPS, PODS } from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { inStep } from './in-step.ts'
import { type SyncedFleet, syncedFleet } from './synced-fleet.ts'

const LIST = [{ group: '', resources: ['configmaps', 'pods'] }]
const PROGRAM = join(import.meta.dirname, '../../hack/fleetglass.mjs')

let fleet: SyncedFleet
let member: MemberCluster
let name = ''
let count = 0

beforeAll(async () => {
  fleet = await syncedFleet()
})

afterAll(async () => await fleet.stop())

beforeEach(async () => {
  name = `dot-${++count}`
  member = await startMemberCluster({ bookmarkSeconds: 3600 })
  for (const one of ['one', 'two', 'three']) {
    member.put(CONFIG_MAPS, { metadata: { name: one, namespace: 'default' } })
  }
  await fleet.register(name, { apiserver: member.url, syncResources: LIST })
  await fleet.ready(name)
})

afterEach(async () => {
  await fleet.remove(name)
  await member.stop()
})

const keys = async () => [...(await fleet.rows(name, CONFIG_MAPS)).keys()].join()
const fullLists = () =>
  member
    .requests({ of: CONFIG_MAPS, kind: 'list' })
    .filter(({ headers }) => !headers.accept?.includes('PartialObjectMetadata')).length

test('a deletion that the watch lost is found when somebody asks', async () => {
  member.loseDeletion(CONFIG_MAPS, 'default', 'two')
  member.put(CONFIG_MAPS, { metadata: { name: 'four', namespace: 'default' } })
  await until(async () => (await keys()).includes('four'))
  expect(await keys()).toContain('default/two')
  const run = promisify(execFile)
  const args = ['resync', name, 'configmaps', '--database-url', fleet.database.url]
  const { stdout } = await run(process.execPath, [PROGRAM, ...args])
  expect(stdout).toBe(`compared 1 type of ${name} with its mirror\n`)
  await until(async () => (await keys()) === 'default/four,default/one,default/three')
  await inStep({ fleet, member, cluster: name }, CONFIG_MAPS)
  expect((await fleet.log(name, CONFIG_MAPS)).slice(3)).toEqual(['A default/four', 'D default/two'])
  expect(await fleet.metric(name, CONFIG_MAPS, 'relists_total{cause="reconciled"}')).toBe(1)
  await expect(
    run(process.execPath, [PROGRAM, 'resync', 'nowhere', ...args.slice(3)]),
  ).rejects.toThrow('there is no cluster "nowhere"')
})

test('a deletion that the watch cache lost is found, although lists come from that cache', async () => {
  member.loseFromCache(CONFIG_MAPS, ['default', 'two'])
  await requestReconcile(fleet.store, name)
  await until(async () => (await keys()) === 'default/one,default/three')
  await inStep({ fleet, member, cluster: name }, CONFIG_MAPS)
  expect((await fleet.log(name, CONFIG_MAPS)).slice(3)).toEqual(['D default/two'])
  expect(await fleet.metric(name, CONFIG_MAPS, 'relists_total{cause="reconciled"}')).toBe(1)
})

test('and although its cache has snapshots of old revisions: once the member sees that they differ', async () => {
  member.loseFromCache(CONFIG_MAPS, ['default', 'two'], 1)
  const done = 'select 1 from cluster_resource where reconcile_wanted_at > reconciled_at'
  await requestReconcile(fleet.store, name)
  await until(async () => (await fleet.query(done)).length === 0)
  expect(await keys()).toContain('default/two')
  await requestReconcile(fleet.store, name)
  await until(async () => (await keys()) === 'default/one,default/three')
  await inStep({ fleet, member, cluster: name }, CONFIG_MAPS)
})

test('a member that knows no exact revisions is compared all the same', async () => {
  member.loseDeletion(CONFIG_MAPS, 'default', 'two')
  member.refuseExact(CONFIG_MAPS)
  await requestReconcile(fleet.store, name)
  await until(async () => (await keys()) === 'default/one,default/three')
})

test('nothing is listed when nothing was lost', async () => {
  const before = fullLists()
  expect(await requestReconcile(fleet.store, name)).toHaveLength(2)
  await until(() => member.requests({ of: CONFIG_MAPS, kind: 'list' }).length > before)
  const done = 'select 1 from cluster_resource where reconcile_wanted_at > reconciled_at'
  await until(async () => (await fleet.query(done)).length === 0)
  expect(fullLists()).toBe(before)
  expect(await fleet.log(name, CONFIG_MAPS)).toHaveLength(3)
})

test('changes that go on meanwhile are no loss', async () => {
  const before = fullLists()
  let running = true
  const changes = (async () => {
    for (let i = 0; running; i++) {
      member.put(PODS, { metadata: { name: `p-${i % 7}`, namespace: 'default' }, spec: { i } })
      if (i % 3 === 0) member.remove(PODS, 'default', `p-${(i + 2) % 7}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })()
  await requestReconcile(fleet.store, name, { resource: 'pods', group: '' })
  const done = 'select 1 from cluster_resource where reconcile_wanted_at > reconciled_at'
  await until(async () => (await fleet.query(done)).length === 0)
  running = false
  await changes
  expect(fullLists()).toBe(before)
  expect(await fleet.metrics()).not.toContain('cause="reconciled"} 2')
})

test('it is found without being asked for, in time', async () => {
  await fleet.stopSyncer()
  await fleet.startSyncer({ reconcileMilliseconds: 1_000 })
  await fleet.ready(name)
  member.loseDeletion(CONFIG_MAPS, 'default', 'two')
  await until(async () => (await keys()) === 'default/one,default/three')
  await fleet.stopSyncer()
  await fleet.startSyncer()
})
