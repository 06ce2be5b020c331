import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiFailure, apiSource, type ReadApi } from '../../src/drift/api-source.ts'
import { compareImages } from '../../src/drift/compare-images.ts'
import { gatherCrds, gatherImages, type ImageGathering } from '../../src/drift/gather.ts'
import type { AccessRule } from '../../src/kube/fleet-access.ts'
import { MIRROR_STATES_PATH } from '../../src/kube/mirror-state.ts'
import { recordClusterState } from '../../src/store/clusters.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, metadata } from '../support/objects.ts'
import { crdOf } from './seen.ts'

const PODS = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }
const CRDS = {
  ...{ group: 'apiextensions.k8s.io', version: 'v1beta1', resource: 'customresourcedefinitions' },
  ...{ kind: 'CustomResourceDefinition', namespaced: false },
}

let database: TestDatabase
let server: FleetServer
let b: FilledCluster
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
  b = await FilledCluster.create(database.store, 'b')
  await b.fill(PODS, pods('app:2', 3))
  await b.fill(CRDS, [{ ...crdOf({ name: 'x.io' }), metadata: metadata('x.io') }])
  server = await fleetServer(database.store, { wishes: async () => () => undefined })
  await server.refresh()
})
afterAll(async () => {
  await server.close()
  await database.drop()
})

type Override = (path: string, query: Readonly<Record<string, string>>) => unknown

/** Answers are the server's own, but where `override` has another. */
function reading(reader: Reader, override: Override = () => undefined): ReadApi {
  return async (path, query) => {
    const other = await override(path, query)
    if (other !== undefined) return other
    const answer = await reader.askRoot(`${path}?${new URLSearchParams(query)}`)
    if (answer.status === 200) return answer.json
    const said = answer.json as { readonly message: string } | undefined
    throw new ApiFailure(said?.message ?? answer.text, answer.status)
  }
}

interface Asked extends Partial<ImageGathering> {
  readonly override?: Override
  readonly maxStaleness?: number
}

async function imagesOf(reader: Reader, asked: Asked = {}) {
  const { override, maxStaleness = 0, ...more } = asked
  const source = apiSource(reading(reader, override), maxStaleness)
  const clusters = await source.clusters()
  return compareImages(await gatherImages({ source, clusters, from: 'pods', ...more }))
}

test('all pages of all clusters', async () => {
  const { rows } = await imagesOf(server.admin)
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
  const { rows } = await imagesOf(server.admin, { namespaces: ['odd'] })
  expect(rows[0]?.clusters.map(({ containers }) => containers)).toEqual([600, 1])
})

test('who may not read a cluster is told so', async () => {
  const rules: readonly AccessRule[] = [
    { clusters: ['a'], namespaces: ['*'], apiGroups: ['*'], resources: ['*'] },
    { clusters: ['b'], namespaces: ['*'], apiGroups: ['*'], resources: ['nodes'] },
  ]
  const found = await imagesOf(await server.viewer(rules))
  expect(found.clusters).toEqual(['a'])
  expect(found.unknown).toMatchObject([
    { cluster: 'b', why: 'forbidden', message: 'you may not read pods of it' },
  ])
})

test('a type is asked for in the version that it is mirrored in', async () => {
  const source = apiSource(reading(server.admin), 0)
  const input = await gatherCrds({ source, clusters: await source.clusters() })
  expect(input.seen.map(({ name, facts }) => [name, facts.crds.length])).toEqual([['b', 1]])
  expect(input.unknown).toMatchObject([{ cluster: 'a', why: 'not collected' }])
})

describe('a mirror that is not as its cluster is', () => {
  const since = new Date(Date.now() - 3600_000)
  const staleSince = since.toISOString().replace(/\.\d+Z$/, 'Z')

  beforeAll(async () => {
    await recordClusterState(database.store, b.lease, {
      staleReason: 'connection refused',
      staleSince: since,
    })
    await server.refresh()
  })
  afterAll(async () => {
    await recordClusterState(database.store, b.lease, { staleReason: null, staleSince: null })
    await server.refresh()
  })

  test('is unknown, with the reason and since when', async () => {
    const { clusters, unknown } = await imagesOf(server.admin)
    expect(clusters).toEqual(['a'])
    const message = `connection refused; last in step ${staleSince}`
    expect(unknown).toEqual([{ cluster: 'b', why: 'disconnected', message }])
  })

  test('is compared when the user takes what is as old', async () => {
    const found = await imagesOf(server.admin, { maxStaleness: 7200_000 })
    expect(found).toMatchObject({ clusters: ['a', 'b'], unknown: [] })
    expect(found.observedAt?.from).toBe(staleSince)
  })
})

describe('an answer about one cluster that cannot be used makes that cluster unknown, and no other', () => {
  const failing = (statusCode?: number) => () => {
    throw new ApiFailure('in the words of the server', statusCode)
  }
  const metadata = { continue: 'again' }
  const cases: ReadonlyArray<{
    readonly name: string
    readonly answer: Override
    readonly why: string
    readonly says?: string
  }> = [
    { name: 'the database is away', answer: failing(503), why: 'stale' },
    { name: 'a defect', answer: failing(500), why: 'stale' },
    { name: 'a page that is too old', answer: failing(410), why: 'stale' },
    { name: 'asked too much', answer: failing(429), why: 'stale' },
    { name: 'no way in', answer: failing(401), why: 'forbidden' },
    { name: 'no right', answer: failing(403), why: 'forbidden' },
    { name: 'gone meanwhile', answer: failing(404), why: 'not collected' },
    { name: 'the connection breaks', answer: failing(), why: 'disconnected' },
    { name: 'a Status', answer: () => ({ kind: 'Status' }), why: 'disconnected', says: 'no list' },
    { name: 'a list', answer: () => [], why: 'disconnected', says: 'no list' },
    { name: 'null', answer: () => null, why: 'disconnected', says: 'no list' },
    { name: 'a word', answer: () => 'none', why: 'disconnected', says: 'no list' },
    {
      name: 'items that are none',
      answer: () => ({ items: {} }),
      why: 'disconnected',
      says: 'no list',
    },
    {
      name: 'an item that is none',
      answer: () => ({ items: [null] }),
      why: 'disconnected',
      says: 'no object',
    },
    {
      name: 'pages without an end',
      answer: () => ({ items: [], metadata }),
      why: 'disconnected',
      says: 'circles',
    },
    {
      name: 'half of a list',
      answer: (_, query) =>
        query.continue
          ? failing(500)()
          : { items: [{ metadata: {}, spec: { containers: [{ image: 'half:1' }] } }], metadata },
      why: 'stale',
    },
  ]
  test.each(cases)('$name', async ({ answer, why, says = 'words of the server' }) => {
    const override: Override = (path, query) =>
      path.endsWith('/clusters/b/api/v1/pods') ? answer(path, query) : undefined
    const found = await imagesOf(server.admin, { override })
    expect(found).toMatchObject({ clusters: ['a'], unknown: [{ cluster: 'b', why }] })
    expect(found.unknown[0]?.message).toContain(says)
    expect(found.rows.map(({ key }) => key)).toEqual(['docker.io/library/app'])
  })

  test('an empty list may come as null, as Go writes it', async () => {
    const override: Override = (path) =>
      path.endsWith('/clusters/b/api/v1/pods') ? { items: null } : undefined
    const found = await imagesOf(server.admin, { override })
    expect(found).toMatchObject({ clusters: ['a', 'b'], unknown: [] })
  })
})

test('a definition that is nested without end makes its cluster unknown, and no other', async () => {
  let schema: object = {}
  for (let depth = 0; depth < 100_000; depth++) schema = { properties: { x: schema } }
  const versions = [{ name: 'v1', schema: { openAPIV3Schema: schema } }]
  const override: Override = (path) =>
    path.endsWith('/customresourcedefinitions')
      ? { items: [{ metadata: { name: 'deep.io' }, spec: { versions } }] }
      : undefined
  const source = apiSource(reading(server.admin, override), 0)
  const clusters = await source.clusters()
  const input = await gatherCrds({ source, clusters, schemas: true })
  expect(input.unknown).toContainEqual({
    ...{ cluster: 'b', why: 'stale', message: 'an object of it cannot be read' },
  })
})

describe('a server that does not tell its clusters is no answer', () => {
  test.each([
    [
      'it fails',
      () => Promise.reject(new ApiFailure('the database does not answer', 503)),
      'database',
    ],
    ['it is something else', () => ({ kind: 'APIGroupList', groups: [] }), 'not understood'],
    [
      'half of it is rubbish',
      () => ({ kind: 'MirrorStates', now: '2026-12-01T00:00:00Z', clusters: [{}] }),
      'not understood',
    ],
    ['null', () => null as unknown, 'not understood'],
  ])('%s', async (_, answer, says) => {
    const override: Override = (path) => (path === MIRROR_STATES_PATH ? (answer() ?? 0) : undefined)
    await expect(imagesOf(server.admin, { override })).rejects.toThrow(says)
  })
})
