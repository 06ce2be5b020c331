/** A registration over its life: credentials, pauses, removal, and what its status says of each. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDemoPki } from '../../src/demo/pki.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { CONFIG_MAPS, NAMESPACES, PODS } from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { inStep } from './in-step.ts'
import { type SyncedFleet, syncedFleet } from './synced-fleet.ts'

const LIST = [{ group: '', resources: ['configmaps', 'pods'] }]
const base64 = (text: string) => Buffer.from(text).toString('base64')

let fleet: SyncedFleet

beforeAll(async () => {
  fleet = await syncedFleet()
})

afterAll(async () => await fleet.stop())

const put = (member: MemberCluster, name: string) =>
  member.put(CONFIG_MAPS, { metadata: { name, namespace: 'default' } })

async function names(cluster: string): Promise<string> {
  return [...(await fleet.rows(cluster, CONFIG_MAPS)).keys()].join()
}

test('a registration that is not valid says which field, and works once it is put right', async () => {
  const member = await startMemberCluster({ tokens: { right: 'reader' } })
  put(member, 'one')
  await fleet.register('invalid', { kubeconfig: base64('a: b'), syncResources: LIST })
  await until(async () => (await fleet.condition('invalid', 'Validated'))?.status === 'False')
  await expect
    .poll(() => fleet.condition('invalid', 'Validated'))
    .toMatchObject({
      reason: 'InvalidConfig',
      message: expect.stringMatching(/^spec.kubeconfig: current-context /),
    })
  expect(await fleet.staleReason('invalid')).toMatch(/^InvalidConfig: spec.kubeconfig: /)
  await fleet.patch('invalid', {
    spec: { kubeconfig: null, apiserver: member.url, tokenData: base64('right') },
  })
  await fleet.ready('invalid')
  expect(await names('invalid')).toBe('default/one')
  await fleet.remove('invalid')
  await member.stop()
})

test('a registration without a spec is not valid, and disturbs no other', async () => {
  const member = await startMemberCluster()
  put(member, 'one')
  await fleet.register('empty', {})
  await fleet.patch('empty', { spec: null })
  await fleet.putTemplate('a-list', { syncResources: LIST })
  await fleet.patchTemplate('a-list', { spec: null })
  await fleet.register('other', {
    apiserver: member.url,
    syncResources: LIST,
    syncResourcesRefName: 'a-list',
  })
  await fleet.ready('other')
  await expect
    .poll(() => fleet.condition('empty', 'Validated'))
    .toMatchObject({
      status: 'False',
      reason: 'InvalidConfig',
    })
  for (const name of ['empty', 'other']) await fleet.remove(name)
  await fleet.removeTemplate('a-list')
  await member.stop()
})

test('a revoked token shows, a new one is taken, and nothing is listed again', async () => {
  const member = await startMemberCluster({ tokens: { old: 'reader' } })
  await fleet.register('rotated', {
    apiserver: member.url,
    tokenData: base64('old'),
    syncResources: LIST,
  })
  await fleet.ready('rotated')
  member.server.tokens.delete('old')
  member.server.tokens.set('new', 'reader')
  await until(async () => (await fleet.condition('rotated', 'ClusterHealthy'))?.status === 'False')
  await expect
    .poll(() => fleet.condition('rotated', 'ClusterHealthy'))
    .toMatchObject({
      reason: 'Unhealthy',
      message: 'Unauthorized',
    })
  expect(await fleet.staleReason('rotated')).toBe('Unauthorized')
  await fleet.patch('rotated', { spec: { tokenData: base64('new') } })
  await fleet.ready('rotated')
  put(member, 'one')
  await until(async () => (await names('rotated')) === 'default/one')
  const lists = member.requests({ of: CONFIG_MAPS, kind: 'list' })
  expect(lists.filter(({ query }) => query.get('limit') !== '1')).toHaveLength(1)
  await inStep({ fleet, member, cluster: 'rotated' }, CONFIG_MAPS)
  expect(await fleet.log('rotated', CONFIG_MAPS)).toEqual(['A default/one'])
  expect(await fleet.metrics()).toMatch(
    /^rest_client_requests_total\{cluster="rotated",method="GET",code="401"\} [1-9]/m,
  )
  await fleet.remove('rotated')
  await member.stop()
})

test('an expired certificate is named with its day', async () => {
  const pki = await createDemoPki({
    name: 'm',
    clientName: 'r',
    now: Date.parse('2020-01-02T00:00:00Z'),
  })
  const member = await startMemberCluster({ tls: pki.server })
  await fleet.register('expired', {
    apiserver: member.url,
    caData: base64(pki.ca),
    syncResources: LIST,
  })
  await until(async () => (await fleet.condition('expired', 'ClusterHealthy'))?.status === 'False')
  expect((await fleet.condition('expired', 'ClusterHealthy'))?.message).toBe(
    'CertificateExpired on 2021-01-01: the certificate of the API server',
  )
  expect(await fleet.metrics()).toMatch(
    /^rest_client_requests_total\{cluster="expired",method="GET",code="<error>"\} [1-9]/m,
  )
  await fleet.remove('expired')
  await member.stop()
})

test('an unknown CA says what to do, and doing it helps', async () => {
  const pki = await createDemoPki({ name: 'm', clientName: 'r', now: Date.now() })
  const member = await startMemberCluster({ tls: pki.server })
  const health = () => fleet.condition('unknown-ca', 'ClusterHealthy')
  await fleet.register('unknown-ca', { apiserver: member.url, syncResources: LIST })
  await until(async () => (await health())?.status === 'False')
  expect(await health()).toMatchObject({
    reason: 'Unhealthy',
    message: expect.stringMatching(/unknown authority: put the CA of the cluster in caData/),
  })
  await fleet.patch('unknown-ca', {
    metadata: { annotations: { 'fleetglass.io/insecure-skip-tls-verify': 'true' } },
  })
  await fleet.ready('unknown-ca')
  await fleet.patch('unknown-ca', {
    metadata: { annotations: { 'fleetglass.io/insecure-skip-tls-verify': null } },
    spec: { caData: base64(pki.ca) },
  })
  await until(async () => (await health())?.status === 'True')
  await fleet.remove('unknown-ca')
  await member.stop()
})

test('what answers and is no API server', async () => {
  const member = await startMemberCluster()
  member.fail({}, { code: 503 })
  await fleet.register('odd', { apiserver: member.url, syncResources: LIST })
  await until(async () => (await fleet.condition('odd', 'ClusterHealthy'))?.status === 'False')
  await expect
    .poll(() => fleet.condition('odd', 'ClusterHealthy'))
    .toMatchObject({
      reason: 'Unhealthy',
      message: expect.stringMatching(/^HTTP 503: cannot read the version/),
    })
  await fleet.remove('odd')
  await member.stop()
})

function kubeconfigOf(server: string): string {
  const config = {
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  return base64(JSON.stringify(config))
}

test('a paused cluster keeps its mirror as it is, says so, and goes on where it was', async () => {
  const member = await startMemberCluster()
  put(member, 'one')
  await fleet.register('paused', { kubeconfig: kubeconfigOf(member.url), syncResources: LIST })
  const before = Date.now()
  await fleet.ready('paused')
  await fleet.patch('paused', { metadata: { annotations: { 'fleetglass.io/paused': 'true' } } })
  await until(async () => (await fleet.condition('paused', 'SynchroRunning'))?.reason === 'Paused')
  await until(() => member.openWatches().length === 0)
  await expect.poll(() => fleet.condition('paused', 'Ready')).toMatchObject({ status: 'False' })
  await expect
    .poll(() => fleet.syncCondition('paused', PODS))
    .toMatchObject({
      status: 'Stop',
      reason: 'Paused',
    })
  expect((await fleet.get('paused')).status?.apiserver).toBe(member.url)
  expect(await fleet.staleReason('paused')).toMatch(/^paused by the annotation/)
  expect(await fleet.lastInStep('paused')).toBeGreaterThan(before - 10_000)
  put(member, 'two')
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(await names('paused')).toBe('default/one')
  await fleet.patch('paused', { metadata: { annotations: { 'fleetglass.io/paused': null } } })
  await fleet.ready('paused')
  await until(async () => (await names('paused')) === 'default/one,default/two')
  expect(await fleet.staleReason('paused')).toBeNull()
  await fleet.remove('paused')
  await member.stop()
})

test('a cluster of an import that this start was not given says so', async () => {
  await fleet.register('imported', { syncResources: LIST })
  const annotations = { 'fleetglass.io/imported-context': 'me@imported' }
  await fleet.patch('imported', { metadata: { annotations } })
  const said = async () => String((await fleet.condition('imported', 'Validated'))?.message)
  await until(async () =>
    (await said()).includes('no --import-kubeconfig with the context "me@imported"'),
  )
  await expect
    .poll(() => fleet.condition('imported', 'Validated'))
    .toMatchObject({ reason: 'InvalidConfig' })
  await fleet.remove('imported')
})

describe('removal', () => {
  test('an unreachable cluster is gone at once, and its name can be used again', async () => {
    const member = await startMemberCluster()
    put(member, 'one')
    await fleet.register('again', { apiserver: member.url, syncResources: LIST })
    await fleet.ready('again')
    await member.goDown()
    await fleet.remove('again')
    expect(await names('again')).toBe('')
    const other = await startMemberCluster()
    put(other, 'another')
    await fleet.register('again', { apiserver: other.url, syncResources: LIST })
    await fleet.ready('again')
    expect(await names('again')).toBe('default/another')
    await fleet.remove('again')
    await until(() => other.openWatches().length === 0)
    await until(async () => !(await fleet.metrics()).includes('cluster="again"'))
    await other.stop()
  })
})

test('a template that several clusters share reaches each, and forgets nothing when it goes', async () => {
  const member = await startMemberCluster()
  put(member, 'one')
  const clusters = ['shared-1', 'shared-2', 'shared-3']
  await fleet.putTemplate('shared', { syncResources: LIST })
  for (const cluster of clusters) {
    await fleet.register(cluster, { apiserver: member.url, syncResourcesRefName: 'shared' })
  }
  for (const cluster of clusters) await fleet.ready(cluster)
  await fleet.patchTemplate('shared', {
    spec: { syncResources: [{ group: '', resources: ['configmaps', 'namespaces'] }] },
  })
  for (const cluster of clusters) {
    await until(async () => (await fleet.rows(cluster, NAMESPACES)).size === 2)
    await until(async () => (await fleet.syncCondition(cluster, NAMESPACES))?.status === 'Syncing')
  }
  await fleet.removeTemplate('shared')
  for (const cluster of clusters) {
    const validated = () => fleet.condition(cluster, 'Validated')
    await until(async () => (await validated())?.reason === 'InvalidSyncResources')
    expect((await fleet.rows(cluster, NAMESPACES)).size).toBe(2)
    expect(await fleet.log(cluster, NAMESPACES)).toHaveLength(2)
    expect(await fleet.metric(cluster, NAMESPACES, 'relists_total{cause="first"}')).toBe(1)
  }
  for (const cluster of clusters) await fleet.remove(cluster)
  await member.stop()
})

test('credentials that change often leave no connection and no watch behind', async () => {
  const tokens = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`t-${i}`, 'reader']))
  const member = await startMemberCluster({ tokens })
  const spec = { apiserver: member.url, syncResources: LIST }
  await fleet.register('rotating', { ...spec, tokenData: base64('t-0') })
  await fleet.ready('rotating')
  const sockets = () =>
    process.getActiveResourcesInfo().filter((one) => one === 'TCPSocketWrap').length
  const before = sockets()
  for (let i = 1; i < 25; i++) {
    await fleet.patch('rotating', { spec: { tokenData: base64(`t-${i}`) } })
    await until(() =>
      member
        .requests({ of: CONFIG_MAPS, kind: 'watch' })
        .some(({ headers }) => headers.authorization === `Bearer t-${i}`),
    )
  }
  put(member, 'one')
  await until(async () => (await names('rotating')) === 'default/one')
  await until(() => member.openWatches(CONFIG_MAPS).length === 1)
  // Both ends of each connection are in this process.
  await until(() => sockets() <= before + 6)
  await inStep({ fleet, member, cluster: 'rotating' }, CONFIG_MAPS)
  expect(await fleet.log('rotating', CONFIG_MAPS)).toEqual(['A default/one'])
  expect(await fleet.metric('rotating', CONFIG_MAPS, 'relists_total{cause="expired"}')).toBe(0)
  await fleet.remove('rotating')
  await member.stop()
})

test('the status is written when it changes, and not otherwise', async () => {
  const member = await startMemberCluster()
  await fleet.register('quiet', { apiserver: member.url, syncResources: LIST })
  await fleet.ready('quiet')
  // Until the last types have been reported too.
  for (const of of [CONFIG_MAPS, PODS]) {
    await until(async () => (await fleet.syncCondition('quiet', of))?.status === 'Syncing')
  }
  let before: string | undefined
  await until(async () => {
    const was = before
    before = (await fleet.get('quiet')).metadata.resourceVersion
    // More than two of the times between two writes.
    await new Promise((resolve) => setTimeout(resolve, 150))
    return was === before
  })
  for (let i = 0; i < 20; i++) put(member, `c-${i}`)
  member.cutWatches()
  await until(async () => (await fleet.rows('quiet', CONFIG_MAPS)).size === 20)
  await new Promise((resolve) => setTimeout(resolve, 700))
  expect((await fleet.get('quiet')).metadata.resourceVersion).toBe(before)
  await fleet.remove('quiet')
  await member.stop()
})

test('labels of the registration reach the store', async () => {
  const member = await startMemberCluster()
  await fleet.register(
    'labelled',
    { apiserver: member.url, syncResources: LIST },
    { labels: { env: 'prod' } },
  )
  const labels = async () =>
    (
      await fleet.query<{ labels: string }>(
        "select labels::text from cluster where name = 'labelled'",
      )
    )[0]?.labels
  await until(async () => (await labels()) === '{"env": "prod"}')
  await fleet.patch('labelled', { metadata: { labels: { env: 'test' } } })
  await until(async () => (await labels()) === '{"env": "test"}')
  await fleet.remove('labelled')
  await member.stop()
})

test('another syncer takes over when this one stops, and only one syncs at a time', async () => {
  const member = await startMemberCluster()
  put(member, 'one')
  await fleet.register('shared', { apiserver: member.url, syncResources: LIST })
  await fleet.ready('shared')
  const first = fleet.takeSyncer()
  await fleet.startSyncer()
  put(member, 'two')
  await until(async () => (await names('shared')) === 'default/one,default/two')
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(member.openWatches(CONFIG_MAPS)).toHaveLength(1)
  await first.stop()
  put(member, 'three')
  await until(async () => (await fleet.rows('shared', CONFIG_MAPS)).size === 3)
  await until(() => member.openWatches(CONFIG_MAPS).length === 1)
  await fleet.remove('shared')
  await member.stop()
})

test('the database is away for a while: no event is lost', async () => {
  const member = await startMemberCluster()
  await fleet.register('outage', { apiserver: member.url, syncResources: LIST })
  await fleet.ready('outage')
  const [database] = await fleet.query<{ name: string }>('select current_database() as name')
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 40; i++) put(member, `c-${round}-${i}`)
    member.remove(CONFIG_MAPS, 'default', `c-${round}-7`)
    await fleet
      .query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()',
        [database?.name],
      )
      .catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
  await until(
    async () => (await fleet.rows('outage', CONFIG_MAPS).catch(() => new Map())).size === 5 * 39,
  )
  await inStep({ fleet, member, cluster: 'outage' }, CONFIG_MAPS)
  expect(await fleet.metric('outage', CONFIG_MAPS, 'relists_total{cause="expired"}')).toBe(0)
  expect(await fleet.metrics()).toMatch(/^fleetglass_sync_write_errors_total [1-9]/m)
  await fleet.remove('outage')
  await member.stop()
})

test('the database comes back without its last transactions: they are read from the member again', async () => {
  const member = await startMemberCluster({ bookmarkSeconds: 3600 })
  await fleet.register('crashed', { apiserver: member.url, syncResources: LIST })
  await fleet.ready('crashed')
  put(member, 'kept')
  await until(async () => (await names('crashed')) === 'default/kept')
  const [before] = await fleet.query<{ position: string; seq: string }>(
    `select r.resource_version as position, l.last_seq as seq
     from cluster c join cluster_lease l on l.cluster_id = c.id
     join cluster_resource r on r.cluster_id = c.id join resource_type t on t.id = r.type_id
     where c.name = 'crashed' and t.resource = 'configmaps'`,
  )
  put(member, 'lost')
  await until(async () => (await names('crashed')) === 'default/kept,default/lost')
  const lists = member.requests({ of: CONFIG_MAPS, kind: 'list' }).length
  // As a crash leaves it, that took the commits with it which were not flushed.
  await fleet.query(
    `with c as (select id from cluster where name = 'crashed'),
     o as (delete from object using c where cluster_id = c.id and name = 'lost'),
     h as (delete from change using c where cluster_id = c.id and seq > $1),
     b as (delete from change_batch using c where cluster_id = c.id and last_seq > $1),
     p as (update cluster_resource r set resource_version = $2 from c, resource_type t
           where r.cluster_id = c.id and t.id = r.type_id and t.resource = 'configmaps')
     update cluster_lease l set last_seq = $1 from c where l.cluster_id = c.id`,
    [before?.seq, before?.position],
  )
  put(member, 'next')
  await until(async () => (await names('crashed')) === 'default/kept,default/lost,default/next')
  const log = await fleet.log('crashed', CONFIG_MAPS)
  expect(log.slice(-3)).toEqual(['A default/kept', 'A default/lost', 'A default/next'])
  const again = member.requests({ of: CONFIG_MAPS, kind: 'list' }).slice(lists)
  expect(again.filter(({ query }) => query.get('limit') !== '1')).toEqual([])
  await inStep({ fleet, member, cluster: 'crashed' }, CONFIG_MAPS)
  expect(await fleet.metric('crashed', CONFIG_MAPS, 'relists_total{cause="first"}')).toBeLessThan(2)
  await fleet.remove('crashed')
  await member.stop()
})
