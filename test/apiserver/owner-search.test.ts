/** Searches by owner: over clusters, generations and namespaces, and what rights have to do with it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type Answer, type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'

const PODS: MemberType = {
  ...{ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true },
}
const NODES: MemberType = { ...PODS, resource: 'nodes', kind: 'Node', namespaced: false }
const APPS = { group: 'apps', version: 'v1', namespaced: true }
const DEPLOYMENTS: MemberType = { ...APPS, resource: 'deployments', kind: 'Deployment' }
const SETS: MemberType = { ...APPS, resource: 'replicasets', kind: 'ReplicaSet' }

let database: TestDatabase
let fleet: FleetServer
let admin: Reader
/** Everything in the namespace shop of dot-01. */
let ofShop: Reader
/** Pods everywhere, and nothing else. */
let ofPods: Reader

function owned(name: string, of: { namespace?: string; uid: string; owners?: readonly string[] }) {
  const { namespace, uid, owners = [] } = of
  const ownerReferences = owners.map((owner) => ({
    ...{ apiVersion: 'apps/v1', kind: 'Whatever', name: `name-of-${owner}`, uid: owner },
  }))
  return {
    metadata: metadata(name, {
      ...{ uid, ...(namespace && { namespace }) },
      ...(ownerReferences.length > 0 && { ownerReferences }),
    }),
  }
}

beforeAll(async () => {
  database = await testDatabase()
  const one = await FilledCluster.create(database.store, 'dot-01')
  const two = await FilledCluster.create(database.store, 'dot-02')
  await one.fill(NODES, [owned('node-a', { uid: 'node-1' })])
  await one.fill(DEPLOYMENTS, [
    owned('web', { namespace: 'shop', uid: 'web-1' }),
    owned('web', { namespace: 'data', uid: 'web-2' }),
    owned('w_b', { namespace: 'data', uid: 'odd' }),
  ])
  await one.fill(SETS, [
    owned('web', { namespace: 'shop', uid: 'set-1', owners: ['web-1'] }),
    owned('web-new', { namespace: 'shop', uid: 'set-2', owners: ['web-1'] }),
    owned('web-data', { namespace: 'data', uid: 'set-3', owners: ['web-2'] }),
  ])
  await one.fill(PODS, [
    owned('web-a', { namespace: 'shop', uid: 'pod-1', owners: ['set-1'] }),
    owned('web-b', { namespace: 'shop', uid: 'pod-2', owners: ['other', 'set-2'] }),
    owned('web-c', { namespace: 'data', uid: 'pod-3', owners: ['set-3'] }),
    owned('static', { namespace: 'data', uid: 'pod-4', owners: ['node-1'] }),
    owned('astray', { namespace: 'data', uid: 'pod-5', owners: ['set-1'] }),
    owned('alone', { namespace: 'shop', uid: 'pod-6' }),
  ])
  // Restored from a backup of dot-01: equal UIDs, of which the ReplicaSet is gone.
  await two.fill(DEPLOYMENTS, [owned('web', { namespace: 'shop', uid: 'web-1' })])
  await two.fill(SETS, [owned('web-new', { namespace: 'shop', uid: 'set-2', owners: ['web-1'] })])
  await two.fill(PODS, [
    owned('web-a', { namespace: 'shop', uid: 'pod-1', owners: ['set-1'] }),
    owned('web-b', { namespace: 'shop', uid: 'pod-2', owners: ['set-2'] }),
  ])
  fleet = await fleetServer(database.store)
  admin = fleet.admin
  const every = { clusters: ['*'], namespaces: ['*'], apiGroups: ['*'], resources: ['*'] }
  ofShop = await fleet.viewer([{ ...every, clusters: ['dot-01'], namespaces: ['shop'] }])
  ofPods = await fleet.viewer([{ ...every, resources: ['pods'] }])
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

function keysOf(answer: Answer): readonly string[] {
  expect([answer.status, answer.json.message]).toEqual([200, undefined])
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape
  return answer.json.items.map(({ metadata: { annotations, namespace, name } }: any) => {
    return [annotations['shadow.clusterpedia.io/cluster-name'], namespace, name].join('/')
  })
}

interface Wanted {
  readonly uid?: string
  readonly name?: string
  readonly gr?: string
  readonly seniority?: string
}

function asLabels(wanted: Wanted, prefix: string): string {
  const given = Object.entries(wanted).map(([key, value]) => `${prefix}/owner-${key}=${value}`)
  return `labelSelector=${encodeURIComponent(given.join(','))}`
}

const QUERY_OF = { uid: 'ownerUID', name: 'ownerName', gr: 'ownerGR', seniority: 'ownerSeniority' }

function asQuery(wanted: Wanted): string {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(wanted)) query.set(QUERY_OF[key as keyof Wanted], value)
  return query.toString()
}

interface Case {
  readonly name: string
  readonly wanted: Wanted
  readonly path?: string
  readonly more?: string
  readonly admin: readonly string[]
  readonly ofShop?: readonly string[]
  readonly ofPods?: readonly string[]
}

const cases: readonly Case[] = [
  {
    name: 'a parent by its UID, in whatever cluster has it',
    wanted: { uid: 'set-2' },
    admin: ['dot-01/shop/web-b', 'dot-02/shop/web-b'],
    ofShop: ['dot-01/shop/web-b'],
    ofPods: ['dot-01/shop/web-b', 'dot-02/shop/web-b'],
  },
  {
    name: 'one of several owners',
    wanted: { uid: 'other', seniority: '0' },
    admin: ['dot-01/shop/web-b'],
  },
  { name: 'a UID of nobody', wanted: { uid: 'nobody' }, admin: [] },
  {
    name: 'a grandparent by its UID, where the parent is seen',
    wanted: { uid: 'web-1', seniority: '1' },
    admin: ['dot-01/shop/web-a', 'dot-01/shop/web-b', 'dot-02/shop/web-b'],
    ofShop: ['dot-01/shop/web-a', 'dot-01/shop/web-b'],
    ofPods: [],
  },
  { name: 'a generation too many', wanted: { uid: 'web-1', seniority: '2' }, admin: [] },
  {
    name: 'a parent by its name, in its own namespace and cluster only',
    wanted: { name: 'web', gr: 'replicasets.apps' },
    admin: ['dot-01/shop/web-a'],
    ofShop: ['dot-01/shop/web-a'],
    ofPods: [],
  },
  {
    name: 'a grandparent by its name, over namespaces and clusters',
    wanted: { name: 'web', gr: 'deployments.apps', seniority: '1' },
    admin: ['dot-01/data/web-c', 'dot-01/shop/web-a', 'dot-01/shop/web-b', 'dot-02/shop/web-b'],
    ofShop: ['dot-01/shop/web-a', 'dot-01/shop/web-b'],
    ofPods: [],
  },
  {
    name: 'a grandparent in one namespace',
    wanted: { name: 'web', gr: 'deployments.apps', seniority: '1' },
    path: '/api/v1/namespaces/data/pods',
    admin: ['dot-01/data/web-c'],
  },
  {
    name: 'a type by the group that it has left',
    wanted: { name: 'web', gr: 'deployments.extensions', seniority: '1' },
    more: 'clusters=dot-02',
    admin: ['dot-02/shop/web-b'],
  },
  {
    name: 'a name of any type: the set of that name is the parent',
    wanted: { name: 'web' },
    admin: ['dot-01/shop/web-a'],
  },
  {
    name: 'an owner that is cluster-scoped',
    wanted: { name: 'node-a', gr: 'nodes' },
    admin: ['dot-01/data/static'],
    ofShop: [],
  },
  { name: 'a type that nobody has', wanted: { name: 'web', gr: 'things.x.io' }, admin: [] },
  { name: 'a name that reads as a pattern', wanted: { name: 'w_b' }, admin: [] },
  {
    name: 'the UID wins over a name that is another',
    wanted: { uid: 'set-3', name: 'web', gr: 'nodes' },
    admin: ['dot-01/data/web-c'],
  },
  {
    name: 'with other conditions',
    wanted: { name: 'web', seniority: '1', gr: 'deployments.apps' },
    more: 'names=web-b&orderby=cluster desc&fieldSelector=metadata.namespace%3Dshop',
    admin: ['dot-02/shop/web-b', 'dot-01/shop/web-b'],
    ofShop: ['dot-01/shop/web-b'],
  },
]

describe('a search by owner', () => {
  describe.each(cases)('$name', ({ wanted, path = '/api/v1/pods', more = '', ...want }) => {
    const readers = Object.entries(want).filter(([who]) =>
      ['admin', 'ofShop', 'ofPods'].includes(who),
    )
    const forms = [
      asLabels(wanted, 'search.clusterpedia.io'),
      asLabels(wanted, 'internalstorage.clusterpedia.io'),
      asQuery(wanted),
    ]
    test.each(readers)('as %s, as labels and as a query', async (who, keys) => {
      const reader = { admin, ofShop, ofPods }[who as 'admin']
      for (const form of forms) {
        const answer = await reader.ask(`${path}?${form}&${more}&withRemainingCount=true`)
        expect(keysOf(answer)).toEqual(keys)
        expect(answer.json.metadata.remainingItemCount).toBe(0)
      }
    })
  })

  test('goes on page by page', async () => {
    const query = asQuery({ name: 'web', gr: 'deployments.apps', seniority: '1' })
    const first = await admin.ask(`/api/v1/pods?${query}&limit=3`)
    const token = first.json.metadata.continue
    const second = await admin.ask(`/api/v1/pods?${query}&limit=3&continue=${token}`)
    expect([...keysOf(first), ...keysOf(second)]).toEqual(
      cases.find(({ name }) => name.includes('over namespaces and clusters'))!.admin,
    )
  })

  test('is answered for one member, too', async () => {
    const query = asQuery({ name: 'web', gr: 'deployments.apps' })
    const sets = '/apis/apps/v1/replicasets'
    expect(keysOf(await admin.askMember('dot-02', `${sets}?${query}`))).toEqual([
      'dot-02/shop/web-new',
    ])
  })
})

describe('400 for', () => {
  const refused: ReadonlyArray<readonly [query: string, message: string]> = [
    ['ownerGR=pods', '"ownerGR" needs the owner\'s name or UID beside it'],
    ['ownerSeniority=1', '"ownerSeniority" needs the owner\'s name or UID beside it'],
    [
      'ownerUID=x&ownerSeniority=-1',
      '"ownerSeniority": Invalid value: "-1": must be a whole number from 0 (parent) to 20',
    ],
    [
      'ownerUID=x&ownerSeniority=21',
      '"ownerSeniority": Invalid value: "21": must be a whole number from 0 (parent) to 20',
    ],
    [
      'ownerName=x&ownerGR=.apps',
      '"ownerGR": Invalid value: ".apps": must be a resource and its group: deployments.apps',
    ],
    ['ownerUID=a,b', '"ownerUID" takes exactly one value'],
    [
      'labelSelector=search.clusterpedia.io/owner-name!%3Dx',
      'the search label "search.clusterpedia.io/owner-name" takes only =, == and in',
    ],
    [
      'labelSelector=search.clusterpedia.io/owner-uid%3D',
      '"search.clusterpedia.io/owner-uid": Invalid value: "": must not be empty',
    ],
  ]
  test.each(refused)('%s', async (query, message) => {
    const answer = await admin.ask(`/api/v1/pods?${query}`)
    expect([answer.status, answer.json.message]).toEqual([400, expect.stringContaining(message)])
  })
})
