import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiFailure, apiSource, type ReadApi } from '../../src/drift/api-source.ts'
import { compareImages } from '../../src/drift/compare-images.ts'
import { gatherCrds, gatherImages } from '../../src/drift/gather.ts'
import type { AccessRule } from '../../src/kube/fleet-access.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, metadata } from '../support/objects.ts'
import { crdOf } from './seen.ts'

const PODS = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }
const CRDS = {
  ...{ group: 'apiextensions.k8s.io', version: 'v1beta1', resource: 'customresourcedefinitions' },
  ...{ kind: 'CustomResourceDefinition', namespaced: false },
}
const NOW = Date.now()

let database: TestDatabase
let server: FleetServer
beforeAll(async () => {
  database = await testDatabase()
  const pods = (image: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({
      metadata: metadata(`pod-${i}`, { namespace: i % 2 === 0 ? 'even' : 'odd' }),
      spec: { containers: [{ name: 'main', image }] },
      status: { phase: i === 0 ? 'Failed' : 'Running' },
    }))
  const a = await FilledCluster.create(database.store, 'a')
  // More than one page.
  await a.fill(PODS, pods('app:1', 1201))
  const b = await FilledCluster.create(database.store, 'b')
  await b.fill(PODS, pods('app:2', 3))
  await b.fill(CRDS, [{ ...crdOf({ name: 'x.io' }), metadata: metadata('x.io') }])
  server = await fleetServer(database.store)
})
afterAll(async () => {
  await server.close()
  await database.drop()
})

const CONDITIONS = [
  { type: 'ClusterHealthy', status: 'True' },
  { type: 'SynchroRunning', status: 'True' },
]
const synced = (group: string, name: string, more = {}) => ({
  ...{ group },
  resources: [{ name, syncConditions: [{ status: 'Syncing', version: 'v1', ...more }] }],
})
const ALL = [synced('', 'pods'), synced('apiextensions.k8s.io', 'customresourcedefinitions')]

/** Objects are the server's own; only the registrations are told here. */
function reading(reader: Reader, statuses: Readonly<Record<string, object>>): ReadApi {
  return async (path, query) => {
    if (path.endsWith('/pediaclusters')) {
      return {
        items: Object.entries(statuses).map(([name, status]) => ({ metadata: { name }, status })),
      }
    }
    const answer = await reader.askRoot(`${path}?${new URLSearchParams(query)}`)
    if (answer.status === 200) return answer.json
    const said = answer.json as { readonly message: string } | undefined
    throw new ApiFailure(said?.message ?? answer.text, answer.status)
  }
}

async function imagesOf(reader: Reader, statuses: Readonly<Record<string, object>>, more = {}) {
  const source = apiSource(reading(reader, statuses), NOW)
  const clusters = await source.clusters()
  return compareImages(await gatherImages({ source, clusters, from: 'pods', ...more }))
}

const fine = { conditions: CONDITIONS, syncResources: ALL }

test('all pages of all clusters', async () => {
  const { rows } = await imagesOf(server.admin, { a: fine, b: fine })
  expect(rows).toMatchObject([
    {
      ...{ key: 'docker.io/library/app', drift: true, class: 'tag' },
      clusters: [
        { cluster: 'a', tokens: ['1'], containers: 1200 },
        { cluster: 'b', tokens: ['2'], containers: 2 },
      ],
    },
  ])
})

test('of some namespaces', async () => {
  const { rows } = await imagesOf(server.admin, { a: fine, b: fine }, { namespaces: ['odd'] })
  expect(rows[0]?.clusters.map(({ containers }) => containers)).toEqual([600, 1])
})

test('who may not read a cluster is told so', async () => {
  const rules: readonly AccessRule[] = [
    { clusters: ['a'], namespaces: ['*'], apiGroups: ['*'], resources: ['*'] },
    { clusters: ['b'], namespaces: ['*'], apiGroups: ['*'], resources: ['nodes'] },
  ]
  const found = await imagesOf(await server.viewer(rules), { a: fine, b: fine })
  expect(found.clusters).toEqual(['a'])
  expect(found.unknown).toMatchObject([{ cluster: 'b', why: 'forbidden' }])
  expect(found.unknown[0]?.message).toContain('pods is forbidden')
})

describe('what a registration says of its cluster', () => {
  const condition = (type: string, message: string, status = 'False') => ({ type, status, message })
  test.each([
    [
      'it does not answer',
      { ...fine, conditions: [condition('ClusterHealthy', 'connection refused'), CONDITIONS[1]] },
      { why: 'disconnected', message: 'connection refused' },
    ],
    [
      'it is paused',
      { ...fine, conditions: [CONDITIONS[0], condition('SynchroRunning', 'paused')] },
      { why: 'stale', message: 'paused' },
    ],
    ['nothing yet', {}, { why: 'not collected', message: 'not synced yet' }],
    [
      'its pods are not asked for',
      { ...fine, syncResources: [] },
      { why: 'not collected', message: 'its pods are not synced' },
    ],
    [
      'it refuses its pods',
      {
        ...fine,
        syncResources: [
          synced('', 'pods', { status: 'Error', reason: 'Forbidden', message: 'no' }),
        ],
      },
      { why: 'forbidden', message: 'no' },
    ],
    [
      'its pods are listed for the first time',
      { ...fine, syncResources: [synced('', 'pods', { initialListPhase: true })] },
      { why: 'not collected', message: 'the first list of its pods is not complete' },
    ],
    [
      'its pods are behind',
      { ...fine, syncResources: [synced('', 'pods', { status: 'Error', message: 'expired' })] },
      { why: 'stale', message: 'expired' },
    ],
  ])('%s', async (_, status, expected) => {
    const found = await imagesOf(server.admin, { a: fine, b: status })
    expect(found).toMatchObject({ clusters: ['a'], unknown: [{ cluster: 'b', ...expected }] })
  })
})

test('a type is asked for in an old version where there is no other', async () => {
  const source = apiSource(reading(server.admin, { a: fine, b: fine }), NOW)
  const input = await gatherCrds({ source, clusters: await source.clusters() })
  expect(input.seen.map(({ name, facts }) => [name, facts.crds.length])).toEqual([['b', 1]])
  expect(input.unknown).toMatchObject([{ cluster: 'a', why: 'not collected' }])
})

test('a server that fails is no answer', async () => {
  const failing: ReadApi = async (path, query) => {
    if (path.endsWith('/pods')) throw new ApiFailure('the database does not answer', 503)
    return reading(server.admin, { a: fine, b: fine })(path, query)
  }
  const source = apiSource(failing, NOW)
  const clusters = await source.clusters()
  await expect(gatherImages({ source, clusters, from: 'pods' })).rejects.toThrow('does not answer')
})
