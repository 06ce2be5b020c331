/** Which types are mirrored, as discovery, definitions and registrations change. */
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { MemberResource } from '../../src/demo/member-server.ts'
import { builtInResources, recordedOpenApi } from '../../src/demo/recorded.ts'
import { getOpenApiDocument } from '../../src/store/openapi-documents.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import {
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  DEPLOYMENTS,
  EVENTS,
  PODS,
} from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { oneMember } from './one-member.ts'
import type { SyncedFleet } from './synced-fleet.ts'

const WIDGETS = { group: 'shop.example.com', version: 'v1', resource: 'widgets' }
const INGRESSES = { group: 'networking.k8s.io', resource: 'ingresses' }

let fleet: SyncedFleet
let member: MemberCluster
let name = ''
const count = 0

oneMember({}, (made) => {
  fleet = made.fleet
  member = made.member
  name = made.name
  member.put(CONFIG_MAPS, { metadata: { name: 'one', namespace: 'default' } })
  member.put(CONFIG_MAPS, { metadata: { name: 'one', namespace: 'kube-system' } })
  member.put(PODS, { metadata: { name: 'p', namespace: 'default' } })
})

function definition(columns: object[] = []) {
  return {
    metadata: { name: 'widgets.shop.example.com' },
    spec: {
      group: 'shop.example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget', singular: 'widget', shortNames: ['wd'] },
      versions: [{ name: 'v1', served: true, storage: true, additionalPrinterColumns: columns }],
    },
  }
}

const SIZE = { name: 'Size', type: 'integer', jsonPath: '.spec.size' }

async function mirrored(spec: object) {
  await fleet.register(name, { apiserver: member.url, ...spec })
  await fleet.ready(name)
}

async function types(): Promise<string[]> {
  const rows = await fleet.query<{ type: string }>(
    `select t.resource || '.' || t.api_group as type from cluster_resource r
     join resource_type t on t.id = r.type_id join cluster c on c.id = r.cluster_id
     where c.name = $1 and c.removed_at is null order by 1`,
    [name],
  )
  return rows.map(({ type }) => type)
}

async function columns(of: { group: string; resource: string }): Promise<string[]> {
  const [row] = await fleet.query<{ columns: string }>(
    `select s.columns from cluster_resource r join resource_type t on t.id = r.type_id
     join column_set s on s.id = r.columns_id join cluster c on c.id = r.cluster_id
     where c.name = $1 and t.api_group = $2 and t.resource = $3`,
    [name, of.group, of.resource],
  )
  return JSON.parse(row?.columns ?? '[]').map((one: { name: string }) => one.name)
}

describe('what a registration asks for', () => {
  test('groups, resources and exclusions', async () => {
    await mirrored({
      syncResources: [
        { group: '', resources: ['configmaps', 'pods'] },
        { group: 'apps', resources: ['*'] },
      ],
      excludeResources: [{ group: 'apps', resources: ['controllerrevisions', 'daemonsets'] }],
    })
    expect(await types()).toEqual([
      'configmaps.',
      'deployments.apps',
      'pods.',
      'replicasets.apps',
      'statefulsets.apps',
    ])
  })

  test.each(['v1.33.1', 'v1.20.15'])(
    'everything, each type once, no subresources: of %s',
    async (version) => {
      member.server.upgrade(version)
      await mirrored({ syncResources: [{ group: '*', resources: ['*'] }] })
      const all = await types()
      expect(all).toContain('events.')
      expect(all).not.toContain('events.events.k8s.io')
      expect(all.filter((type) => type.includes('/'))).toEqual([])
      expect(all).not.toContain('tokenreviews.authentication.k8s.io')
      expect(new Set(all).size).toBe(all.length)
    },
  )

  test('what is no longer asked for goes, with its rows', async () => {
    await mirrored({ syncResources: [{ group: '', resources: ['configmaps', 'pods'] }] })
    await fleet.patch(name, { spec: { syncResources: [{ group: '', resources: ['pods'] }] } })
    await until(async () => (await types()).join() === 'pods.')
    expect((await fleet.rows(name, CONFIG_MAPS)).size).toBe(0)
    expect((await fleet.log(name, CONFIG_MAPS)).slice(-2).map((line) => line[0])).toEqual([
      'D',
      'D',
    ])
    await until(() => member.openWatches(CONFIG_MAPS).length === 0)
    expect(member.requests({ of: PODS, kind: 'watch' })).toHaveLength(1)
  })

  test('a type that the member does not serve is named, and comes when it is served', async () => {
    await mirrored({ syncResources: [{ group: 'shop.example.com', resources: ['widgets'] }] })
    await expect
      .poll(() => fleet.syncCondition(name, WIDGETS))
      .toMatchObject({
        status: 'Unknown',
        reason: 'NotServed',
      })
    member.put(CUSTOM_RESOURCE_DEFINITIONS, definition())
    await until(async () => (await fleet.syncCondition(name, WIDGETS))?.status === 'Syncing')
  })

  test('some namespaces only', async () => {
    await mirrored({
      syncResources: [{ group: '', resources: ['configmaps', 'namespaces'] }],
      namespaces: ['default', 'team'],
    })
    expect([...(await fleet.rows(name, CONFIG_MAPS)).keys()]).toEqual(['default/one'])
    member.put(CONFIG_MAPS, { metadata: { name: 'two', namespace: 'team' } })
    member.put(CONFIG_MAPS, { metadata: { name: 'two', namespace: 'kube-system' } })
    member.remove(CONFIG_MAPS, 'default', 'one')
    await until(async () => [...(await fleet.rows(name, CONFIG_MAPS)).keys()].join() === 'team/two')
    expect(member.requests({ of: CONFIG_MAPS }).every(({ namespace }) => namespace !== '')).toBe(
      true,
    )
    // A restart resumes from the lowest of both.
    const lists = member.requests({ of: CONFIG_MAPS, kind: 'list' }).length
    await until(async () => (await fleet.position(name, CONFIG_MAPS)) !== undefined)
    await fleet.stopSyncer()
    member.put(CONFIG_MAPS, { metadata: { name: 'three', namespace: 'default' } })
    await fleet.startSyncer()
    await until(async () => (await fleet.rows(name, CONFIG_MAPS)).size === 2)
    const again = member.requests({ of: CONFIG_MAPS, kind: 'list' }).slice(lists)
    expect(again.every(({ query }) => query.get('limit') === '1')).toBe(true)
  })
})

describe('a template', () => {
  test('is added to the own list; an unknown one is said, and forgets nothing', async () => {
    const template = `template-${count}`
    await fleet.register(name, {
      apiserver: member.url,
      syncResources: [{ group: '', resources: ['pods'] }],
      syncResourcesRefName: template,
    })
    await until(async () => (await fleet.condition(name, 'Validated'))?.status === 'False')
    await expect
      .poll(() => fleet.condition(name, 'Validated'))
      .toMatchObject({
        reason: 'InvalidSyncResources',
        message: `spec.syncResourcesRefName: there is no ClusterSyncResources "${template}"`,
      })
    await until(async () => (await fleet.rows(name, PODS)).size === 1)
    await fleet.putTemplate(template, { syncResources: [{ group: '', resources: ['configmaps'] }] })
    await fleet.ready(name)
    expect(await types()).toEqual(['configmaps.', 'pods.'])
  })
})

describe('custom resources', () => {
  test('come and go with their definition', async () => {
    await mirrored({
      syncResources: [{ group: '', resources: ['pods'] }],
      syncAllCustomResources: true,
    })
    member.put(CUSTOM_RESOURCE_DEFINITIONS, definition([SIZE]))
    member.put(WIDGETS, { metadata: { name: 'w', namespace: 'default' }, spec: { size: 3 } })
    await until(async () => (await fleet.rows(name, WIDGETS)).size === 1)
    expect(await columns(WIDGETS)).toEqual(['Name', 'Size'])
    expect((await fleet.rows(name, WIDGETS)).get('default/w')?.cells).toBe('"w",3')
    member.remove(CUSTOM_RESOURCE_DEFINITIONS, '', 'widgets.shop.example.com')
    await until(async () => (await types()).join() === 'pods.')
    expect((await fleet.rows(name, WIDGETS)).size).toBe(0)
    expect(await fleet.log(name, WIDGETS)).toEqual(['A default/w', 'D default/w'])
    await until(async () => (await fleet.syncCondition(name, WIDGETS)) === undefined)
    expect(await fleet.metrics()).not.toContain(`cluster="${name}",resource="widgets.`)
    await until(() => member.openWatches(WIDGETS).length === 0)
  })

  test('print what their definition says after it changed, and no other type is disturbed', async () => {
    member.put(CUSTOM_RESOURCE_DEFINITIONS, definition())
    member.put(WIDGETS, { metadata: { name: 'w', namespace: 'default' }, spec: { size: 3 } })
    await mirrored({
      syncResources: [
        { group: '', resources: ['pods'] },
        { group: 'shop.example.com', resources: ['*'] },
      ],
    })
    expect(await columns(WIDGETS)).toEqual(['Name', 'Age'])
    member.put(CUSTOM_RESOURCE_DEFINITIONS, definition([SIZE]))
    await until(async () => (await fleet.rows(name, WIDGETS)).get('default/w')?.cells === '"w",3')
    expect(await columns(WIDGETS)).toEqual(['Name', 'Size'])
    expect(member.requests({ of: PODS, kind: 'watch' })).toHaveLength(1)
    expect(member.requests({ of: PODS, kind: 'list' })).toHaveLength(1)
    // Made again from what is stored: the object has not changed.
    expect(await fleet.log(name, WIDGETS)).toEqual(['A default/w'])
    await expect
      .poll(async () => (await fleet.syncCondition(name, WIDGETS))?.status)
      .toBe('Syncing')
    expect(await fleet.metric(name, WIDGETS, 'relists_total{cause="first"}')).toBe(0)
    expect(await fleet.metrics()).toContain('fleetglass_sync_rows_total{change="remade"} 1')
  })
})

describe('discovery', () => {
  const forms = [
    { name: 'aggregated', version: 'v1.33.1' },
    { name: 'aggregated v2beta1', version: 'v1.27.1' },
    { name: 'plain', version: 'v1.20.15' },
  ]
  for (const { name: form, version } of forms) {
    test(`${form}: a broken group keeps its types`, async () => {
      member.server.upgrade(version)
      member.put(CUSTOM_RESOURCE_DEFINITIONS, definition())
      member.put(WIDGETS, { metadata: { name: 'w', namespace: 'default' } })
      await mirrored({ syncResources: [{ group: '*', resources: ['*'] }] })
      const heal = member.breakGroup('shop.example.com')
      const asked = () => member.requests({ kind: 'discovery' }).length
      const before = asked()
      await until(() => asked() > before + 4)
      expect((await fleet.rows(name, WIDGETS)).size).toBe(1)
      expect(await fleet.syncCondition(name, WIDGETS)).toBeDefined()
      expect(await fleet.log(name, WIDGETS)).toEqual(['A default/w'])
      expect(await fleet.metric(name, WIDGETS, 'relists_total{cause="first"}')).toBe(1)
      // Also for a process that never saw it whole.
      await fleet.stopSyncer()
      await fleet.startSyncer()
      await fleet.ready(name)
      expect((await fleet.rows(name, WIDGETS)).size).toBe(1)
      await until(async () => (await fleet.syncCondition(name, WIDGETS))?.status === 'Error')
      await expect
        .poll(async () => (await fleet.syncCondition(name, WIDGETS))?.message)
        .toMatch(/^HTTP 503: cannot list/)
      member.put(WIDGETS, { metadata: { name: 'x', namespace: 'default' } })
      heal()
      await until(async () => (await fleet.syncCondition(name, WIDGETS))?.reason === 'Watching')
      await until(async () => (await fleet.rows(name, WIDGETS)).size === 2)
      expect(await fleet.log(name, WIDGETS)).toEqual(['A default/w', 'A default/x'])
      expect(await fleet.metric(name, WIDGETS, 'relists_total{cause="first"}')).toBe(0)
    })
  }

  test('rubbish takes nothing away, and is said', async () => {
    await mirrored({ syncResources: [{ group: '', resources: ['pods'] }] })
    const heal = member.malformDiscovery()
    await until(async () => (await fleet.staleReason(name)) !== null)
    expect(await fleet.staleReason(name)).toMatch(/cannot discover types/)
    expect(await types()).toEqual(['pods.'])
    heal()
    await until(async () => (await fleet.staleReason(name)) === null)
  })

  test('a type that moves to another group stays one type, without a gap', async () => {
    const old = ingresses('extensions', 'v1beta1')
    member.server.removeResource({ ...old, group: 'networking.k8s.io', version: 'v1' })
    member.server.addResource(old)
    member.put(old, { metadata: { name: 'i', namespace: 'default' } })
    await mirrored({ syncResources: [{ group: 'networking.k8s.io', resources: ['ingresses'] }] })
    expect((await fleet.rows(name, INGRESSES)).get('default/i')?.apiVersion).toBe(
      'extensions/v1beta1',
    )
    await expect
      .poll(() => fleet.syncCondition(name, INGRESSES))
      .toMatchObject({
        syncResource: 'ingresses.extensions',
      })
    let gone = false
    const watching = setInterval(async () => {
      gone ||= (await fleet.rows(name, INGRESSES)).size !== 1
    }, 10)
    member.server.addResource(ingresses('networking.k8s.io', 'v1'))
    member.server.removeResource(old)
    await until(
      async () =>
        (await fleet.rows(name, INGRESSES)).get('default/i')?.apiVersion === 'networking.k8s.io/v1',
    )
    clearInterval(watching)
    expect(gone).toBe(false)
    const log = await fleet.log(name, INGRESSES)
    expect(log[0]).toBe('A default/i')
    expect(log.slice(1).every((line) => line === 'M default/i')).toBe(true)
    await until(async () => (await fleet.syncCondition(name, INGRESSES))?.status === 'Syncing')
    expect(await fleet.syncCondition(name, INGRESSES)).not.toHaveProperty('syncResource')
    expect(await fleet.metric(name, INGRESSES, 'relists_total{cause="first"}')).toBe(1)
    expect(await types()).toEqual(['ingresses.networking.k8s.io'])
  })

  test('what cannot be watched is polled', async () => {
    const polled = { ...EVENTS, group: 'metrics.example.com', resource: 'samples', kind: 'Sample' }
    member.server.addResource({
      ...builtInResources().find((one) => one.resource === 'pods')!,
      ...polled,
      verbs: ['get', 'list'],
      singularName: 'sample',
      shortNames: [],
    })
    member.put(polled, { metadata: { name: 's', namespace: 'default' } })
    await mirrored({ syncResources: [{ group: 'metrics.example.com', resources: ['*'] }] })
    await expect.poll(() => fleet.syncCondition(name, polled)).toMatchObject({ reason: 'Polling' })
    member.remove(polled, 'default', 's')
    await until(async () => (await fleet.rows(name, polled)).size === 0)
  })
})

function ingresses(group: string, version: string): MemberResource {
  const known = builtInResources().find((one) => one.resource === 'ingresses')!
  return { ...known, group, version }
}

test('two clusters of one fleet do not mix', async () => {
  const other = await startMemberCluster()
  other.put(DEPLOYMENTS, { metadata: { name: 'web', namespace: 'default' } })
  await mirrored({ syncResources: [{ group: 'apps', resources: ['deployments'] }] })
  await fleet.register('other', {
    apiserver: other.url,
    syncResources: [{ group: 'apps', resources: ['deployments'] }],
  })
  await fleet.ready('other')
  expect((await fleet.rows(name, DEPLOYMENTS)).size).toBe(0)
  expect((await fleet.rows('other', DEPLOYMENTS)).size).toBe(1)
  await fleet.remove('other')
  await until(() => other.openWatches().length === 0)
  expect((await fleet.rows('other', DEPLOYMENTS)).size).toBe(0)
  await other.stop()
})

const storedOpenApi = () =>
  fleet.query<{ path: string; digest: string }>(
    `select path, digest from cluster_openapi o join cluster c on c.id = o.cluster_id
     where c.name = $1 and c.removed_at is null order by path`,
    [name],
  )

test('OpenAPI documents of what is synced, and of nothing else', async () => {
  const documents = recordedOpenApi()
  const described = await startMemberCluster({ openApi: documents })
  await fleet.register(name, {
    apiserver: described.url,
    syncResources: [{ group: 'apps', resources: ['deployments'] }],
  })
  const stored = storedOpenApi
  await until(async () => (await stored()).length === 1)
  const [row] = await stored()
  expect(row?.path).toBe('apis/apps/v1')
  const document = await getOpenApiDocument(fleet.store, row!.digest)
  expect(document?.equals(gunzipSync(documents.get('apis/apps/v1')!))).toBe(true)
  // Fetched once, however often discovery is asked.
  const fetched = () =>
    described.requests().filter(({ path }) => path.endsWith('apps/v1') && path.includes('openapi'))
  await new Promise((resolve) => setTimeout(resolve, 1200))
  expect(fetched()).toHaveLength(1)
  await fleet.patch(name, { spec: { syncResources: [{ group: '', resources: ['pods'] }] } })
  await until(async () => (await stored()).map(({ path }) => path).join() === 'api/v1')
  await described.stop()
})

test('OpenAPI documents of a member without v3, made of its v2', async () => {
  const old = await startMemberCluster({ version: 'v1.20.15', openApi: recordedOpenApi() })
  await fleet.register(name, {
    apiserver: old.url,
    syncResources: [{ group: 'apps', resources: ['deployments'] }],
  })
  await until(async () => (await storedOpenApi()).length === 1)
  const [row] = await storedOpenApi()
  expect(row?.path).toBe('apis/apps/v1')
  const { openapi, components } = JSON.parse(
    (await getOpenApiDocument(fleet.store, row!.digest))!.toString(),
  )
  expect(openapi).toBe('3.0.0')
  expect(components.schemas).toHaveProperty(['io.k8s.api.apps.v1.Deployment'])
  // From then on it is asked whether it has changed, and answers that it has not.
  await until(() => old.requests().filter(({ path }) => path === '/openapi/v2').length > 1)
  expect((await storedOpenApi())[0]?.digest).toBe(row?.digest)
  await fleet.patch(name, { spec: { syncResources: [{ group: '', resources: ['pods'] }] } })
  await until(async () => (await storedOpenApi()).map(({ path }) => path).join() === 'api/v1')
  await old.stop()
})
