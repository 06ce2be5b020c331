/** Registrations in a management cluster: followed, synced, spoken of, and removed. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anyKubectl, KubectlRunner } from '../support/kubectl.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { until } from '../support/until.ts'
import {
  ACCESSES,
  base64,
  CLUSTERS,
  type ManagedFleet,
  MERGE,
  managedFleet,
  SECRETS,
  TEMPLATES,
} from './managed-fleet.ts'

const KUBECTL = anyKubectl()
const CONFIG_MAPS = { group: '', resource: 'configmaps' }

let fleet: ManagedFleet
let member: MemberCluster

beforeAll(async () => {
  member = await startMemberCluster({ tokens: { 's3cr3t-1': 'reader', 's3cr3t-2': 'reader' } })
  member.put(CONFIG_MAPS, { metadata: { namespace: 'default', name: 'one' }, data: {} })
  fleet = await managedFleet()
})

afterAll(async () => {
  await fleet.stop()
  await member.stop()
})

const withToken = (token = 's3cr3t-1') => ({ apiserver: member.url, tokenData: base64(token) })
const remove = (name: string) => fleet.ask('DELETE', `${CLUSTERS}/${name}`)
const gone = (name: string) =>
  until(async () =>
    fleet.get(name).then(
      () => false,
      () => true,
    ),
  )

const statusVersions = async (name: string) => {
  const { metadata } = await fleet.get(name)
  return metadata.resourceVersion
}

describe('a PediaCluster', () => {
  test('is synced, and its status is written by server-side apply', async () => {
    await fleet.register('dot-01', withToken(), { labels: { env: 'prod' } })
    await fleet.ready('dot-01')
    const { metadata, status } = await fleet.get('dot-01')
    expect(status).toMatchObject({ apiserver: member.url, version: 'v1.33.1' })
    expect(status?.syncResources?.[0]?.resources[0]).toMatchObject({ name: 'configmaps' })
    expect(metadata.finalizers).toEqual(['fleetglass.io/mirror'])
    const { managedFields } = metadata as unknown as { managedFields: readonly object[] }
    expect(managedFields).toContainEqual(
      expect.objectContaining({
        manager: 'fleetglass',
        operation: 'Apply',
        subresource: 'status',
      }),
    )
    const rows = await fleet.query<{ name: string; env: string }>(
      "select name, labels->>'env' as env from cluster where name = 'dot-01'",
    )
    expect(rows).toEqual([{ name: 'dot-01', env: 'prod' }])
  })

  test('that does not change is not written to', async () => {
    await fleet.ready('dot-01')
    const before = await statusVersions('dot-01')
    const writes = writesSeen()
    if (fleet.cluster.standIn) expect(writes).toBeGreaterThan(0)
    member.put(CONFIG_MAPS, { metadata: { namespace: 'default', name: 'two' }, data: {} })
    await until(async () => (await rowsOf('dot-01')).includes('two'))
    expect(await statusVersions('dot-01')).toBe(before)
    expect(writesSeen()).toBe(writes)
  })

  test('keeps its credentials to itself: in our database they are sealed', async () => {
    const rows = await fleet.query<{ object: string; credentials: Buffer }>(
      "select object, credentials from registration where name = 'dot-01'",
    )
    expect(rows[0]!.object).not.toContain(base64('s3cr3t-1'))
    expect(rows[0]!.credentials.length).toBeGreaterThan(20)
  })

  test('follows its ClusterSyncResources, which may come later', async () => {
    await fleet.register('templated', {
      ...withToken(),
      syncResources: [],
      syncResourcesRefName: 'shared',
    })
    const condition = await fleet.says('templated', 'Validated', 'InvalidSyncResources')
    expect(condition.message).toContain('shared')
    await fleet.ask('POST', TEMPLATES, {
      body: {
        ...{ apiVersion: 'cluster.clusterpedia.io/v1alpha2', kind: 'ClusterSyncResources' },
        metadata: { name: 'shared' },
        spec: { syncResources: [{ group: '', resources: ['configmaps'] }] },
      },
    })
    await fleet.ready('templated')
    await until(async () => (await rowsOf('templated')).includes('one'))
  })

  test('a FleetAccess reaches our store, and leaves it', async () => {
    const body = {
      ...{ apiVersion: 'fleetglass.io/v1alpha1', kind: 'FleetAccess', metadata: { name: 'devs' } },
      spec: {
        subjects: [{ kind: 'Group', name: 'devs' }],
        rules: [{ clusters: ['*'], namespaces: ['*'], apiGroups: ['*'], resources: ['*'] }],
      },
    }
    await fleet.ask('POST', ACCESSES, { body })
    await until(async () => (await storedNames('fleetaccesses')).includes('devs'))
    await fleet.ask('DELETE', `${ACCESSES}/devs`)
    await until(async () => !(await storedNames('fleetaccesses')).includes('devs'))
  })
})

describe('credentials in a Secret', () => {
  const fromSecret = (name: string) => ({
    apiserver: member.url,
    authenticationFrom: { token: { name, key: 'token' } },
  })

  test('are used, and followed when they change', async () => {
    await fleet.putSecret('rotating', { token: 's3cr3t-1' })
    await fleet.register('rotated', fromSecret('rotating'))
    await fleet.ready('rotated')
    member.server.tokens.delete('s3cr3t-1')
    await fleet.says('rotated', 'ClusterHealthy', 'Unhealthy')
    await fleet.putSecret('rotating', { token: 's3cr3t-2' })
    await fleet.ready('rotated')
    member.server.tokens.set('s3cr3t-1', 'reader')
    const rows = await fleet.query<{ object: string }>('select object from registration')
    expect(rows.some(({ object }) => object.includes(base64('s3cr3t-2')))).toBe(false)
  })

  test('that is not there, or has no such key, is told in a condition and an Event', async () => {
    await fleet.register('secretless', fromSecret('missing'))
    const condition = await fleet.says('secretless', 'Validated', 'InvalidConfig')
    expect(condition.message).toBe(
      'spec.authenticationFrom.token: the Secret "missing" in the namespace fleetglass-system does not exist',
    )
    await until(async () => (await fleet.events('secretless')).length > 0)
    expect(await fleet.events('secretless')).toMatchObject([
      { type: 'Warning', reason: 'InvalidConfig', message: condition.message, count: 1 },
    ])
    await fleet.putSecret('missing', { other: 'x' })
    await until(async () =>
      ((await fleet.condition('secretless', 'Validated'))?.message ?? '').endsWith(
        'has nothing under the key "token"',
      ),
    )
    await fleet.ask('DELETE', `${SECRETS}/missing`)
    await until(async () =>
      (await fleet.events('secretless')).some(
        ({ message, count }) => message === condition.message && count === 2,
      ),
    )
    await fleet.putSecret('missing', { token: 's3cr3t-1' })
    await fleet.ready('secretless')
  })
})

describe('a PediaCluster that cannot be used', () => {
  const kubeconfig = (user: object) =>
    base64(
      JSON.stringify({
        'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
        clusters: [{ name: 'k', cluster: { server: member.url } }],
        users: [{ name: 'u', user }],
      }),
    )

  test.each([
    ['no-yaml', () => base64('{'), /^spec.kubeconfig is not YAML$/],
    ['no-context', () => base64('{}'), /^spec.kubeconfig: current-context is not set$/],
    ['exec-plugin', () => kubeconfig({ exec: { command: 'aws' } }), /exec is not allowed/],
  ])('%s: a condition and an Event, and the others go on', async (name, config, message) => {
    await fleet.register(name, { kubeconfig: config() })
    const condition = await fleet.says(name, 'Validated', 'InvalidConfig')
    expect(condition.message).toMatch(message)
    await until(async () => (await fleet.events(name)).length > 0)
    expect((await fleet.events(name))[0]).toMatchObject({
      type: 'Warning',
      reason: 'InvalidConfig',
    })
    expect(await fleet.condition('dot-01', 'Ready')).toMatchObject({ status: 'True' })
  })
})

test('a ClusterSyncResources that is not there is told in a condition and an Event, too', async () => {
  await fleet.register('unknown-template', { ...withToken(), syncResourcesRefName: 'nowhere' })
  const condition = await fleet.says('unknown-template', 'Validated', 'InvalidSyncResources')
  expect(condition.message).toContain('"nowhere"')
  await until(async () => (await fleet.events('unknown-template')).length > 0)
  expect(await fleet.events('unknown-template')).toMatchObject([
    { type: 'Warning', reason: 'InvalidSyncResources', message: condition.message, count: 1 },
  ])
  expect(await fleet.condition('dot-01', 'Ready')).toMatchObject({ status: 'True' })
})

describe('removal', () => {
  test('hides the cluster, then lets the object go', async () => {
    await fleet.register('removed', withToken())
    await fleet.ready('removed')
    await remove('removed')
    await gone('removed')
    expect(await fleet.clusters()).not.toContain('removed')
    expect(await storedNames('pediaclusters')).not.toContain('removed')
  })

  test('of a cluster that does not answer is no different', async () => {
    const away = await startMemberCluster()
    await fleet.register('away', { apiserver: away.url })
    await fleet.ready('away')
    await away.stop()
    await fleet.says('away', 'ClusterHealthy', 'NotReachable')
    await remove('away')
    await gone('away')
    expect(await fleet.clusters()).not.toContain('away')
  })

  test('and the same name again is another registration', async () => {
    await fleet.register('again', withToken())
    await fleet.ready('again')
    const [before] = await idsOf('again')
    await remove('again')
    await gone('again')
    await fleet.register('again', withToken())
    await fleet.ready('again')
    expect((await idsOf('again'))[0]).not.toBe(before)
  })

  test('leaves the finalizers of others alone', async () => {
    const finalizers = ['example.com/theirs']
    await fleet.register('shared-end', withToken(), { finalizers })
    await fleet.ready('shared-end')
    expect((await fleet.get('shared-end')).metadata.finalizers).toEqual([
      'example.com/theirs',
      'fleetglass.io/mirror',
    ])
    await remove('shared-end')
    await until(async () => (await fleet.get('shared-end')).metadata.finalizers?.length === 1)
    expect(await fleet.clusters()).not.toContain('shared-end')
    const body = { metadata: { finalizers: null } }
    await fleet.ask('PATCH', `${CLUSTERS}/shared-end`, { ...MERGE, body })
    await gone('shared-end')
  })
})

describe('while the management API server is away', () => {
  test('members are synced on, and what changed is caught up with', async () => {
    await fleet.ready('dot-01')
    await fleet.cluster.goDown()
    const { controllers } = fleet.processes[0]!
    await until(() => controllers.trouble !== undefined)
    expect(controllers.trouble).toMatch(/connection refused$/)
    member.put(CONFIG_MAPS, { metadata: { namespace: 'default', name: 'meanwhile' }, data: {} })
    await until(async () => (await rowsOf('dot-01')).includes('meanwhile'))
    await fleet.cluster.comeBack()
    await until(() => controllers.trouble === undefined)
    await fleet.register('after', withToken())
    await fleet.ready('after')
  })
})

describe.skipIf(KUBECTL === undefined)('with kubectl', () => {
  test('the finalizers are given back as README.md says, and others stay', async () => {
    await fleet.register('released', withToken(), { finalizers: ['example.com/theirs'] })
    await fleet.ready('released')
    await Promise.all(fleet.processes.splice(0).map((process) => process.stop()))
    const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
    const lines = /^ {2}for cluster in .*?^ {2}done$/ms.exec(readme)![0]
    const kubectl = new KubectlRunner(KUBECTL!, fleet.cluster.kubeconfig)
    expect(await kubectl.paste(lines)).toMatchObject({ exitCode: 0, stderr: '' })
    expect((await fleet.get('released')).metadata.finalizers).toEqual(['example.com/theirs'])
    expect((await fleet.get('dot-01')).metadata.finalizers ?? []).toEqual([])
  })
})

async function rowsOf(cluster: string): Promise<readonly string[]> {
  const rows = await fleet.query<{ name: string }>(
    `select o.name from object o join cluster c on c.id = o.cluster_id
     where c.name = $1 and c.removed_at is null order by o.name`,
    [cluster],
  )
  return rows.map(({ name }) => name)
}

async function storedNames(resource: string): Promise<readonly string[]> {
  const rows = await fleet.query<{ name: string }>(
    'select name from registration where resource = $1 order by name',
    [resource],
  )
  return rows.map(({ name }) => name)
}

async function idsOf(cluster: string): Promise<readonly number[]> {
  const rows = await fleet.query<{ id: number }>(
    'select id from cluster where name = $1 and removed_at is null',
    [cluster],
  )
  return rows.map(({ id }) => id)
}

/** Of a stand-in, which keeps them. */
function writesSeen(): number {
  const path = `${CLUSTERS}/dot-01/status`
  return (fleet.cluster.standIn?.requests ?? []).filter((one) => one.path === path).length
}
