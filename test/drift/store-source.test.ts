import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compareCrds } from '../../src/drift/compare-crds.ts'
import { compareImages } from '../../src/drift/compare-images.ts'
import { compareClusterVersions } from '../../src/drift/compare-versions.ts'
import {
  gatherCrds,
  gatherImages,
  gatherVersions,
  type ImageGathering,
} from '../../src/drift/gather.ts'
import type { DriftSource } from '../../src/drift/source.ts'
import { everyCluster, type StoreSourceOptions, storeSource } from '../../src/drift/store-source.ts'
import { loadCatalog } from '../../src/store/catalog.ts'
import { setSyncStatus } from '../../src/store/cluster-resources.ts'
import { recordClusterState } from '../../src/store/clusters.ts'
import { releaseLease } from '../../src/store/leases.ts'
import { ensureType } from '../../src/store/resource-types.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { FilledCluster, type MemberObject, metadata } from '../support/objects.ts'
import { crdOf, digest } from './seen.ts'

const PODS = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }
const NODES = { group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false }
const CRDS = {
  ...{ group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
  ...{ kind: 'CustomResourceDefinition', namespaced: false },
}
const workloads = (resource: string, kind: string, group = 'apps') => ({
  ...{ group, version: 'v1', resource, kind, namespaced: true },
})
const DEPLOYMENTS = workloads('deployments', 'Deployment')
const ALL_WORKLOADS = [
  DEPLOYMENTS,
  workloads('statefulsets', 'StatefulSet'),
  workloads('daemonsets', 'DaemonSet'),
  workloads('cronjobs', 'CronJob', 'batch'),
  workloads('jobs', 'Job', 'batch'),
]

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

let count = 0
/** Each test has clusters of its own: `t1-a`, and sees no others. */
class Fleet {
  readonly #prefix = `t${++count}-`

  async cluster(name: string, version?: string): Promise<FilledCluster> {
    const made = await FilledCluster.create(database.store, this.#prefix + name, { letter: name })
    await recordClusterState(database.store, made.lease, {
      ...(version && { version: JSON.stringify({ gitVersion: version }) }),
      staleReason: null,
    })
    return made
  }

  async source(more: Partial<StoreSourceOptions> = {}): Promise<DriftSource> {
    const catalog = await loadCatalog(database.store)
    return storeSource({
      ...{ store: database.store, catalog, ...everyCluster(catalog) },
      isVisible: ({ name }) => name.startsWith(this.#prefix),
      ...{ now: Date.now(), maxStalenessMilliseconds: 0, ...more },
    })
  }

  async gathering(more: Partial<StoreSourceOptions> = {}) {
    const source = await this.source(more)
    return { source, clusters: await source.clusters() }
  }

  async images(more: Partial<ImageGathering> = {}) {
    const input = await gatherImages({ ...(await this.gathering()), from: 'pods', ...more })
    return this.#short(compareImages(input))
  }

  async versions(more: Partial<StoreSourceOptions> = {}) {
    return this.#short(compareClusterVersions(await gatherVersions(await this.gathering(more))))
  }

  async crds(more: { schemas?: boolean } = {}) {
    return this.#short(compareCrds(await gatherCrds({ ...(await this.gathering()), ...more })))
  }

  /** Without the prefix of names. */
  #short<T>(found: T): T {
    return JSON.parse(JSON.stringify(found).replaceAll(this.#prefix, ''))
  }
}

const node = (name: string, kubeletVersion: string, architecture = 'amd64'): MemberObject => ({
  metadata: metadata(name),
  status: { nodeInfo: { kubeletVersion, architecture, containerRuntimeVersion: 'containerd://2' } },
})

interface PodWish {
  readonly namespace?: string
  readonly image?: string
  readonly phase?: string
  readonly nodeName?: string
  readonly spec?: object
  readonly metadata?: object
  readonly imageID?: string
}

let pods = 0
function pod(wish: PodWish): MemberObject {
  const { namespace = 'default', image = 'app:1', phase = 'Running', nodeName, imageID } = wish
  return {
    metadata: metadata(`pod-${++pods}`, { namespace, ...wish.metadata }),
    spec: { nodeName, containers: [{ name: 'main', image }], ...wish.spec },
    status: { phase, ...(imageID && { containerStatuses: [{ name: 'main', imageID }] }) },
  }
}

describe('D4 what is not known is said', () => {
  test('why each cluster is left out', async () => {
    const fleet = new Fleet()
    const { store } = database
    await fleet.cluster('a', 'v1.30.5')
    const b = await fleet.cluster('b', 'v1.31.0')
    await recordClusterState(store, b.lease, {
      staleReason: 'connection refused',
      staleSince: new Date('2026-09-01T11:00:00Z'),
    })
    await fleet.cluster('c')
    const d = await fleet.cluster('d', 'v1.31.0')
    await releaseLease(store, d.lease)
    const found = await fleet.versions({ now: Date.now() + 60_000 })
    expect(found).toMatchObject({ comparable: 1, driftDetected: false, clusters: ['a'] })
    expect(found.unknown).toMatchObject([
      {
        ...{ cluster: 'b', why: 'disconnected' },
        message: 'connection refused; last in step 2026-09-01T11:00:00Z',
      },
      { cluster: 'c', why: 'not collected', message: 'its version was never told' },
      { cluster: 'd', why: 'stale', message: expect.stringMatching(/^no syncer is at work; last/) },
    ])
  })

  test('what is behind by less than is allowed is compared', async () => {
    const fleet = new Fleet()
    await fleet.cluster('a', 'v1.30.5')
    const b = await fleet.cluster('b', 'v1.31.0')
    const staleSince = new Date(Date.now() - 60_000)
    await recordClusterState(database.store, b.lease, { staleReason: 'timed out', staleSince })
    const tolerant = await fleet.versions({ maxStalenessMilliseconds: 120_000 })
    expect(tolerant).toMatchObject({ comparable: 2, driftDetected: true, unknown: [] })
    expect(Date.parse(tolerant.observedAt!.from)).toBeLessThan(Date.now() - 50_000)
    expect(await fleet.versions({ maxStalenessMilliseconds: 30_000 })).toMatchObject({
      ...{ comparable: 1, unknown: [{ cluster: 'b' }] },
    })
  })

  test('so are its types, which do not answer either', async () => {
    const fleet = new Fleet()
    const a = await fleet.cluster('a', 'v1.30.5')
    const b = await fleet.cluster('b', 'v1.30.5')
    for (const cluster of [a, b]) await cluster.fill(CRDS, [])
    const typeId = await ensureType(database.store, CRDS)
    const failed = { status: 'Error', reason: 'NotReachable', message: 'refused' } as const
    await setSyncStatus(database.store, b.lease, { typeId, ...failed })
    const staleSince = new Date(Date.now() - 60_000)
    await recordClusterState(database.store, b.lease, { staleReason: 'refused', staleSince })
    const comparable = async (maxStalenessMilliseconds: number) => {
      const gathering = await fleet.gathering({ maxStalenessMilliseconds })
      return compareCrds(await gatherCrds(gathering)).comparable
    }
    expect(await comparable(120_000)).toBe(2)
    expect(await comparable(30_000)).toBe(1)
  })

  test('a version that is no JSON counts as untold', async () => {
    const fleet = new Fleet()
    const a = await fleet.cluster('a')
    await recordClusterState(database.store, a.lease, { version: '<html>', staleReason: null })
    expect((await fleet.versions()).unknown).toMatchObject([{ why: 'not collected' }])
  })
})

test('W14 an untold version is estimated from kubelets', async () => {
  const fleet = new Fleet()
  const a = await fleet.cluster('a')
  await a.fill(NODES, [node('n1', 'v1.30.4'), node('n2', 'v1.30.10'), node('n3', 'v1.30.9')])
  await fleet.cluster('b', 'v1.30.10')
  const found = await fleet.versions()
  expect(found.rows).toMatchObject([
    { cluster: 'a', version: 'v1.30.10', estimated: true, nodes: { nodes: 3 } },
    { cluster: 'b', version: 'v1.30.10', estimated: false, nodes: null },
  ])
  expect(found.driftDetected).toBe(false)
})

describe('pods', () => {
  test('D7 D8 by repository, across clusters', async () => {
    const fleet = new Fleet()
    const images = ['host:5000/team/app:1.2', 'docker.io/library/nginx']
    await (await fleet.cluster('a')).fill(
      PODS,
      images.map((image) => pod({ image })),
    )
    const others = ['host:5000/team/app:1.3', 'nginx:latest']
    await (await fleet.cluster('b')).fill(
      PODS,
      others.map((image) => pod({ image })),
    )
    const found = await fleet.images()
    expect(found.rows.map(({ key, drift }) => [key, drift])).toEqual([
      ['docker.io/library/nginx', false],
      ['host:5000/team/app', true],
    ])
  })

  test('not synced is not missing', async () => {
    const fleet = new Fleet()
    await (await fleet.cluster('a')).fill(PODS, [pod({})])
    await (await fleet.cluster('b')).fill(PODS, [])
    await fleet.cluster('c')
    const d = await fleet.cluster('d')
    await d.fill(PODS, [pod({ image: 'app:9' })])
    await setSyncStatus(database.store, d.lease, {
      typeId: await ensureType(database.store, PODS),
      ...{ status: 'Error', reason: 'Forbidden', message: 'pods is forbidden' },
    })
    const found = await fleet.images()
    expect(found).toMatchObject({ clusters: ['a', 'b'], driftDetected: false })
    expect(found.rows).toMatchObject([{ class: 'presence', missingFrom: ['b'] }])
    expect(found.unknown).toEqual([
      { cluster: 'c', why: 'not collected', message: 'its pods are not synced' },
      { cluster: 'd', why: 'forbidden', message: 'pods is forbidden' },
    ])
  })

  test('I20 what has finished is history, unless asked for', async () => {
    const fleet = new Fleet()
    const finished = ['Succeeded', 'Failed'].map((phase) => pod({ image: 'app:0', phase }))
    await (await fleet.cluster('a')).fill(PODS, [pod({}), ...finished])
    await (await fleet.cluster('b')).fill(PODS, [pod({ phase: 'Pending' })])
    expect((await fleet.images()).driftDetected).toBe(false)
    const all = await fleet.images({ includeFinished: true })
    expect(all.rows[0]?.clusters[0]).toMatchObject({ tokens: ['0', '1'], containers: 3 })
  })

  test('I17 I18 roles of containers', async () => {
    const fleet = new Fleet()
    const spec = {
      containers: [{ name: 'main', image: 'main:1' }],
      initContainers: [
        { name: 'setup', image: 'setup:1' },
        { name: 'proxy', image: 'proxy:1', restartPolicy: 'Always' },
      ],
      ephemeralContainers: [{ name: 'debug', image: 'busybox' }],
    }
    await (await fleet.cluster('a')).fill(PODS, [pod({ spec })])
    const roles = async (more: Partial<ImageGathering>) =>
      (await fleet.images(more)).rows.map(({ key, clusters }) => [key, clusters[0]?.roles])
    const usual = [
      ['docker.io/library/main', ['container']],
      ['docker.io/library/proxy', ['sidecar']],
      ['docker.io/library/setup', ['init']],
    ]
    expect(await roles({})).toEqual(usual)
    expect(await roles({ includeEphemeral: true })).toEqual([
      ['docker.io/library/busybox', ['ephemeral']],
      ...usual,
    ])
  })

  test('I22 namespaces are counted, and can be chosen', async () => {
    const fleet = new Fleet()
    const a = await fleet.cluster('a')
    const namespaces = ['one', 'two', 'two', 'three']
    await a.fill(
      PODS,
      namespaces.map((namespace) => pod({ namespace })),
    )
    const uses = async (more: Partial<ImageGathering>) =>
      (await fleet.images(more)).rows[0]?.clusters
    expect(await uses({})).toMatchObject([{ containers: 4, namespaces: 3 }])
    expect(await uses({ namespaces: ['one', 'two'] })).toMatchObject([
      { containers: 3, namespaces: 2 },
    ])
    expect(await uses({ namespaces: ['nowhere'] })).toBeUndefined()
  })

  test('I13 digests are compared by the architecture of nodes', async () => {
    const fleet = new Fleet()
    for (const [name, architecture, letter] of [
      ['a', 'amd64', 'a'],
      ['b', 'arm64', 'b'],
    ] as const) {
      const cluster = await fleet.cluster(name)
      await cluster.fill(NODES, [node('n1', 'v1.30.5', architecture)])
      const imageID = `registry.example.com/app@${digest(letter)}`
      await cluster.fill(PODS, [pod({ nodeName: 'n1', imageID })])
    }
    const { rows } = await fleet.images()
    expect(rows).toMatchObject([
      { drift: false, notes: [expect.stringMatching(/^possibly platform/)] },
    ])
  })

  test('I14 tags are of the spec, digests of the status, whatever tag that names', async () => {
    const fleet = new Fleet()
    for (const [name, seen] of [
      ['a', 'app:1'],
      ['b', 'app:one'],
    ] as const) {
      const imageID = `docker.io/library/app@${digest('a')}`
      const status = {
        phase: 'Running',
        containerStatuses: [{ name: 'main', image: seen, imageID }],
      }
      await (await fleet.cluster(name)).fill(PODS, [{ ...(pod({}) as object), status }])
    }
    const { rows } = await fleet.images()
    expect(rows).toMatchObject([{ key: 'docker.io/library/app', drift: false, class: 'none' }])
    expect(rows[0]?.clusters.map(({ tags }) => tags)).toEqual([['1'], ['1']])
  })

  test('I16 a rollout is named', async () => {
    const fleet = new Fleet()
    const a = await fleet.cluster('a')
    await a.fill(DEPLOYMENTS, [
      {
        metadata: metadata('web', { namespace: 'default', generation: 3 }),
        spec: { replicas: 2 },
        status: { observedGeneration: 3, replicas: 3, updatedReplicas: 1 },
      },
    ])
    const ofWeb = (hash: string, image: string) =>
      pod({
        image,
        metadata: {
          labels: { 'pod-template-hash': hash },
          ownerReferences: [
            { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `web-${hash}`, uid: hash },
          ],
        },
      })
    await a.fill(PODS, [ofWeb('old', 'app:1'), ofWeb('new', 'app:2')])
    await (await fleet.cluster('b')).fill(PODS, [pod({ image: 'app:2' })])
    expect((await fleet.images()).rows).toMatchObject([
      { class: 'mixed', drift: true, notes: ['a rollout is in progress in a'] },
    ])
  })

  test.each([
    ['no containers', { containers: null }],
    ['containers that are no list', { containers: 'main' }],
    ['containers of nothing', { containers: [null, 7, {}, { image: 3 }] }],
  ])('an object that is odd harms nothing: %s', async (_, spec) => {
    const fleet = new Fleet()
    const odd = pod({ spec })
    const { status: __, ...bare } = odd as Readonly<Record<string, unknown>>
    const rubbish = { ...bare, status: { containerStatuses: [null, { name: 1, imageID: {} }] } }
    await (await fleet.cluster('a')).fill(PODS, [rubbish, pod({})])
    await (await fleet.cluster('b')).fill(PODS, [pod({})])
    expect(await fleet.images()).toMatchObject({ driftDetected: false, comparable: 2 })
  })
})

describe('I19 I21 templates', () => {
  const template = (image: string) => ({ spec: { containers: [{ name: 'main', image }] } })
  const named = (name: string, spec: object, more = {}) => ({
    ...{ metadata: metadata(name, { namespace: 'default', ...more }), spec },
  })

  test('what is declared, running or not', async () => {
    const fleet = new Fleet()
    const a = await fleet.cluster('a')
    const [deployments, statefulSets, daemonSets, cronJobs, jobs] = ALL_WORKLOADS
    await a.fill(deployments!, [named('d', { replicas: 0, template: template('d:1') })])
    await a.fill(statefulSets!, [named('s', { template: template('s:1') })])
    await a.fill(daemonSets!, [named('e', { template: template('e:1') })])
    await a.fill(cronJobs!, [named('c', { jobTemplate: { spec: { template: template('c:2') } } })])
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'c', uid: 'u' }]
    await a.fill(jobs!, [
      named('c-1', { template: template('c:1') }, { ownerReferences }),
      named('j', { template: template('j:1') }),
    ])
    const { rows, unknown } = await fleet.images({ from: 'templates' })
    expect(rows.map(({ key, clusters }) => [key.slice(-1), clusters[0]?.tokens])).toEqual([
      ['c', ['2']],
      ['d', ['1']],
      ['e', ['1']],
      ['j', ['1']],
      ['s', ['1']],
    ])
    expect(unknown).toEqual([])
  })

  test('a type that is not synced leaves the cluster out', async () => {
    const fleet = new Fleet()
    await (await fleet.cluster('a')).fill(DEPLOYMENTS, [named('d', { template: template('d:1') })])
    expect((await fleet.images({ from: 'templates' })).unknown).toMatchObject([
      { cluster: 'a', why: 'not collected' },
    ])
  })
})

test('D15 definitions, one cluster refusing', async () => {
  const fleet = new Fleet()
  const crd = (name: string) => ({ ...crdOf({ name }), metadata: metadata(name) })
  await (await fleet.cluster('a')).fill(CRDS, [crd('x.io'), crd('y.io')])
  await (await fleet.cluster('b')).fill(CRDS, [crd('x.io')])
  const c = await fleet.cluster('c')
  await c.fill(CRDS, [])
  await setSyncStatus(database.store, c.lease, {
    typeId: await ensureType(database.store, CRDS),
    ...{ status: 'Error', reason: 'Forbidden', message: 'refused' },
  })
  const found = await fleet.crds()
  expect(found).toMatchObject({ total: 2, driftCount: 1 })
  expect(found.rows).toMatchObject([
    { key: 'x.io', drift: false, unknownIn: ['c'] },
    { key: 'y.io', presentIn: ['a'], missingFrom: ['b'], unknownIn: ['c'] },
  ])
})

test('E14 schemas are compared when asked for, and by what they say', async () => {
  const fleet = new Fleet()
  const crd = (schema: object) => ({
    metadata: metadata('x.io'),
    spec: {
      scope: 'Cluster',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  })
  await (await fleet.cluster('a')).fill(CRDS, [crd({ type: 'object', required: ['a'] })])
  await (await fleet.cluster('b')).fill(CRDS, [crd({ required: ['a'], type: 'object' })])
  expect((await fleet.crds({ schemas: true })).driftDetected).toBe(false)
  await (await fleet.cluster('c')).fill(CRDS, [crd({ type: 'object' })])
  expect((await fleet.crds()).driftDetected).toBe(false)
  const found = await fleet.crds({ schemas: true })
  expect(found.rows[0]?.differences).toMatchObject([
    {
      field: 'schemas',
      values: expect.arrayContaining([expect.objectContaining({ clusters: ['a', 'b'] })]),
    },
  ])
})

describe('a reader’s scope', () => {
  test('what may not be seen does not exist, and what may not be read is said', async () => {
    const fleet = new Fleet()
    const visible = [await fleet.cluster('a'), await fleet.cluster('b')]
    const hidden = await fleet.cluster('c')
    for (const cluster of [...visible, hidden]) await cluster.fill(PODS, [pod({})])
    const gathering = await fleet.gathering({
      isVisible: ({ id }) => visible.some((cluster) => cluster.id === id),
      scopeOf: () => [{ id: visible[0]!.id, name: visible[0]!.name, namespaces: ['default'] }],
    })
    const found = compareImages(await gatherImages({ ...gathering, from: 'pods' }))
    expect(found.clusters).toEqual([visible[0]!.name])
    expect(found.unknown).toEqual([
      { cluster: visible[1]!.name, why: 'forbidden', message: 'you may not read pods of it' },
    ])
  })

  test('namespaces that may not be read are not', async () => {
    const fleet = new Fleet()
    const a = await fleet.cluster('a')
    await a.fill(PODS, [pod({ namespace: 'mine' }), pod({ namespace: 'yours', image: 'secret:1' })])
    const gathering = await fleet.gathering({
      scopeOf: () => [{ id: a.id, name: a.name, namespaces: ['mine'] }],
    })
    const { rows } = compareImages(await gatherImages({ ...gathering, from: 'pods' }))
    expect(rows.map(({ key }) => key)).toEqual(['docker.io/library/app'])
  })
})

test('a stored object that is torn makes its cluster unknown, and no other', async () => {
  const fleet = new Fleet()
  const [torn, other] = [await fleet.cluster('torn'), await fleet.cluster('whole')]
  for (const one of [torn, other]) await one.fill(PODS, [pod({ image: 'app:1' })])
  await database.store.pool.query(
    `update object set head = '{"half', tail = '' where cluster_id = $1`,
    [torn.id],
  )
  const found = await fleet.images()
  expect(found.clusters).toEqual(['whole'])
  expect(found.unknown).toEqual([
    { cluster: 'torn', why: 'stale', message: 'an object of it cannot be read' },
  ])
})
