/** The database is away for longer than a lease: what happens meanwhile waits at the members. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectStore } from '../../src/store/connect.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { hugeConfigMap } from '../support/odd-objects.ts'
import { CONFIG_MAPS } from '../support/resource-types.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { inStep } from './in-step.ts'
import { type SyncedFleet, syncedFleet } from './synced-fleet.ts'

const MEBIBYTE = 1024 * 1024

let fleet: SyncedFleet
let member: MemberCluster
let proxy: TcpProxy

beforeAll(async () => {
  fleet = await syncedFleet({
    limits: { leaseSeconds: 1, queueBytes: 4 * MEBIBYTE },
    through: async (url) => {
      const { hostname, port } = new URL(url)
      proxy = new TcpProxy({ host: hostname, port: Number(port) })
      await proxy.start()
      const through = new URL(url)
      through.port = String(proxy.port)
      return connectStore({ url: through.href, applicationName: 'test syncer' })
    },
  })
  member = await startMemberCluster({ bookmarkSeconds: 1 })
})

afterAll(async () => {
  await fleet.stop()
  await proxy.stop()
  await member.stop()
})

test('memory stays bounded, and afterwards it goes on where it was', async () => {
  const put = (name: string) => member.put(CONFIG_MAPS, hugeConfigMap(name, 100_000))
  for (let i = 0; i < 50; i++) put(`c-${i}`)
  await fleet.register('dot-01', {
    apiserver: member.url,
    syncResources: [{ group: '', resources: ['configmaps'] }],
  })
  await fleet.ready('dot-01')
  const mirror = { fleet, member, cluster: 'dot-01' }
  await inStep(mirror, CONFIG_MAPS)
  await proxy.stop()
  for (let round = 0; round < 20; round++) {
    for (let i = 0; i < 10; i++) put(`d-${round}-${i}`)
    member.remove(CONFIG_MAPS, 'odd', `c-${round}`)
    await new Promise((resolve) => setTimeout(resolve, 150))
  }
  const waiting = async () =>
    Number(/^fleetglass_sync_queue_bytes (\d+)$/m.exec(await fleet.metrics())?.[1])
  await until(async () => (await waiting()) > 3 * MEBIBYTE)
  expect(await waiting()).toBeLessThanOrEqual(4 * MEBIBYTE)
  await proxy.start()
  await until(async () => (await fleet.rows('dot-01', CONFIG_MAPS)).size === 230)
  await inStep(mirror, CONFIG_MAPS)
  await fleet.ready('dot-01')
  const lists = member.requests({ of: CONFIG_MAPS, kind: 'list' })
  expect(lists.filter(({ query }) => query.get('limit') !== '1')).toHaveLength(1)
  expect(await fleet.metric('dot-01', CONFIG_MAPS, 'relists_total{cause="expired"}')).toBe(0)
})
