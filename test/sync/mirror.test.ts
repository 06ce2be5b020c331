import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { ODD_OBJECTS } from '../support/odd-objects.ts'
import { CONFIG_MAPS, DEPLOYMENTS, PODS } from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { mirrored, type SyncedFleet, syncedFleet } from './synced-fleet.ts'

const ALL = [{ group: '*', resources: ['*'] }]

let fleet: SyncedFleet
let member: MemberCluster

beforeAll(async () => {
  fleet = await syncedFleet()
  member = await startMemberCluster()
  for (const object of Object.values(ODD_OBJECTS)) member.put(CONFIG_MAPS, object)
  for (let i = 0; i < 1200; i++) member.put(PODS, pod(`p-${i}`))
  await fleet.register('dot-01', { apiserver: member.url, syncResources: ALL })
  await fleet.ready('dot-01')
})

afterAll(async () => {
  await fleet.stop()
  await member.stop()
})

function pod(name: string, phase = 'Running') {
  return {
    metadata: { name, namespace: 'default', labels: { app: name } },
    status: { phase },
    fieldOfTomorrow: { a: [1] },
  }
}

describe('a member is mirrored', () => {
  test('all its objects, over several pages, byte for byte', async () => {
    for (const of of [PODS, CONFIG_MAPS]) {
      const rows = await fleet.rows('dot-01', of)
      const held = member.server.list(of)
      expect(rows.size).toBe(held.length)
      for (const { namespace, name, text, uid } of held) {
        expect(rows.get(`${namespace}/${name}`)).toMatchObject({
          text: mirrored(text, 'dot-01'),
          uid,
        })
      }
    }
    const pages = member.requests({ of: PODS, kind: 'list' })
    expect(pages.every(({ query }) => Number(query.get('limit')) <= 500)).toBe(true)
    expect(pages.filter(({ query }) => query.get('continue'))).toHaveLength(2)
    expect(await fleet.log('dot-01', PODS)).toHaveLength(1200)
    await expect
      .poll(() => fleet.syncCondition('dot-01', PODS))
      .toMatchObject({ reason: 'Watching' })
    expect(await fleet.metric('dot-01', PODS, 'relists_total{cause="first"}')).toBe(1)
    expect(await fleet.metric('dot-01', CONFIG_MAPS, 'refused_objects_total')).toBe(0)
  })

  test('what changes afterwards, in order', async () => {
    member.put(DEPLOYMENTS, {
      metadata: { name: 'web', namespace: 'default' },
      spec: { replicas: 1 },
    })
    const second = member.put(DEPLOYMENTS, {
      metadata: { name: 'web', namespace: 'default' },
      spec: { replicas: 2 },
    })
    await until(
      async () =>
        (await fleet.rows('dot-01', DEPLOYMENTS)).get('default/web')?.text ===
        mirrored(second.text, 'dot-01'),
    )
    member.remove(DEPLOYMENTS, 'default', 'web')
    await until(async () => (await fleet.rows('dot-01', DEPLOYMENTS)).size === 0)
    const log = await fleet.log('dot-01', DEPLOYMENTS)
    expect(log[0]).toBe('A default/web')
    expect(log.at(-1)).toBe('D default/web')
    expect(await fleet.position('dot-01', DEPLOYMENTS)).toBe(member.resourceVersion)
  })

  test('and says so', async () => {
    const { status } = await fleet.get('dot-01')
    expect(status).toMatchObject({ apiserver: member.url, version: 'v1.33.1' })
    expect(status?.conditions?.map(({ type, status: is, reason }) => [type, is, reason])).toEqual([
      ['Validated', 'True', 'Validated'],
      ['SynchroRunning', 'True', 'Running'],
      ['ClusterHealthy', 'True', 'Healthy'],
      ['Ready', 'True', 'Ready'],
    ])
    await expect
      .poll(() => fleet.syncCondition('dot-01', PODS))
      .toMatchObject({
        version: 'v1',
        status: 'Syncing',
        reason: 'Watching',
      })
    expect(await fleet.staleReason('dot-01')).toBeNull()
  })
})
