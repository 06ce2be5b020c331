/** Some namespaces, and some events, only: each on its own, whatever happens to the others. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { CONFIG_MAPS, EVENTS } from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { type SyncedFleet, syncedFleet } from './synced-fleet.ts'

const LIST = [{ group: '', resources: ['configmaps'] }]

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
  for (const namespace of ['a', 'b', 'c'])
    member.put(CONFIG_MAPS, { metadata: { name: 'one', namespace } })
})

afterEach(async () => {
  await fleet.remove(name)
  await member.stop()
})

const keys = async () => [...(await fleet.rows(name, CONFIG_MAPS)).keys()].join()
const condition = () => fleet.syncCondition(name, CONFIG_MAPS)
const CLOSED = {
  status: 'Error',
  reason: 'Forbidden',
  message: 'Forbidden: cannot read the namespaces b; the others are in step',
}

async function mirrored(namespaces: readonly string[]) {
  await fleet.register(name, { apiserver: member.url, syncResources: LIST, namespaces })
  await fleet.ready(name)
}

describe('a namespace that may not be read', () => {
  test('holds up no other, is named, and comes when it may be read', async () => {
    const grant = member.forbid({ of: CONFIG_MAPS, namespace: 'b' })
    await mirrored(['a', 'b', 'c'])
    expect(await keys()).toBe('a/one,c/one')
    expect(await condition()).toMatchObject(CLOSED)
    member.put(CONFIG_MAPS, { metadata: { name: 'two', namespace: 'c' } })
    await until(async () => (await keys()) === 'a/one,c/one,c/two')
    grant()
    await until(async () => (await keys()) === 'a/one,b/one,c/one,c/two')
    await until(async () => (await condition())?.status === 'Syncing')
    expect(await condition()).toMatchObject({ reason: 'Watching', message: '' })
    await until(async () => (await fleet.position(name, CONFIG_MAPS)) !== undefined)
  })

  test('any more, keeps what was read; the others go on', async () => {
    await mirrored(['a', 'b'])
    const grant = member.forbid({ of: CONFIG_MAPS, namespace: 'b' })
    member.cutWatches(CONFIG_MAPS)
    await until(async () => (await condition())?.reason === 'Forbidden')
    member.remove(CONFIG_MAPS, 'b', 'one')
    member.remove(CONFIG_MAPS, 'a', 'one')
    member.put(CONFIG_MAPS, { metadata: { name: 'two', namespace: 'a' } })
    await until(async () => (await keys()) === 'a/two,b/one')
    // A list of the others says nothing of it.
    member.expireNextWatchByStatus(CONFIG_MAPS)
    member.cutWatches(CONFIG_MAPS)
    await until(async () => (await fleet.position(name, CONFIG_MAPS)) === undefined)
    expect(await keys()).toBe('a/two,b/one')
    grant()
    await until(async () => (await keys()) === 'a/two')
  })

  test('is listed after a restart, not watched from where the others are', async () => {
    const grant = member.forbid({ of: CONFIG_MAPS, namespace: 'b' })
    await mirrored(['a', 'b'])
    await fleet.stopSyncer()
    grant()
    await fleet.startSyncer()
    await until(async () => (await keys()) === 'a/one,b/one')
  })

  test('all of them: the type is refused as a whole', async () => {
    const grant = member.forbid({ of: CONFIG_MAPS })
    await mirrored(['a', 'b'])
    expect(await condition()).toMatchObject({
      ...{ status: 'Error', message: 'Forbidden: cannot list configmaps' },
    })
    grant()
    await until(async () => (await keys()) === 'a/one,b/one')
  })
})

test('a list of one namespace that begins again takes nothing from the others', async () => {
  for (let i = 0; i < 600; i++)
    member.put(CONFIG_MAPS, { metadata: { name: `n-${i}`, namespace: 'b' } })
  member.expireNextContinue(CONFIG_MAPS, 1)
  await mirrored(['a', 'b'])
  const rows = await fleet.rows(name, CONFIG_MAPS)
  expect(rows.size).toBe(602)
  expect(rows.has('a/one')).toBe(true)
  expect((await fleet.log(name, CONFIG_MAPS)).filter((line) => line.startsWith('D'))).toEqual([])
})

test('events of certain resources only, listed and watched', async () => {
  const event = (of: string, kind: string, apiVersion: string) =>
    member.put(EVENTS, {
      metadata: { name: of, namespace: 'a' },
      involvedObject: { kind, apiVersion, name: of, namespace: 'a' },
    })
  event('pod', 'Pod', 'v1')
  event('deployment', 'Deployment', 'apps/v1')
  const entry = { group: '', resources: ['configmaps'] }
  const spec = (eventsInvolvedResources: string[]) => ({
    syncResources: [{ ...entry, eventsInvolvedResources }],
  })
  await fleet.register(name, { apiserver: member.url, ...spec(['pods']) })
  await fleet.ready(name)
  const events = async () => [...(await fleet.rows(name, EVENTS)).keys()].join()
  expect(await events()).toBe('a/pod')
  event('node', 'Node', 'v1')
  event('pod-2', 'Pod', 'v1')
  await until(async () => (await events()) === 'a/pod,a/pod-2')
  await fleet.patch(name, { spec: spec(['nodes']) })
  await until(async () => (await events()) === 'a/node')
  await fleet.patch(name, { spec: { syncResources: [entry] } })
  await until(async () => (await events()) === '')
})
