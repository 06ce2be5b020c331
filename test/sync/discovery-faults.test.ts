/** Discovery documents that are malformed over HTTP: no type is lost for it, and none is disturbed. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { GroupResource } from '../../src/kube/group-resource.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS } from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { inStep } from './in-step.ts'
import { type SyncedFleet, syncedFleet } from './synced-fleet.ts'

const WIDGETS = { group: 'shop.example.com', version: 'v1', resource: 'widgets' }
const TYPES = [CONFIG_MAPS, DEPLOYMENTS, WIDGETS] as const
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

let fleet: SyncedFleet
let member: MemberCluster
let name = ''
let count = 0

beforeAll(async () => {
  fleet = await syncedFleet({ limits: { discoveryMilliseconds: 100 } })
})

afterAll(async () => await fleet.stop())

beforeEach(async () => {
  name = `dot-${++count}`
  member = await startMemberCluster({ bookmarkSeconds: 3600 })
  member.put(CUSTOM_RESOURCE_DEFINITIONS, {
    metadata: { name: 'widgets.shop.example.com' },
    spec: {
      group: 'shop.example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget', singular: 'widget' },
      versions: [{ name: 'v1', served: true, storage: true }],
    },
  })
  for (const of of TYPES) member.put(of, { metadata: { name: 'before', namespace: 'default' } })
  await fleet.register(name, {
    apiserver: member.url,
    syncResources: [
      { group: '', resources: ['configmaps'] },
      { group: 'apps', resources: ['deployments'] },
      { group: 'shop.example.com', resources: ['*'] },
    ],
  })
  await fleet.ready(name)
})

afterEach(async () => {
  await fleet.remove(name)
  await member.stop()
})

type Json = Record<string, unknown>
interface Document extends Json {
  items: Array<{ metadata: Json; versions: Array<Json & { resources: Json[] }> }>
}

/** As the member would answer, and then something else of it. */
async function answerWith(
  alter: (document: Document, path: string) => string,
): Promise<() => void> {
  const bodies = new Map<string, string>()
  for (const path of ['/api', '/apis']) {
    const answer = await fetch(`${member.url}${path}`, { headers: { accept: AGGREGATED } })
    bodies.set(path, alter((await answer.json()) as Document, path))
  }
  return member.answerWhenever({ kind: 'discovery' }, async ({ request, response }) => {
    response.writeHead(200, { 'content-type': AGGREGATED })
    response.end(bodies.get(request.path))
  })
}

const text = (document: unknown) => JSON.stringify(document)
const rounds = () => member.requests({ kind: 'discovery' }).length
const watches = (of: GroupResource) => member.requests({ of, kind: 'watch' }).length

/** Each of these leaves every type as it was; `says` is what readers are told meanwhile. */
const CASES: ReadonlyArray<{
  readonly name: string
  readonly alter: (document: Document, path: string) => string
  readonly says?: RegExp
}> = [
  {
    name: 'JSON that is cut off',
    alter: (document) => text(document).slice(0, -100),
    says: /cannot discover types/,
  },
  { name: 'no JSON', alter: () => '<html>', says: /cannot discover types/ },
  { name: 'null', alter: () => 'null', says: /cannot discover types/ },
  { name: 'a list', alter: () => '[]', says: /cannot discover types/ },
  {
    name: 'another kind, without items',
    alter: () => text({ kind: 'APIGroupDiscoveryList', items: null }),
    says: /cannot discover types/,
  },
  {
    name: 'nothing at all, as of a proxy',
    alter: (document) => text({ ...document, items: [] }),
    says: /no core types: cannot discover types/,
  },
  {
    name: 'no group but the core',
    alter: (document, path) => text(path === '/apis' ? { ...document, items: [] } : document),
  },
  {
    name: 'fields and values that nobody knows yet',
    alter: ({ items, ...document }) =>
      text({
        ...{ ...document, tomorrow: { a: [1] } },
        items: items.map((item) => ({
          ...{ ...item, tomorrow: true },
          versions: item.versions.map((version) => ({
            ...{ ...version, freshness: 'Ripe', tomorrow: null },
            resources: version.resources.map((one) => ({ ...one, scope: one.scope, tomorrow: 1 })),
          })),
        })),
      }),
  },
  {
    name: 'everything stale, and listed all the same',
    alter: ({ items, ...document }) =>
      text({
        ...document,
        items: items.map((item) => ({
          ...item,
          versions: item.versions.map((version) => ({ ...version, freshness: 'Stale' })),
        })),
      }),
  },
  {
    name: 'groups, versions and resources twice',
    alter: ({ items, ...document }) => {
      const twice = <T>(list: readonly T[]) => [...list, ...list]
      return text({
        ...document,
        items: twice(items).map((item) => ({
          ...item,
          versions: twice(item.versions).map((version) => ({
            ...version,
            resources: twice(version.resources),
          })),
        })),
      })
    },
  },
  {
    name: 'resources that are none among the others',
    alter: ({ items, ...document }) =>
      text({
        ...document,
        items: items.map((item) => ({
          ...item,
          versions: item.versions.map((version) => ({
            ...version,
            resources: [null, 7, 'x', {}, { resource: '../x' }, ...version.resources],
          })),
        })),
      }),
  },
]

describe('discovery that is', () => {
  test.each(CASES)('$name', async ({ alter, says }) => {
    const before = TYPES.map(watches)
    const heal = await answerWith(alter)
    const asked = rounds()
    await until(() => rounds() > asked + 6)
    if (says) await until(async () => says.test((await fleet.staleReason(name)) ?? ''))
    for (const of of TYPES) member.put(of, { metadata: { name: 'after', namespace: 'default' } })
    for (const of of TYPES) {
      await inStep({ fleet, member, cluster: name }, of)
      expect(await fleet.log(name, of)).toEqual(['A default/before', 'A default/after'])
      expect(await fleet.metric(name, of, 'relists_total{cause="first"}')).toBe(1)
      await expect.poll(async () => (await fleet.syncCondition(name, of))?.reason).toBe('Watching')
    }
    expect(TYPES.map(watches)).toEqual(before)
    const served = await fleet.query<{ served: string[] }>(
      `select served_versions as served from cluster_resource r join cluster c on c.id = r.cluster_id
       join resource_type t on t.id = r.type_id where c.name = $1 and t.resource = 'deployments'`,
      [name],
    )
    expect(served).toEqual([{ served: ['apps/v1'] }])
    heal()
    await until(async () => (await fleet.staleReason(name)) === null)
  })
})
