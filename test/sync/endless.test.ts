/** What has no end, and who has no measure: each ends in a condition, and holds up nobody else. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { SyncLimitsGiven } from '../../src/sync/limits.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { hugeConfigMap } from '../support/odd-objects.ts'
import { CONFIG_MAPS, PODS, SECRETS } from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { inStep } from './in-step.ts'
import { type SyncedFleet, syncedFleet } from './synced-fleet.ts'

const LIST = [{ group: '', resources: ['configmaps', 'pods', 'secrets'] }]

let fleet: SyncedFleet
let member: MemberCluster

beforeAll(async () => {
  fleet = await syncedFleet()
})

afterAll(async () => {
  await fleet.stop()
})

beforeEach(async () => {
  member = await startMemberCluster({ bookmarkSeconds: 3600 })
})

/** Only those that a test is about: what is slow for another reason must not count as endless. */
async function restartWith(limits: SyncLimitsGiven): Promise<void> {
  await fleet.stopSyncer()
  await fleet.startSyncer(limits)
}

const register = (name: string) =>
  fleet.register(name, { apiserver: member.url, syncResources: LIST })

/** A list whose items never end: as fast as they are read, or one by one. */
function endlessList(milliseconds: number): () => void {
  return member.answerWhenever({ of: CONFIG_MAPS, kind: 'list' }, async ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"kind":"ConfigMapList","metadata":{"resourceVersion":"1"},"items":[')
    for (let i = 0; !response.destroyed; i++) {
      const metadata = { name: `c-${i}`, namespace: 'default', uid: `u-${i}`, resourceVersion: '1' }
      const room = response.write(`${i > 0 ? ',' : ''}${JSON.stringify({ metadata })}`)
      if (room && milliseconds === 0 && i % 500 > 0) continue
      await new Promise((resolve) => setTimeout(resolve, milliseconds))
    }
  })
}

for (const { what, milliseconds, list, says } of [
  {
    what: 'small items',
    milliseconds: 0,
    list: { items: 2_000, milliseconds: 600_000 },
    says: /^cannot list configmaps: more than 2000 objects, and no end$/,
  },
  {
    what: 'items that drip',
    milliseconds: 20,
    list: { items: 1_000_000, milliseconds: 600 },
    says: /^cannot list configmaps: \d+ objects in \d s, and no end$/,
  },
]) {
  test(`a list of ${what} without an end is an error of its type`, async () => {
    const name = what.replaceAll(' ', '-')
    await restartWith({ follow: { list } })
    const heal = endlessList(milliseconds)
    member.put(PODS, { metadata: { name: 'p', namespace: 'default' } })
    await register(name)
    await until(async () => (await fleet.syncCondition(name, CONFIG_MAPS))?.status === 'Error')
    await expect
      .poll(() => fleet.syncCondition(name, CONFIG_MAPS))
      .toMatchObject({
        reason: 'InvalidAnswer',
        message: expect.stringMatching(says),
      })
    await fleet.ready(name)
    await inStep({ fleet, member, cluster: name }, PODS)
    heal()
    await inStep({ fleet, member, cluster: name }, CONFIG_MAPS)
    await fleet.remove(name)
    await member.stop()
  })
}

test('a discovery without an end is said, and tried again', async () => {
  await restartWith({ documentMilliseconds: 400 })
  const heal = member.answerWhenever({ kind: 'discovery' }, async ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    while (!response.destroyed) {
      response.write(' ')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })
  await register('drip')
  const running = () => fleet.condition('drip', 'SynchroRunning')
  const why = 'the answer did not end within 0.4 s: cannot discover types'
  await until(async () => (await running())?.message === why)
  expect(await running()).toMatchObject({ status: 'False', reason: 'Pending' })
  await until(async () => (await fleet.staleReason('drip')) === why)
  heal()
  await fleet.ready('drip')
  expect(await fleet.staleReason('drip')).toBeNull()
  await fleet.remove('drip')
  await member.stop()
})

test('a cluster whose writes are stuck holds up no other', async () => {
  await restartWith({})
  const calm = await startMemberCluster({ bookmarkSeconds: 3600 })
  await register('stuck')
  await fleet.register('calm', { apiserver: calm.url, syncResources: LIST })
  await Promise.all([fleet.ready('stuck'), fleet.ready('calm')])
  const blocker = await fleet.store.pool.connect()
  await blocker.query('begin')
  await blocker.query(
    `select from cluster_lease l join cluster c on c.id = l.cluster_id
     where c.name = 'stuck' and c.removed_at is null for update of l`,
  )
  // As many types as there are writers, each with a batch to write.
  for (const of of [CONFIG_MAPS, PODS, SECRETS]) {
    for (let i = 0; i < 600; i++)
      member.put(of, { metadata: { name: `x-${i}`, namespace: 'default' } })
  }
  await until(async () => {
    const waiting = `select 1 from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock'`
    return (await fleet.query(waiting)).length > 0
  })
  for (let i = 0; i < 20; i++) {
    calm.put(CONFIG_MAPS, { metadata: { name: `c-${i}`, namespace: 'default' } })
    await inStep({ fleet, member: calm, cluster: 'calm' }, CONFIG_MAPS)
  }
  await blocker.query('rollback')
  blocker.release()
  for (const of of [CONFIG_MAPS, PODS, SECRETS])
    await inStep({ fleet, member, cluster: 'stuck' }, of)
  for (const name of ['stuck', 'calm']) await fleet.remove(name)
  await Promise.all([member.stop(), calm.stop()])
})

test('a member that sends more than can be written is slow for itself', async () => {
  const flood = 60
  const calm = await startMemberCluster({ bookmarkSeconds: 3600 })
  await fleet.stopSyncer()
  await fleet.startSyncer({ queueBytes: 1_000_000, batch: { rows: 5 } })
  await register('flood')
  await fleet.register('calm', { apiserver: calm.url, syncResources: LIST })
  await Promise.all([fleet.ready('flood'), fleet.ready('calm')])
  await fleet.query(`create function slow() returns trigger language plpgsql
    as $$ begin perform pg_sleep(0.05); return null; end $$`)
  await fleet.query('create trigger slow after insert on change execute function slow()')
  for (let i = 0; i < flood; i++) member.put(CONFIG_MAPS, hugeConfigMap(`f-${i}`, 200_000))
  await until(async () => (await fleet.rows('flood', CONFIG_MAPS)).size > 0)
  for (let i = 0; i < 3; i++) {
    calm.put(CONFIG_MAPS, { metadata: { name: `c-${i}`, namespace: 'default' } })
    await until(async () => (await fleet.rows('calm', CONFIG_MAPS)).size === i + 1)
  }
  // What came behind all of the flood was stored while most of that still waits.
  expect((await fleet.rows('flood', CONFIG_MAPS)).size).toBeLessThan(flood)
  await fleet.query('drop trigger slow on change')
  await inStep({ fleet, member, cluster: 'flood' }, CONFIG_MAPS)
  await inStep({ fleet, member: calm, cluster: 'calm' }, CONFIG_MAPS)
  expect(await fleet.log('flood', CONFIG_MAPS)).toHaveLength(flood)
  for (const name of ['flood', 'calm']) await fleet.remove(name)
  await Promise.all([member.stop(), calm.stop()])
})
