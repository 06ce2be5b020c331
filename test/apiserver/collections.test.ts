/** Collection resources: several kinds in one list, with every condition, order and page of a list. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type Answer, type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'

const APPS = { group: 'apps', version: 'v1', namespaced: true }
const DEPLOYMENTS: MemberType = { ...APPS, resource: 'deployments', kind: 'Deployment' }
const SETS: MemberType = { ...APPS, resource: 'statefulsets', kind: 'StatefulSet' }
const CORE = { group: '', version: 'v1' }
const PODS: MemberType = { ...CORE, resource: 'pods', kind: 'Pod', namespaced: true }
const NODES: MemberType = { ...CORE, resource: 'nodes', kind: 'Node', namespaced: false }
const WIDGETS: MemberType = {
  ...{ group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true },
  servedVersions: ['example.com/v1', 'example.com/v1beta1'],
}

const ROOT = '/apis/clusterpedia.io/v1beta1/collectionresources'
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'

let database: TestDatabase
let fleet: FleetServer
let admin: Reader
/** The namespace shop of both clusters; of apps only deployments. */
let viewer: Reader

beforeAll(async () => {
  database = await testDatabase()
  const one = await FilledCluster.create(database.store, 'dot-01', { env: 'prod' })
  const two = await FilledCluster.create(database.store, 'dot-02', { env: 'test' })
  await one.fill(DEPLOYMENTS, [object('shop/web', 1), object('data/api', 2)])
  await one.fill(SETS, [object('shop/web', 3)])
  await one.fill(PODS, [object('shop/web-0', 4, { owner: 'uid-3', phase: 'Running' })])
  await one.fill(NODES, [object('/node-a', 5)])
  await one.fill(WIDGETS, [object('shop/gear', 6)])
  await two.fill(DEPLOYMENTS, [object('shop/web', 7)])
  await two.fill(PODS, [object('shop/web-1', 8, { phase: 'Failed' })])
  const clock = new ManualClock(Date.parse('2026-12-01T10:00:00Z'))
  fleet = await fleetServer(database.store, { clock })
  admin = fleet.admin
  const inShop = { clusters: ['*'], namespaces: ['shop'] }
  viewer = await fleet.viewer([
    { ...inShop, apiGroups: ['apps'], resources: ['deployments'] },
    { ...inShop, apiGroups: ['', 'example.com'], resources: ['*'] },
  ])
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

/** @param key - `namespace/name`. */
function object(key: string, hour: number, of: { owner?: string; phase?: string } = {}) {
  const [namespace = '', name = ''] = key.split('/')
  return {
    metadata: metadata(name, {
      ...{ uid: `uid-${hour}`, creationTimestamp: `2026-12-01T0${hour}:00:00Z` },
      ...(namespace !== '' && { namespace }),
      labels: { app: name.split('-')[0] },
      ...(of.owner && { ownerReferences: [{ uid: of.owner, name: 'web', kind: 'StatefulSet' }] }),
    }),
    spec: { replicas: hour },
    ...(of.phase && { status: { phase: of.phase } }),
  }
}

/** `dot-01/shop/Deployment web`, in the order of the answer. */
function keysOf(answer: Answer): readonly string[] {
  expect([answer.status, answer.json.message]).toEqual([200, undefined])
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape
  return answer.json.items.map(({ kind, metadata: { annotations, namespace = '', name } }: any) => {
    return `${annotations['shadow.clusterpedia.io/cluster-name']}/${namespace}/${kind} ${name}`
  })
}

const READERS = ['admin', 'viewer'] as const

interface Case {
  readonly name: string
  readonly of: string
  readonly query?: string
  /** The same as search labels, where there are such. */
  readonly labels?: string
  readonly admin: readonly string[]
  /** Left out: what they may see of it. */
  readonly viewer?: readonly string[]
}

const WORKLOADS = [
  'dot-01/data/Deployment api',
  'dot-01/shop/Deployment web',
  'dot-01/shop/StatefulSet web',
  'dot-02/shop/Deployment web',
]
const DEPLOYED = ['dot-01/shop/Deployment web', 'dot-02/shop/Deployment web']

const cases: readonly Case[] = [
  { name: 'workloads', of: 'workloads', admin: WORKLOADS, viewer: DEPLOYED },
  {
    name: 'what Kubernetes has itself',
    of: 'kuberesources',
    admin: [
      'dot-01//Node node-a',
      'dot-01/data/Deployment api',
      'dot-01/shop/Deployment web',
      'dot-01/shop/StatefulSet web',
      'dot-01/shop/Pod web-0',
      'dot-02/shop/Deployment web',
      'dot-02/shop/Pod web-1',
    ],
    viewer: [
      'dot-01/shop/Deployment web',
      'dot-01/shop/Pod web-0',
      'dot-02/shop/Deployment web',
      'dot-02/shop/Pod web-1',
    ],
  },
  { name: 'any of a group', of: 'any', query: 'groups=apps', admin: WORKLOADS, viewer: DEPLOYED },
  { name: 'any of a group and version', of: 'any', query: 'groups=apps/v1', admin: WORKLOADS },
  { name: 'any of a version that is not there', of: 'any', query: 'groups=apps/v2', admin: [] },
  {
    name: 'any of the core group, which is nothing',
    of: 'any',
    query: 'groups=&names=node-a,web-0',
    admin: ['dot-01//Node node-a', 'dot-01/shop/Pod web-0'],
    viewer: ['dot-01/shop/Pod web-0'],
  },
  {
    name: 'any of types, one in a version that is not the listed one',
    of: 'any',
    query: 'resources=apps/statefulsets,/pods,example.com/v1beta1/widgets',
    admin: [
      'dot-01/shop/Widget gear',
      'dot-01/shop/StatefulSet web',
      'dot-01/shop/Pod web-0',
      'dot-02/shop/Pod web-1',
    ],
  },
  {
    name: 'a type by a group that it has left',
    of: 'any',
    query: 'groups=&resources=apps//statefulsets&clusters=dot-02',
    admin: ['dot-02/shop/Pod web-1'],
  },
  {
    name: 'everything there is',
    of: 'any',
    query: 'groups=*&fuzzyName=e',
    admin: [
      'dot-01//Node node-a',
      'dot-01/shop/Widget gear',
      'dot-01/shop/Deployment web',
      'dot-01/shop/StatefulSet web',
      'dot-01/shop/Pod web-0',
      'dot-02/shop/Deployment web',
      'dot-02/shop/Pod web-1',
    ],
  },
  {
    name: 'clusters and names',
    of: 'workloads',
    query: 'clusters=dot-01&names=web',
    labels: 'search.clusterpedia.io/clusters=dot-01,search.clusterpedia.io/names=web',
    admin: WORKLOADS.slice(1, 3),
    viewer: DEPLOYED.slice(0, 1),
  },
  {
    name: 'clusters by label',
    of: 'workloads',
    query: 'clusterSelector=env=test',
    labels: 'search.clusterpedia.io/cluster-label.env=test',
    admin: WORKLOADS.slice(3),
  },
  {
    name: 'objects by label, of each type',
    of: 'kuberesources',
    labels: 'app=web',
    admin: [
      'dot-01/shop/Deployment web',
      'dot-01/shop/StatefulSet web',
      'dot-01/shop/Pod web-0',
      'dot-02/shop/Deployment web',
      'dot-02/shop/Pod web-1',
    ],
  },
  {
    name: 'objects that lack a label',
    of: 'workloads',
    labels: 'app!=web',
    admin: [WORKLOADS[0]!],
  },
  {
    name: 'a field of the status',
    of: 'kuberesources',
    query: 'fieldSelector=status.phase=Running',
    admin: ['dot-01/shop/Pod web-0'],
  },
  {
    name: 'fields that are not one of these',
    of: 'workloads',
    query: 'fieldSelector=spec.replicas notin (1,2)',
    admin: ['dot-01/shop/StatefulSet web', 'dot-02/shop/Deployment web'],
    viewer: ['dot-02/shop/Deployment web'],
  },
  {
    name: 'times',
    of: 'workloads',
    query: 'since=2026-12-01 02:00:00&before=2026-12-01 07:00:00',
    admin: ['dot-01/data/Deployment api', 'dot-01/shop/StatefulSet web'],
    viewer: [],
  },
  {
    name: 'an owner, which the viewer may not list',
    of: 'any',
    query: 'groups=&ownerName=web&ownerGR=statefulsets.apps',
    admin: ['dot-01/shop/Pod web-0'],
    viewer: [],
  },
  {
    name: 'an order',
    of: 'workloads',
    query: 'orderby=created_at desc',
    labels: 'search.clusterpedia.io/orderby in (created_at_desc)',
    admin: [
      'dot-02/shop/Deployment web',
      'dot-01/shop/StatefulSet web',
      'dot-01/data/Deployment api',
      'dot-01/shop/Deployment web',
    ],
  },
]

describe('a collection', () => {
  const asked = cases.flatMap(({ name, of, query, labels, ...want }) =>
    [query, labels && `labelSelector=${encodeURIComponent(labels)}`].flatMap((form, i) =>
      form === undefined && (i > 0 || labels !== undefined)
        ? []
        : READERS.map((who) => {
            const keys =
              want[who] ?? want.admin.filter((key) => /\/shop\/(Deployment|Pod|Widget) /.test(key))
            return { name, of, form: form ?? '', who, keys }
          }),
    ),
  )
  test.each(asked)('$name: $of?$form as $who', async ({ of, form, who, keys }) => {
    const reader = { admin, viewer }[who]
    const answer = await reader.askRoot(`${ROOT}/${of}?${form}&withRemainingCount=true`)
    expect(keysOf(answer)).toEqual(keys)
    expect(answer.json.remainingItemCount).toBe(0)
  })

  test.each(['', '&orderby=name desc', '&orderby=created_at'])(
    'is paged by key without gap or repetition%s',
    async (order) => {
      for (const reader of [admin, viewer]) {
        const whole = keysOf(await reader.askRoot(`${ROOT}/any?groups=*${order}`))
        const paged: string[] = []
        let token = ''
        do {
          const from = `limit=2&continue=${token}`
          const page = await reader.askRoot(`${ROOT}/any?groups=*${order}&${from}`)
          paged.push(...keysOf(page))
          token = page.json.continue ?? ''
        } while (token !== '')
        expect(paged).toEqual(whole)
        expect(whole).toHaveLength(reader === viewer ? 5 : 8)
      }
    },
  )

  test('from the nth on, with the number of what follows', async () => {
    const page = await admin.askRoot(`${ROOT}/workloads?limit=2&continue=1&withRemainingCount=1`)
    expect(keysOf(page)).toEqual(WORKLOADS.slice(1, 3))
    expect(page.json.remainingItemCount).toBe(1)
  })
})

describe('the documents', () => {
  test('of one: a CollectionResource with the types that the reader may see', async () => {
    const { json } = await viewer.askRoot(`${ROOT}/workloads?limit=1`)
    const { items, continue: token, ...rest } = json
    expect(rest).toEqual({
      kind: 'CollectionResource',
      apiVersion: 'clusterpedia.io/v1beta1',
      resourceTypes: [
        { group: 'apps', version: 'v1', kind: 'Deployment', resource: 'deployments' },
      ],
      metadata: {
        name: 'workloads',
        creationTimestamp: null,
        resourceVersion: expect.stringMatching(/^\d+$/),
      },
    })
    expect(token).toEqual(expect.any(String))
    expect(items).toEqual([
      expect.objectContaining({ apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas: 1 } }),
    ])
  })

  test('of one, only metadata', async () => {
    const { json } = await admin.askRoot(`${ROOT}/workloads?onlyMetadata=true`)
    for (const item of json.items) {
      expect(Object.keys(item)).toEqual(['kind', 'apiVersion', 'metadata'])
    }
    expect(json.items[2].kind).toBe('StatefulSet')
  })

  test.each(['names=web', 'names=nobody'])('of one, as YAML: %s', async (query) => {
    const url = `${ROOT}/workloads?${query}`
    const yaml = await admin.askRoot(url, { accept: 'application/yaml' })
    expect(parse(yaml.text)).toEqual((await admin.askRoot(url)).json)
  })

  test('of one, as a Table', async () => {
    const url = `${ROOT}/any?groups=*&clusters=dot-01&names=web,node-a&orderby=name desc`
    const { json } = await admin.askRoot(url, { accept: TABLE })
    expect(json.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual([
      ...['Cluster', 'Group', 'Version', 'Kind', 'Namespace', 'Name', 'Age'],
    ])
    expect(json.rows.map(({ cells }: { cells: unknown }) => cells)).toEqual([
      ['dot-01', 'apps', 'v1', 'Deployment', 'shop', 'web', '9h'],
      ['dot-01', 'apps', 'v1', 'StatefulSet', 'shop', 'web', '7h'],
      ['dot-01', '', 'v1', 'Node', '', 'node-a', '5h'],
    ])
    expect(json.rows[2].object).toMatchObject({
      ...{ kind: 'PartialObjectMetadata', metadata: { name: 'node-a' } },
    })
  })

  test('of all: a CollectionResourceList', async () => {
    const { json } = await viewer.askRoot(ROOT)
    expect(json).toMatchObject({ kind: 'CollectionResourceList', metadata: {} })
    expect(json.items).toHaveLength(3)
    expect(json.items[1]).toEqual({
      kind: 'CollectionResource',
      apiVersion: 'clusterpedia.io/v1beta1',
      metadata: { name: 'workloads', creationTimestamp: null },
      resourceTypes: ['deployments', 'daemonsets', 'statefulsets'].map((resource) => ({
        ...{ group: 'apps', version: 'v1', resource },
      })),
    })
  })

  test('of all, as a Table', async () => {
    const { json } = await admin.askRoot(ROOT, { accept: TABLE })
    expect(json.rows.map(({ cells }: { cells: unknown }) => cells)).toEqual([
      ['any', '*'],
      ['workloads', 'deployments.apps,daemonsets.apps,statefulsets.apps'],
      [
        'kuberesources',
        expect.stringMatching(/^\.\*,\*\.admissionregistration\.k8s\.io,.*\*\.apps,/),
      ],
    ])
  })
})

describe('refused is', () => {
  const refused: ReadonlyArray<readonly [path: string, status: number, message: string]> = [
    ['/any', 400, 'url query - `groups` or `resources` is required'],
    ['/any?resources=', 400, 'url query - `groups` or `resources` is required'],
    [
      '/any?resources=pods',
      400,
      '"resources": Invalid value: "pods": must be group/resource, or group/version/resource',
    ],
    [
      '/any?groups=a/b/c',
      400,
      '"groups": Invalid value: "a/b/c": must be a group, or group/version',
    ],
    [
      '/workloads?groups=apps',
      400,
      '"groups" and "resources" choose the types of "any", not of "workloads"',
    ],
    ['/workloads?cluster=dot-01', 400, 'unknown query "cluster": did you mean "clusters"?'],
    ['/workloads?strictVersion=true', 400, '"strictVersion" is not for collection resources'],
    ['/nothing', 404, 'collectionresources.clusterpedia.io "nothing" not found'],
    [
      '/workloads?watch=true',
      405,
      'the server does not allow this method on the requested resource',
    ],
  ]
  test.each(refused)('%s', async (path, status, message) => {
    for (const reader of [admin, viewer]) {
      const answer = await reader.askRoot(ROOT + path)
      expect([answer.status, answer.json.message]).toEqual([status, message])
    }
  })

  test.each(['POST', 'DELETE', 'PUT'] as const)('%s', async (method) => {
    for (const reader of [admin, viewer]) {
      expect((await reader.askRoot(`${ROOT}/workloads`, { method })).status).toBe(405)
    }
  })

  test('a continue token of another collection', async () => {
    for (const reader of [admin, viewer]) {
      const { json } = await reader.askRoot(`${ROOT}/workloads?limit=1`)
      const other = await reader.askRoot(`${ROOT}/kuberesources?limit=1&continue=${json.continue}`)
      expect(other.status).toBe(400)
    }
  })
})
