/** What requests are counted under: kube-apiserver's labels, and of types only those that there are. */
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { FLEET_PREFIX } from '../../src/kube/fleet-prefix.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer } from '../support/fleet-server.ts'
import { FilledCluster, metadata } from '../support/objects.ts'

const registry = new Registry()
const PODS = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }
const CUSTOM = 320
let database: TestDatabase
let fleet: FleetServer

beforeAll(async () => {
  database = await testDatabase()
  const cluster = await FilledCluster.create(database.store, 'dot-01')
  await cluster.fill(PODS, [{ metadata: metadata('web-0', { namespace: 'shop' }) }])
  for (let i = 0; i < CUSTOM; i++) await cluster.fill(customType(i), [])
  fleet = await fleetServer(database.store, { registry, wishes: async () => () => undefined })
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

beforeEach(() => registry.resetMetrics())

function customType(i: number) {
  return { ...PODS, group: 'example.com', resource: `things${i}`, kind: `Thing${i}` }
}

type Series = Readonly<Record<string, string | number | undefined>>

async function series(name = 'apiserver_request_total'): Promise<readonly Series[]> {
  const { values } = await registry.getSingleMetric(name)!.get()
  return values.map(({ labels }) => labels as Series)
}

const NOTHING = { group: '', version: '', resource: '', subresource: '', scope: '' }
const OF_PODS = { group: '', version: 'v1', resource: 'pods', subresource: '' }
const ROOT = '/apis/clusterpedia.io/v1beta1'

test.each<[string, string, object]>([
  ['GET', '/api/v1/pods', { verb: 'LIST', ...OF_PODS, scope: 'cluster' }],
  ['GET', '/api/v1/pods?limit=5', { verb: 'LIST', ...OF_PODS, scope: 'cluster' }],
  ['GET', '/api/v1/namespaces/shop/pods', { verb: 'LIST', ...OF_PODS, scope: 'namespace' }],
  ['GET', '/api/v1/namespaces/shop/pods/web-0', { verb: 'GET', ...OF_PODS, scope: 'resource' }],
  ['GET', '/clusters/dot-01/api/v1/pods', { verb: 'LIST', ...OF_PODS, scope: 'cluster' }],
  ['GET', '/api/v1/namespaces/shop/pods/web-0/log', { verb: 'GET', ...OF_PODS, scope: 'resource' }],
  ['DELETE', '/api/v1/namespaces/shop/pods/x', { verb: 'DELETE', ...OF_PODS, scope: 'resource' }],
  ['GET', '/api/v1/sesame', { verb: 'LIST', ...NOTHING, scope: 'cluster' }],
  ['GET', '/api/v99/pods', { verb: 'LIST', ...NOTHING, scope: 'cluster' }],
  ['GET', '/apis', { verb: 'GET', ...NOTHING }],
])('%s %s', async (method, path, labels) => {
  await fleet.admin.ask(path, { method: method as 'GET' })
  const expected = expect.objectContaining({ ...labels, component: 'apiserver', dry_run: '' })
  expect(await series()).toEqual([expected])
})

test.each<[string, object]>([
  [
    `${ROOT}/collectionresources/any?resources=/pods`,
    { verb: 'LIST', group: 'clusterpedia.io', resource: 'collectionresources' },
  ],
  [
    '/apis/fleet.fleetglass.io/v1alpha1/clusterhealths',
    { verb: 'LIST', group: 'fleet.fleetglass.io', version: 'v1alpha1', resource: 'clusterhealths' },
  ],
])('at the root: %s', async (path, labels) => {
  await fleet.admin.askRoot(path)
  expect(await series()).toEqual([expect.objectContaining(labels)])
})

test('who is nobody makes no series either, whatever they ask for', async () => {
  for (const word of ['sesame', 'pods2', '%00', 'x'.repeat(200)]) {
    await fleet.server.inject({ method: 'GET', url: `${FLEET_PREFIX}/api/v1/${word}` })
  }
  const labels = { verb: 'LIST', ...NOTHING, scope: 'cluster', code: '401' }
  expect(await series()).toEqual([expect.objectContaining(labels)])
})

test('more types than three hundred share one label', async () => {
  for (let i = 0; i < CUSTOM; i++) {
    await fleet.admin.ask(`/apis/example.com/v1/things${i}?limit=1`)
  }
  const { values } = await registry.getSingleMetric('apiserver_request_total')!.get()
  expect(values.reduce((total, { value }) => total + value, 0)).toBe(CUSTOM)
  const resources = values.map(({ labels }) => labels.resource)
  expect(resources.length).toBeLessThanOrEqual(301)
  expect(resources).toContain('other')
})
