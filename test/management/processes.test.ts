/**
 * `fleetglass apiserver` and two `fleetglass syncer` of a management cluster, as processes: started
 * while it is away, stopped while they lead.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { until } from '../support/until.ts'
import { CLUSTERS, pediaCluster } from './managed-fleet.ts'
import { ManagedProcesses, type RunningPart } from './managed-processes.ts'

const SYNCER = ['syncer', '--metrics-listen=127.0.0.1:0']

let fleet: ManagedProcesses
let member: MemberCluster
let apiserver: RunningPart
let syncers: RunningPart[]

beforeAll(async () => {
  fleet = await ManagedProcesses.create()
  member = await startMemberCluster()
  member.put(
    { group: '', resource: 'configmaps' },
    { metadata: { namespace: 'default', name: 'one' }, data: {} },
  )
  await fleet.cluster.goDown()
  const dataDir = `--data-dir=${fleet.cluster.folder}/data`
  apiserver = fleet.run(['apiserver', '--listen=127.0.0.1:0', dataDir])
  syncers = [fleet.run(SYNCER), fleet.run(SYNCER)]
})

afterAll(async () => {
  await fleet.stop()
  await member.stop()
})

const register = (name: string) =>
  fleet.cluster.admin.request('POST', CLUSTERS, {
    body: pediaCluster(name, { apiserver: member.url }),
  })

/** The syncer that leads, and the others that run. */
async function leaderAndOthers(): Promise<readonly [RunningPart, ...RunningPart[]]> {
  const leader = await fleet.leader()
  const leads = ({ child }: RunningPart) => leader.includes(`/${child.pid}/`)
  const leading = syncers.find(leads)
  expect(leading).toBeDefined()
  return [leading!, ...syncers.filter((one) => one !== leading)]
}

async function anotherLeads(others: readonly RunningPart[]): Promise<void> {
  syncers = [...others]
  await until(async () => {
    const leader = await fleet.leader()
    return others.some(({ child }) => leader.includes(`/${child.pid}/`))
  })
}

describe('processes of a management cluster', () => {
  test('start while it is away, are not ready, and say why', async () => {
    for (const syncer of syncers) {
      await until(async () => (await syncer.ask('/readyz'))[1].includes('refused'))
      expect(await syncer.ask('/readyz')).toEqual([
        500,
        'the management API server: connection refused',
      ])
      expect(await syncer.ask('/livez')).toEqual([200, 'ok'])
    }
    await until(async () => (await apiserver.ask('/readyz'))[1].includes('refused'))
    const [code, text] = await apiserver.ask('/readyz')
    expect(code).toBe(500)
    expect(text).toContain(
      '[-]management-cluster failed: the management API server: connection refused',
    )
    expect((await apiserver.ask('/livez'))[0]).toBe(200)
  })

  test('recover by themselves, and sync what is registered', async () => {
    await fleet.cluster.comeBack()
    for (const syncer of syncers) {
      await until(async () => (await syncer.ask('/readyz'))[0] === 200)
    }
    await register('dot-01')
    await fleet.ready('dot-01')
    const lines = async (start: string) => {
      const pages = await Promise.all(syncers.map(async (one) => (await one.ask('/metrics'))[1]))
      return pages.map((page) => page.split('\n').find((line) => line.startsWith(start)))
    }
    const leads = 'leader_election_master_status{name="fleetglass-controllers"}'
    expect((await lines(leads)).toSorted()).toEqual([`${leads} 0`, `${leads} 1`])
    for (const queue of ['registrations', 'pediacluster_status']) {
      const worked = await lines(`workqueue_work_duration_seconds_count{name="${queue}"}`)
      expect(worked.join()).toMatch(/ [1-9]/)
    }
    // A Lease that was just made is renewed two seconds later.
    const asked = 'rest_client_requests_total{cluster="",method="PUT",code="200"}'
    await until(async () => / [1-9]/.test((await lines(asked)).join()))
  })

  test('the other one leads when the leader stops', async () => {
    const [leading, ...others] = await leaderAndOthers()
    await leading.end('SIGTERM')
    await anotherLeads(others)
    await register('dot-02')
    await fleet.ready('dot-02')
  })

  test('or is killed, and nothing is done twice', async () => {
    syncers.push(fleet.run(SYNCER))
    const [leading, ...others] = await leaderAndOthers()
    await register('dot-03')
    await fleet.ready('dot-03')
    await leading.end('SIGKILL')
    await anotherLeads(others)
    await register('dot-04')
    for (const name of ['dot-01', 'dot-02', 'dot-03', 'dot-04']) await fleet.ready(name)
    const names = ['dot-01', 'dot-02', 'dot-03', 'dot-04']
    expect(await namesIn(ADDED)).toEqual(names)
    expect(await namesIn(LIVE)).toEqual(names)
    expect(await namesIn(MIRRORED)).toEqual(names)
    if (fleet.cluster.standIn) expect(finalized()).toEqual(names)
  })
})

const ADDED = `select name from registration_event
  where resource = 'pediaclusters' and type = 'ADDED' order by name`
const LIVE = 'select name from cluster where removed_at is null order by name'
/** Each has one object. */
const MIRRORED = `select c.name from change h join cluster c on c.id = h.cluster_id
  where h.name = 'one' order by c.name`

async function namesIn(query: string): Promise<readonly string[]> {
  const { rows } = await fleet.database.store.pool.query<{ name: string }>(query)
  return rows.map(({ name }) => name)
}

/** In the order of the writes. */
function finalized(): readonly string[] {
  const { requests = [] } = fleet.cluster.standIn ?? {}
  return requests
    .filter(({ method, path }) => method === 'PATCH' && path.startsWith(CLUSTERS))
    .filter(({ subresource }) => subresource === '')
    .map(({ name }) => name)
}
