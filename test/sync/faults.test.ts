/** What members do to us: after each, the rows are what the member holds. */
import { describe, expect, test } from 'vitest'
import type { GroupResource } from '../../src/kube/group-resource.ts'
import type { MemberCluster } from '../support/member-cluster.ts'
import { hugeConfigMap, REFUSED_OBJECTS } from '../support/odd-objects.ts'
import { CONFIG_MAPS, PODS, SECRETS } from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { inStep as rightAbout } from './in-step.ts'
import { oneMember } from './one-member.ts'
import type { SyncedFleet } from './synced-fleet.ts'

const LIST = [{ group: '', resources: ['configmaps', 'pods', 'secrets'] }]

let fleet: SyncedFleet
let member: MemberCluster
let name = ''

oneMember({ member: { bookmarkSeconds: 3600 } }, (made) => {
  fleet = made.fleet
  member = made.member
  name = made.name
  for (const one of ['one', 'two']) member.put(CONFIG_MAPS, configMap(one, '1'))
})

function configMap(one: string, value: string) {
  return { metadata: { name: one, namespace: 'default' }, data: { value } }
}

async function mirrorIt(spec: object = {}) {
  await fleet.register(name, { apiserver: member.url, syncResources: LIST, ...spec })
  await fleet.ready(name)
}

const inStep = (of: GroupResource = CONFIG_MAPS) => rightAbout({ fleet, member, cluster: name }, of)
/** Lists of ConfigMaps so far, by cause. */
const relists = (cause: string) =>
  fleet.metric(name, CONFIG_MAPS, `relists_total{cause="${cause}"}`)
const failures = (of: GroupResource, cause: string) =>
  fleet.metric(name, of, `member_errors_total{cause="${cause}"}`)

const listsOf = (of: GroupResource) =>
  member.requests({ of, kind: 'list' }).filter(({ query }) => query.get('limit') !== '1').length
const watchesOf = (of: GroupResource) => member.requests({ of, kind: 'watch' })

describe('a watch that ends is resumed, and nothing is listed again', () => {
  const cases: ReadonlyArray<{ name: string; fault: () => void }> = [
    { name: 'cut in the middle', fault: () => member.cutWatches(CONFIG_MAPS) },
    { name: 'ended by the server', fault: () => member.endWatches(CONFIG_MAPS) },
  ]
  for (const { name: situation, fault } of cases) {
    test(situation, async () => {
      await mirrorIt()
      member.put(CONFIG_MAPS, configMap('three', '1'))
      await inStep()
      fault()
      member.put(CONFIG_MAPS, configMap('one', '2'))
      member.remove(CONFIG_MAPS, 'default', 'two')
      await inStep()
      expect(listsOf(CONFIG_MAPS)).toBe(1)
      expect(await fleet.log(name, CONFIG_MAPS)).toEqual([
        'A default/one',
        'A default/two',
        'A default/three',
        'M default/one',
        'D default/two',
      ])
      expect(await relists('first')).toBe(1)
      expect(await fleet.metric(name, CONFIG_MAPS, 'events_total')).toBe(3)
    })
  }

  test('the network is away for a while', async () => {
    await mirrorIt()
    await member.goDown()
    member.put(CONFIG_MAPS, configMap('one', '2'))
    member.remove(CONFIG_MAPS, 'default', 'two')
    // A request that was under way breaks off in other words.
    const health = () => fleet.condition(name, 'ClusterHealthy')
    await until(async () => (await health())?.message === 'connection refused')
    expect(await health()).toMatchObject({ status: 'False', reason: 'NotReachable' })
    await expect.poll(() => fleet.condition(name, 'Ready')).toMatchObject({ status: 'False' })
    await until(async () => (await fleet.staleReason(name)) === 'connection refused')
    await member.comeBack()
    await inStep()
    await fleet.ready(name)
    expect(listsOf(CONFIG_MAPS)).toBe(1)
    expect(await fleet.staleReason(name)).toBeNull()
    expect(await failures(CONFIG_MAPS, 'unreachable')).toBeGreaterThan(0)
    expect(await relists('expired')).toBe(0)
  })

  test('the syncer was down meanwhile: what was deleted is gone, what is unchanged is not written', async () => {
    await mirrorIt()
    await until(async () => (await fleet.position(name, CONFIG_MAPS)) !== undefined)
    await fleet.stopSyncer()
    member.remove(CONFIG_MAPS, 'default', 'two')
    member.put(CONFIG_MAPS, configMap('three', '1'))
    await fleet.startSyncer()
    await inStep()
    expect(listsOf(CONFIG_MAPS)).toBe(1)
    // In one batch, whose order is that of keys.
    expect((await fleet.log(name, CONFIG_MAPS)).slice(2)).toEqual([
      'A default/three',
      'D default/two',
    ])
  })
})

describe('a position that is worth nothing any more', () => {
  const cases: ReadonlyArray<{ name: string; cause: string; fault: () => void }> = [
    {
      cause: 'expired',
      name: '410 as an event inside a 200 stream',
      fault: () => {
        member.expireNextWatchInStream(CONFIG_MAPS)
        member.cutWatches(CONFIG_MAPS)
      },
    },
    {
      cause: 'expired',
      name: '410 as a status, in odd words',
      fault: () => {
        member.expireNextWatchByStatus(CONFIG_MAPS)
        member.cutWatches(CONFIG_MAPS)
      },
    },
    {
      cause: 'unreadable',
      name: 'a line that cannot be read',
      fault: () => member.sendRubbish(CONFIG_MAPS),
    },
  ]
  for (const { name: situation, cause, fault } of cases) {
    test(`${situation}: the type is listed anew`, async () => {
      await mirrorIt()
      fault()
      await until(() => listsOf(CONFIG_MAPS) === 2)
      member.put(CONFIG_MAPS, configMap('three', '1'))
      await inStep()
      await until(async () => (await fleet.syncCondition(name, CONFIG_MAPS))?.status === 'Syncing')
      // What the list found unchanged was not written again.
      expect(await fleet.log(name, CONFIG_MAPS)).toEqual([
        'A default/one',
        'A default/two',
        'A default/three',
      ])
      expect(listsOf(PODS)).toBe(1)
      expect(await relists(cause)).toBe(1)
    })
  }

  test('history was compacted while the syncer was down', async () => {
    await mirrorIt()
    await fleet.stopSyncer()
    member.remove(CONFIG_MAPS, 'default', 'two')
    member.put(CONFIG_MAPS, configMap('three', '1'))
    member.compact()
    await fleet.startSyncer()
    await inStep()
    expect(listsOf(CONFIG_MAPS)).toBe(2)
    expect((await fleet.log(name, CONFIG_MAPS)).slice(2).sort()).toEqual([
      'A default/three',
      'D default/two',
    ])
    expect(await relists('expired')).toBe(1)
  })

  test('the member was restored from a backup: lower numbers are the truth', async () => {
    const backup = member.backup()
    await mirrorIt()
    member.put(CONFIG_MAPS, configMap('three', '1'))
    member.put(CONFIG_MAPS, configMap('one', '2'))
    await inStep()
    member.restore(backup)
    await inStep()
    expect([...(await fleet.rows(name, CONFIG_MAPS)).keys()]).toEqual([
      'default/one',
      'default/two',
    ])
    member.put(CONFIG_MAPS, configMap('four', '1'))
    await inStep()
    expect(await relists('restored')).toBe(1)
  })

  test('another control plane answers, and the numbers go on', async () => {
    await mirrorIt()
    await fleet.stopSyncer()
    member.loseDeletion(CONFIG_MAPS, 'default', 'two')
    member.replaceControlPlane()
    await fleet.startSyncer()
    await inStep()
    expect((await fleet.rows(name, CONFIG_MAPS)).size).toBe(1)
    expect((await fleet.log(name, CONFIG_MAPS)).slice(2)).toEqual(['D default/two'])
    expect(await relists('first')).toBe(1)
  })
})

test('another control plane answers while the syncer runs', async () => {
  await mirrorIt()
  member.loseDeletion(CONFIG_MAPS, 'default', 'two')
  member.replaceControlPlane()
  await inStep()
  expect((await fleet.rows(name, CONFIG_MAPS)).size).toBe(1)
  expect(await relists('replaced')).toBe(1)
})

describe('a list that does not go through', () => {
  test('its continue token expires, again and again', async () => {
    for (let i = 0; i < 1500; i++)
      member.put(PODS, { metadata: { name: `p-${i}`, namespace: 'default' } })
    member.expireNextContinue(PODS, 4)
    await mirrorIt()
    await inStep(PODS)
  })

  test('a page breaks off in the middle', async () => {
    for (let i = 0; i < 600; i++)
      member.put(PODS, { metadata: { name: `p-${i}`, namespace: 'default' } })
    member.truncateNext({ of: PODS, kind: 'list' }, 5000)
    await mirrorIt()
    await inStep(PODS)
  })

  test('the first answers are no lists', async () => {
    member.answerNext({ of: CONFIG_MAPS, kind: 'list' }, '<html>try later</html>', 'text/html')
    member.answerNext({ of: CONFIG_MAPS, kind: 'list' }, '{"kind":"Status","code":200}')
    await mirrorIt()
    await inStep()
  })

  test('the member is down at start', async () => {
    await member.goDown()
    await fleet.register(name, { apiserver: member.url, syncResources: LIST })
    await until(
      async () => (await fleet.condition(name, 'ClusterHealthy'))?.reason === 'NotReachable',
    )
    await member.comeBack()
    await inStep()
    await fleet.ready(name)
  })
})

describe('one type is in trouble, the others are not', () => {
  test('403', async () => {
    const grant = member.forbid({ of: SECRETS })
    await fleet.register(name, { apiserver: member.url, syncResources: LIST })
    await inStep()
    await until(async () => (await fleet.syncCondition(name, SECRETS))?.status === 'Error')
    await expect
      .poll(() => fleet.syncCondition(name, SECRETS))
      .toMatchObject({
        reason: 'Forbidden',
        message: 'Forbidden: cannot list secrets',
      })
    // It can be read what there is: the cluster as a whole is ready.
    await fleet.ready(name)
    grant()
    await until(async () => (await fleet.syncCondition(name, SECRETS))?.status === 'Syncing')
  })

  test('500 for ever', async () => {
    const heal = member.fail({ of: SECRETS }, { code: 500, message: 'conversion webhook failed' })
    await fleet.register(name, { apiserver: member.url, syncResources: LIST })
    await inStep()
    await until(async () => (await fleet.syncCondition(name, SECRETS))?.status === 'Error')
    await expect
      .poll(async () => (await fleet.syncCondition(name, SECRETS))?.message)
      .toContain('conversion webhook failed')
    expect(await failures(SECRETS, 'server')).toBeGreaterThan(0)
    expect(await failures(CONFIG_MAPS, 'server')).toBe(0)
    // A type that always fails keeps no cluster from being ready.
    await fleet.ready(name)
    heal()
    await inStep(SECRETS)
  })

  test('429 with Retry-After is obeyed', async () => {
    member.fail({ of: SECRETS, kind: 'list' }, { code: 429, retryAfterSeconds: 1, times: 1 })
    const start = Date.now()
    await mirrorIt()
    expect(Date.now() - start).toBeGreaterThan(950)
  })
})

describe('objects', () => {
  test('deleted and made again in a gap: another uid is a delete and an add', async () => {
    await mirrorIt()
    const before = (await fleet.rows(name, CONFIG_MAPS)).get('default/one')
    member.expireNextWatchByStatus(CONFIG_MAPS)
    member.cutWatches(CONFIG_MAPS)
    member.remove(CONFIG_MAPS, 'default', 'one')
    member.put(CONFIG_MAPS, configMap('one', '1'))
    await inStep()
    expect((await fleet.rows(name, CONFIG_MAPS)).get('default/one')?.uid).not.toBe(before?.uid)
    expect((await fleet.log(name, CONFIG_MAPS)).slice(2)).toEqual([
      'D default/one',
      'A default/one',
    ])
    expect(await relists('expired')).toBe(1)
  })

  test('a character cut in two, and lines that end in CRLF', async () => {
    const stops = [
      member.splitInsideCharacters({ of: CONFIG_MAPS }),
      member.endLinesWithCrLf(CONFIG_MAPS),
    ]
    member.put(CONFIG_MAPS, configMap('listed', '北京 😀'))
    await mirrorIt()
    member.put(CONFIG_MAPS, configMap('watched', '北京 😀'))
    await inStep()
    for (const stop of stops) stop()
    expect((await fleet.log(name, CONFIG_MAPS)).slice(-1)).toEqual(['A default/watched'])
    expect(await fleet.metric(name, CONFIG_MAPS, 'unreadable_lines_total')).toBe(0)
  })

  test('one that cannot be mirrored is refused alone, and said', async () => {
    await mirrorIt()
    for (const bytes of Object.values(REFUSED_OBJECTS)) member.put(CONFIG_MAPS, bytes)
    member.put(CONFIG_MAPS, configMap('three', '1'))
    await until(async () => (await fleet.rows(name, CONFIG_MAPS)).size === 3)
    const message = async () => (await fleet.syncCondition(name, CONFIG_MAPS))?.message
    await until(async () => (await message())?.startsWith('2 objects are not mirrored: ') === true)
    expect(await message()).toContain('odd/invalid-utf-8: the object is not valid UTF-8')
    for (const one of Object.keys(REFUSED_OBJECTS)) member.remove(CONFIG_MAPS, 'odd', one)
    await until(async () => (await fleet.syncCondition(name, CONFIG_MAPS))?.reason === 'Watching')
    expect(await fleet.metric(name, CONFIG_MAPS, 'refused_objects_total')).toBeGreaterThan(1)
    await inStep()
  })

  test('1.4 MB, several of them', async () => {
    for (let i = 0; i < 8; i++) member.put(CONFIG_MAPS, hugeConfigMap(`huge-${i}`, 1_400_000))
    await mirrorIt()
    member.put(CONFIG_MAPS, hugeConfigMap('huge-0', 1_450_000))
    await inStep()
  })

  test('bookmarks move the position, and make no row', async () => {
    await mirrorIt()
    for (let i = 0; i < 5; i++)
      member.put(PODS, { metadata: { name: `p-${i}`, namespace: 'default' } })
    member.sendBookmarks(CONFIG_MAPS)
    await until(async () => (await fleet.position(name, CONFIG_MAPS)) === member.resourceVersion)
    expect((await fleet.rows(name, CONFIG_MAPS)).size).toBe(2)
    expect(await fleet.log(name, CONFIG_MAPS)).toHaveLength(2)
    expect(await fleet.metric(name, CONFIG_MAPS, 'events_total')).toBe(0)
    await inStep()
  })
})

test('a watch that falls silent is given up, and resumed', async () => {
  await fleet.stopSyncer()
  await fleet.startSyncer({ follow: { idleMilliseconds: 400 } })
  await mirrorIt()
  member.freezeWatches(CONFIG_MAPS)
  member.put(CONFIG_MAPS, configMap('three', '1'))
  await inStep()
  expect(listsOf(CONFIG_MAPS)).toBe(1)
  expect(watchesOf(CONFIG_MAPS).length).toBeGreaterThan(1)
  for (const { query } of watchesOf(CONFIG_MAPS)) {
    expect(query.get('allowWatchBookmarks')).toBe('true')
    expect(Number(query.get('timeoutSeconds'))).toBeGreaterThanOrEqual(300)
    expect(Number(query.get('timeoutSeconds'))).toBeLessThanOrEqual(600)
  }
  expect((await fleet.log(name, CONFIG_MAPS)).slice(2)).toEqual(['A default/three'])
  const heardAt = await fleet.metric(name, CONFIG_MAPS, 'last_event_timestamp_seconds')
  expect(heardAt).toBeGreaterThan(1.7e9)
  await fleet.stopSyncer()
  await fleet.startSyncer()
})

test('what happened is counted, by type and cause', async () => {
  await fleet.stopSyncer()
  await fleet.startSyncer()
  await mirrorIt()
  member.sendRubbish(CONFIG_MAPS)
  await until(() => listsOf(CONFIG_MAPS) === 2)
  member.put(CONFIG_MAPS, configMap('three', '1'))
  await inStep()
  const text = await fleet.metrics()
  const labels = `cluster="${name}",resource="configmaps"`
  for (const line of [
    `fleetglass_sync_relists_total{${labels},cause="first"} 1`,
    `fleetglass_sync_relists_total{${labels},cause="unreadable"} 1`,
    `fleetglass_sync_unreadable_lines_total{${labels}} 1`,
    `fleetglass_sync_events_total{${labels}} 1`,
    'fleetglass_sync_queue_bytes 0',
  ]) {
    expect(text.split('\n')).toContain(line)
  }
  expect(text).toContain(`fleetglass_sync_last_event_timestamp_seconds{${labels}}`)
})

test('twenty drops leave one watch', async () => {
  await mirrorIt()
  for (let i = 0; i < 20; i++) {
    await member.watched(CONFIG_MAPS)
    member.cutWatches(CONFIG_MAPS)
    member.put(CONFIG_MAPS, configMap('one', `${i}`))
    await inStep()
  }
  expect(member.openWatches(CONFIG_MAPS).length).toBeLessThanOrEqual(1)
  expect(listsOf(CONFIG_MAPS)).toBe(1)
  expect(await fleet.log(name, CONFIG_MAPS)).toHaveLength(2 + 20)
  expect(await fleet.metric(name, CONFIG_MAPS, 'events_total')).toBe(20)
})
