/** What objects do to the database, and the database to us, over real HTTP. */
import { expect, test } from 'vitest'
import type { MemberCluster } from '../support/member-cluster.ts'
import { hugeConfigMap, ODD_OBJECTS } from '../support/odd-objects.ts'
import { CONFIG_MAPS } from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { inStep as rightAbout } from './in-step.ts'
import { oneMember } from './one-member.ts'
import type { SyncedFleet } from './synced-fleet.ts'

const LIST = [{ group: '', resources: ['configmaps'] }]
const MEBIBYTE = 1024 * 1024

let fleet: SyncedFleet
let member: MemberCluster
let name = ''

oneMember(
  { fleet: { limits: { queueBytes: 2 * MEBIBYTE } }, member: { bookmarkSeconds: 3600 } },
  (made) => {
    fleet = made.fleet
    member = made.member
    name = made.name
  },
)

const inStep = () => rightAbout({ fleet, member, cluster: name }, CONFIG_MAPS)
const put = (one: string, more: object = {}) =>
  member.put(CONFIG_MAPS, { metadata: { name: one, namespace: 'default', ...more }, data: { one } })

async function mirrorIt() {
  await fleet.register(name, { apiserver: member.url, syncResources: LIST })
  await fleet.ready(name)
}

/** Letters that no compression makes short. */
function letters(length: number): string {
  return hugeConfigMap('x', length)
    .toString()
    .slice(-length - 3, -3)
}

test('odd spellings, large values and many labels among a hundred others: each as it came', async () => {
  const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`l${i}`, '']))
  for (let i = 0; i < 89; i++) put(`c-${i}`)
  put('large-data', { labels })
  member.put(CONFIG_MAPS, {
    metadata: { name: 'large-value', namespace: 'default' },
    data: { value: letters(200_000), spec: letters(10_000) },
  })
  for (const object of Object.values(ODD_OBJECTS)) member.put(CONFIG_MAPS, object)
  await mirrorIt()
  await inStep()
  expect(await fleet.log(name, CONFIG_MAPS)).toHaveLength(91 + Object.keys(ODD_OBJECTS).length)
  // And again as events.
  for (const [one, object] of Object.entries(ODD_OBJECTS)) {
    member.remove(CONFIG_MAPS, 'odd', one)
    member.put(CONFIG_MAPS, object)
  }
  await inStep()
  expect(await fleet.metric(name, CONFIG_MAPS, 'refused_objects_total')).toBe(0)
})

test('names of every form and length, listed and watched', async () => {
  const roles = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' }
  const names = [
    'system:controller:node-controller',
    '100% odd',
    'a%3Ab',
    'a%2Fb',
    'a+b?c=d&e#f',
    `${'x.'.repeat(126)}x`,
    'Ünïcode:北京',
  ]
  const syncResources = [{ group: roles.group, resources: [roles.resource] }]
  for (const one of names) member.put(roles, { metadata: { name: one } })
  await fleet.register(name, { apiserver: member.url, syncResources })
  await fleet.ready(name)
  const mirror = { fleet, member, cluster: name }
  await rightAbout(mirror, roles)
  for (const one of names) member.put(roles, { metadata: { name: one, labels: { again: '' } } })
  await rightAbout(mirror, roles)
  member.remove(roles, '', names[0]!)
  await rightAbout(mirror, roles)
  expect([...(await fleet.rows(name, roles)).keys()].sort()).toEqual(names.slice(1).sort())
  expect(await fleet.log(name, roles)).toHaveLength(2 * names.length + 1)
  expect(await fleet.metric(name, roles, 'events_total')).toBe(names.length + 1)
  expect(await fleet.metric(name, roles, 'refused_objects_total')).toBe(0)
})

test('one that the database cannot hold is refused alone, and said', async () => {
  for (let i = 0; i < 99; i++) put(`c-${i}`)
  // An index holds a third of a page; no API server gives out such a name.
  const long = `long-${letters(9_000)}`
  put(long)
  await mirrorIt()
  await until(async () => (await fleet.rows(name, CONFIG_MAPS)).size === 99)
  const reason = async () => (await fleet.syncCondition(name, CONFIG_MAPS))?.reason
  await until(async () => (await reason()) === 'ObjectsRefused')
  await expect
    .poll(() => fleet.syncCondition(name, CONFIG_MAPS))
    .toMatchObject({
      status: 'Syncing',
      message: expect.stringMatching(
        /^1 object is not mirrored: .*the database cannot hold the object/,
      ),
    })
  expect(await fleet.metric(name, CONFIG_MAPS, 'refused_objects_total')).toBe(1)
  expect(await fleet.log(name, CONFIG_MAPS)).toHaveLength(99)
  member.remove(CONFIG_MAPS, 'default', long)
  put('after')
  await inStep()
  await until(async () => (await reason()) === 'Watching')
})

test('while the database takes nothing, so many bytes wait and no more', async () => {
  await mirrorIt()
  const blocker = await fleet.store.pool.connect()
  await blocker.query('begin; lock table change in access exclusive mode')
  for (let i = 0; i < 12; i++) member.put(CONFIG_MAPS, hugeConfigMap(`huge-${i}`, 1_400_000))
  const waiting = async () => {
    const text = await fleet.metrics()
    return Number(/^fleetglass_sync_queue_bytes (\d+)$/m.exec(text)?.[1])
  }
  const events = () => fleet.metric(name, CONFIG_MAPS, 'events_total')
  await until(async () => (await waiting()) > 1_400_000 && (await events()) === 2)
  let most = 0
  for (let i = 0; i < 20; i++) {
    most = Math.max(most, await waiting())
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  expect(most).toBeLessThanOrEqual(2 * MEBIBYTE)
  // One waits, one is at the door; the others are not even read.
  expect(await events()).toBe(2)
  await blocker.query('commit')
  blocker.release()
  await inStep()
  expect(await fleet.log(name, CONFIG_MAPS)).toHaveLength(12)
  expect(await waiting()).toBe(0)
})
