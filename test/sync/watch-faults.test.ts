/** What watches do to us, and objects in them: after each, rows, log and condition are right. */
import { describe, expect, test } from 'vitest'
import type { GroupResource } from '../../src/kube/group-resource.ts'
import type { MemberCluster } from '../support/member-cluster.ts'
import { CONFIG_MAPS, NAMESPACES, PODS } from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { inStep as rightAbout } from './in-step.ts'
import { oneMember } from './one-member.ts'
import type { SyncedFleet } from './synced-fleet.ts'

const LIST = [{ group: '', resources: ['configmaps', 'pods', 'namespaces'] }]

let fleet: SyncedFleet
let member: MemberCluster
let name = ''

oneMember({ member: { bookmarkSeconds: 3600 } }, (made) => {
  fleet = made.fleet
  member = made.member
  name = made.name
})

const inStep = (of: GroupResource = CONFIG_MAPS) => rightAbout({ fleet, member, cluster: name }, of)
const put = (one: string, namespace = 'default') =>
  member.put(CONFIG_MAPS, { metadata: { name: one, namespace }, data: { one } })
const watchesOf = (of: GroupResource) => member.requests({ of, kind: 'watch' })
const lists = () => member.requests({ of: CONFIG_MAPS, kind: 'list' }).length

async function mirrorIt() {
  await fleet.register(name, { apiserver: member.url, syncResources: LIST })
  await fleet.ready(name)
}

test('every derived column follows an update, as of a pod that was made again', async () => {
  const pod = (uid: string, creationTimestamp: string, app: string) => ({
    metadata: {
      name: 'db-0',
      namespace: 'default',
      uid,
      creationTimestamp,
      labels: { app },
      ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: app, uid: `uid-of-${app}` }],
    },
    status: { phase: app },
  })
  member.put(PODS, pod('u1', '2024-01-01T00:00:00Z', 'old'))
  await mirrorIt()
  const columns = async () =>
    (
      await fleet.query<Record<string, unknown>>(
        `select o.uid, o.created_at, o.resource_version, o.tokens::text, s.tokens::text as status,
           o.rv_offset, o.cells from object o
         join object_status s using (cluster_id, type_id, namespace, name)
         join cluster c on c.id = o.cluster_id where c.name = $1 and o.name = 'db-0'`,
        [name],
      )
    )[0]!
  const before = await columns()
  expect(before).toMatchObject({ uid: 'u1', created_at: new Date('2024-01-01T00:00:00Z') })
  const line = {
    type: 'MODIFIED',
    object: {
      kind: 'Pod',
      apiVersion: 'v1',
      ...pod('u2', '2024-02-01T00:00:00Z', 'new'),
    },
  }
  Object.assign(line.object.metadata, { resourceVersion: '1000000' })
  for (const watch of member.openWatches(PODS)) watch.sendRaw(Buffer.from(JSON.stringify(line)))
  for (const watch of member.openWatches(PODS)) watch.sendRaw(Buffer.from('\n'))
  await until(async () => (await columns()).uid === 'u2')
  const after = await columns()
  expect(after).toMatchObject({ created_at: new Date('2024-02-01T00:00:00Z') })
  for (const column of ['resource_version', 'tokens', 'status', 'rv_offset', 'cells']) {
    expect(after[column]).not.toEqual(before[column])
  }
  expect(await fleet.log(name, PODS)).toEqual([
    'A default/db-0',
    'D default/db-0',
    'A default/db-0',
  ])
  expect(await fleet.metric(name, PODS, 'events_total')).toBe(1)
  await expect.poll(async () => (await fleet.syncCondition(name, PODS))?.status).toBe('Syncing')
})

test('a deletion that brings no more than the name is one', async () => {
  put('one')
  put('two')
  await mirrorIt()
  member.loseDeletion(CONFIG_MAPS, 'default', 'two')
  const event = '{"type":"DELETED","object":{"metadata":{"name":"two","namespace":"default"}}}\n'
  member.sendRubbish(CONFIG_MAPS, event)
  await inStep()
  expect((await fleet.log(name, CONFIG_MAPS)).at(-1)).toBe('D default/two')
  expect(lists()).toBe(1)
  expect(await fleet.metric(name, CONFIG_MAPS, 'events_total')).toBe(1)
})

test('a watch is not given up while anything comes of it, however long it lasts', async () => {
  await fleet.stopSyncer()
  await fleet.startSyncer({ follow: { idleMilliseconds: 400 } })
  await mirrorIt()
  const pause = () => new Promise((resolve) => setTimeout(resolve, 100))
  for (let i = 0; i < 12; i++) {
    put(`c-${i}`)
    await pause()
  }
  expect(watchesOf(CONFIG_MAPS)).toHaveLength(1)
  await inStep()
  expect(await fleet.metric(name, CONFIG_MAPS, 'events_total')).toBe(12)
  await fleet.stopSyncer()
  await fleet.startSyncer()
})

test('a watch is not given up for what this process did not read while it was held up', async () => {
  await fleet.stopSyncer()
  await fleet.startSyncer({ follow: { idleMilliseconds: 400 } })
  await mirrorIt()
  for (let i = 0; i < 3; i++) {
    put(`c-${i}`)
    // Nothing runs meanwhile, as on a machine that has no time for this process.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600)
    await inStep()
  }
  expect(watchesOf(CONFIG_MAPS)).toHaveLength(1)
  await fleet.stopSyncer()
  await fleet.startSyncer()
})

describe('a member that refuses watches', () => {
  test('is asked ever less often, with one request at a time', async () => {
    put('one')
    await mirrorIt()
    const heal = member.fail({ of: CONFIG_MAPS, kind: 'watch' }, { code: 500 })
    member.cutWatches(CONFIG_MAPS)
    const before = watchesOf(CONFIG_MAPS).length
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    // 30 ms doubled up to 200 ms, half of each left to chance.
    expect(watchesOf(CONFIG_MAPS).length - before).toBeLessThan(25)
    await until(async () => (await fleet.syncCondition(name, CONFIG_MAPS))?.status === 'Error')
    await expect
      .poll(() => fleet.syncCondition(name, CONFIG_MAPS))
      .toMatchObject({ reason: 'ServerError' })
    heal()
    put('two')
    await inStep()
    await until(() => member.openWatches(CONFIG_MAPS).length === 1)
    expect(await fleet.log(name, CONFIG_MAPS)).toEqual(['A default/one', 'A default/two'])
    const failures = 'member_errors_total{cause="server"}'
    expect(await fleet.metric(name, CONFIG_MAPS, failures)).toBeGreaterThan(1)
    expect(await fleet.metric(name, CONFIG_MAPS, failures)).toBeLessThan(30)
    expect(await fleet.metric(name, CONFIG_MAPS, 'relists_total{cause="expired"}')).toBe(0)
  })
})

test('a namespace is deleted with all that is in it, and made again', async () => {
  member.put(NAMESPACES, { metadata: { name: 'team' } })
  for (let i = 0; i < 50; i++) put(`c-${i}`, 'team')
  await mirrorIt()
  const uid = async () => (await fleet.rows(name, NAMESPACES)).get('team')?.uid
  const before = await uid()
  member.removeNamespace('team')
  member.put(NAMESPACES, { metadata: { name: 'team' } })
  await inStep(NAMESPACES)
  await inStep()
  expect((await fleet.rows(name, CONFIG_MAPS)).size).toBe(0)
  expect(await uid()).not.toBe(before)
  const log = await fleet.log(name, NAMESPACES)
  expect(log.slice(-2)).toEqual(['D team', 'A team'].map((one) => one.replace(' ', ' /')))
  expect(await fleet.metric(name, CONFIG_MAPS, 'events_total')).toBe(50)
  expect(lists()).toBe(1)
})

test('one name in several namespaces is several objects, in a relist too', async () => {
  put('same', 'ns1')
  put('same', 'ns11')
  put('other', 'ns1')
  await mirrorIt()
  member.remove(CONFIG_MAPS, 'ns1', 'other')
  member.expireNextWatchByStatus(CONFIG_MAPS)
  member.cutWatches(CONFIG_MAPS)
  await until(async () => (await fleet.rows(name, CONFIG_MAPS)).size === 2)
  await inStep()
  expect((await fleet.log(name, CONFIG_MAPS)).slice(3)).toEqual(['D ns1/other'])
  expect(await fleet.metric(name, CONFIG_MAPS, 'relists_total{cause="expired"}')).toBe(1)
})
