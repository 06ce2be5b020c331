/**
 * E14: what differs between clusters by nature is no drift, in whatever is compared; and what is
 * missing is not different, what is not synced is not missing.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compareCrds } from '../../src/drift/compare-crds.ts'
import { compareImages } from '../../src/drift/compare-images.ts'
import { gatherCrds, gatherImages, type ImageGathering } from '../../src/drift/gather.ts'
import { everyCluster, storeSource } from '../../src/drift/store-source.ts'
import { loadCatalog } from '../../src/store/catalog.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { FilledCluster, type MemberObject, metadata } from '../support/objects.ts'

const CRDS = {
  ...{ group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
  ...{ kind: 'CustomResourceDefinition', namespaced: false },
}
const workloads = (resource: string, group = 'apps') => ({
  ...{ group, version: 'v1', resource, kind: `Kind${resource}`, namespaced: true },
})
const WORKLOADS = [
  ...['deployments', 'statefulsets', 'daemonsets'].map((one) => workloads(one)),
  ...['cronjobs', 'jobs'].map((one) => workloads(one, 'batch')),
]

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  const fill = async (name: string, look: Look) => {
    const made = await FilledCluster.create(database.store, name)
    for (const type of WORKLOADS) {
      await made.fill(type, type.resource === 'deployments' ? [deployment(look)] : [])
    }
    await made.fill(CRDS, [definition(look), ...(look.extra ? [bare('extra.example.com')] : [])])
  }
  await fill('a', { cpu: '1000m', more: 'uid-a', keys: 'forwards', extra: true })
  await fill('b', { cpu: '1', more: 'uid-b', keys: 'backwards' })
  // Registered a moment ago: nothing of it is here yet.
  await FilledCluster.create(database.store, 'new')
})
afterAll(() => database.drop())

interface Look {
  readonly cpu: string
  readonly more: string
  readonly keys: 'forwards' | 'backwards'
  readonly extra?: boolean
}

const isFirst = (look: Look) => look.keys === 'forwards'

/** What a server fills in, another in each cluster. */
function ofServer(name: string, look: Look, more: object = {}) {
  return metadata(name, {
    ...more,
    ...{ uid: look.more, resourceVersion: isFirst(look) ? '7' : '90071992547409931' },
    creationTimestamp: isFirst(look) ? '2020-01-01T00:00:00Z' : '2026-11-30T00:00:00Z',
    generation: isFirst(look) ? 3 : 41,
    managedFields: [{ manager: look.more, operation: 'Apply' }],
    annotations: { 'deployment.kubernetes.io/revision': isFirst(look) ? '3' : '41' },
  })
}

function ordered<T extends object>(look: Look, object: T): T {
  const entries = Object.entries(object)
  return Object.fromEntries(isFirst(look) ? entries : entries.toReversed()) as T
}

function deployment(look: Look): MemberObject {
  const container = ordered(look, {
    ...{ name: 'main', image: 'registry.example.com/app:1', args: ['one', 'two'] },
    resources: { limits: { cpu: look.cpu } },
  })
  const generation = isFirst(look) ? 3 : 41
  return ordered(look, {
    metadata: ofServer('web', look, { namespace: 'shop' }),
    spec: { replicas: 1, template: { spec: { containers: [container] } } },
    status: {
      ...{ observedGeneration: generation, replicas: 1, updatedReplicas: 1 },
      readyReplicas: isFirst(look) ? 1 : 0,
    },
  })
}

function bare(name: string): MemberObject {
  return {
    metadata: metadata(name),
    spec: { scope: 'Cluster', versions: [{ name: 'v1', served: true, storage: true }] },
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  }
}

function definition(look: Look): MemberObject {
  const limits = { cpu: look.cpu }
  const openAPIV3Schema = ordered(look, {
    ...{ type: 'object', required: ['a', 'b'], description: null },
    properties: ordered(look, {
      a: { type: 'string', enum: ['x', 'y'] },
      b: { type: 'object', default: { limits } },
    }),
  })
  return {
    metadata: ofServer('widgets.example.com', look),
    spec: {
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
    status: {
      conditions: [
        { type: 'Established', status: 'True', lastTransitionTime: look.more },
        { type: 'NamesAccepted', status: 'True' },
      ],
    },
  }
}

async function gathering() {
  const catalog = await loadCatalog(database.store)
  const source = storeSource({
    ...{ store: database.store, catalog, ...everyCluster(catalog) },
    ...{ now: Date.now(), maxStalenessMilliseconds: 0 },
  })
  return { source, clusters: await source.clusters() }
}

test.each(['templates', 'pods'] as const satisfies readonly ImageGathering['from'][])(
  'the same Deployment under another server is no drift of images: %s',
  async (from) => {
    const found = compareImages(await gatherImages({ ...(await gathering()), from }))
    expect(found.driftCount).toBe(0)
    if (from === 'pods') return expect(found.unknown).toHaveLength(3)
    expect(found.rows).toMatchObject([{ key: 'registry.example.com/app', class: 'none' }])
    expect(found.rows[0]?.clusters.some(({ rollingOut }) => rollingOut)).toBe(false)
  },
)

test('the same definition is no drift: other keys’ order, other spelling, other server', async () => {
  const found = compareCrds(await gatherCrds({ ...(await gathering()), schemas: true }))
  expect(found.rows.find(({ key }) => key === 'widgets.example.com')).toMatchObject({
    ...{ drift: false, class: 'none', differences: [] },
    presentIn: ['a', 'b'],
  })
})

test('missing is not different, and a cluster that is not here yet lacks nothing', async () => {
  const found = compareCrds(await gatherCrds(await gathering()))
  expect(found.rows.find(({ key }) => key === 'extra.example.com')).toMatchObject({
    ...{ class: 'missing', differences: [], presentIn: ['a'], missingFrom: ['b'] },
    unknownIn: ['new'],
  })
  expect(found.unknown).toMatchObject([{ cluster: 'new', why: 'not collected' }])
})
