/** Counting by groups: over all conditions, as JSON and as a Table, within the reader's rights. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'

const PODS: MemberType = {
  ...{ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true },
}

let database: TestDatabase
let fleet: FleetServer
let admin: Reader
/** The namespace shop of dot-01. */
let viewer: Reader

function pod(name: string, namespace: string, of: { phase?: string; images: readonly string[] }) {
  return {
    metadata: metadata(name, { namespace, labels: { app: name.split('-')[0] } }),
    spec: { priority: of.images.length, containers: of.images.map((image) => ({ image })) },
    ...(of.phase && { status: { phase: of.phase } }),
  }
}

beforeAll(async () => {
  database = await testDatabase()
  const one = await FilledCluster.create(database.store, 'dot-01')
  const two = await FilledCluster.create(database.store, 'dot-02')
  await one.fill(PODS, [
    pod('web-0', 'shop', { phase: 'Running', images: ['a', 'b'] }),
    pod('web-1', 'shop', { phase: 'Running', images: ['a', 'a'] }),
    pod('counts', 'shop', { phase: 'Failed', images: ['a\0b\ue000'] }),
    pod('db-0', 'data', { images: [] }),
  ])
  await two.fill(PODS, [pod('web-0', 'shop', { phase: 'Running', images: ['b'] })])
  fleet = await fleetServer(database.store)
  admin = fleet.admin
  viewer = await fleet.viewer([
    { clusters: ['dot-01'], namespaces: ['shop'], apiGroups: ['*'], resources: ['*'] },
  ])
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

interface Case {
  readonly path: string
  readonly admin: ReadonlyArray<readonly unknown[]>
  readonly viewer: ReadonlyArray<readonly unknown[]>
}

const WEB = encodeURIComponent('app=web,search.clusterpedia.io/clusters=dot-01')

const cases: readonly Case[] = [
  { path: '/api/v1/pods/counts?groupBy=', admin: [[5]], viewer: [[3]] },
  {
    path: '/api/v1/pods/counts?groupBy=cluster',
    admin: [
      ['dot-01', 4],
      ['dot-02', 1],
    ],
    viewer: [['dot-01', 3]],
  },
  {
    path: '/api/v1/pods/counts?groupBy=cluster,namespace,status.phase',
    admin: [
      ['dot-01', 'shop', 'Running', 2],
      ['dot-01', 'data', null, 1],
      ['dot-01', 'shop', 'Failed', 1],
      ['dot-02', 'shop', 'Running', 1],
    ],
    viewer: [
      ['dot-01', 'shop', 'Running', 2],
      ['dot-01', 'shop', 'Failed', 1],
    ],
  },
  {
    path: '/api/v1/pods/counts?groupBy=spec.containers[].image',
    admin: [
      ['a', 2],
      ['b', 2],
      ['a\0b\ue000', 1],
      [null, 1],
    ],
    viewer: [
      ['a', 2],
      ['a\0b\ue000', 1],
      ['b', 1],
    ],
  },
  {
    path: '/api/v1/namespaces/shop/pods/counts?groupBy=spec.priority&names=web-0,web-1,db-0',
    admin: [
      ['2', 2],
      ['1', 1],
    ],
    viewer: [['2', 2]],
  },
  {
    path: `/api/v1/pods/counts?groupBy=status.phase&labelSelector=${WEB}`,
    admin: [['Running', 2]],
    viewer: [['Running', 2]],
  },
  {
    path: '/api/v1/pods/counts?groupBy=status.phase&clusters=dot-01&fieldSelector=metadata.labels.app=web',
    admin: [['Running', 2]],
    viewer: [['Running', 2]],
  },
  { path: '/api/v1/pods/counts?groupBy=cluster&names=nobody', admin: [], viewer: [] },
]

describe('counts', () => {
  const asked = cases.flatMap(({ path, ...want }) =>
    (['admin', 'viewer'] as const).map((who) => ({ path, who, rows: want[who] })),
  )
  test.each(asked)('$path as $who', async ({ path, who, rows }) => {
    const reader = { admin, viewer }[who]
    const { json } = await reader.ask(path)
    expect(json).toMatchObject({ kind: 'CountList', apiVersion: 'fleetglass.io/v1alpha1' })
    const found = json.items.map(({ group, count }: { group: object; count: number }) => [
      ...Object.values(group),
      count,
    ])
    expect(found).toEqual(rows)
    const table = await reader.ask(path, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
    expect(table.json.rows.map(({ cells }: { cells: unknown }) => cells)).toEqual(
      rows.map((cells) => cells.map((cell) => cell ?? '<none>')),
    )
  })

  test('an object of that name is an object', async () => {
    for (const reader of [admin, viewer]) {
      const { json } = await reader.ask('/api/v1/namespaces/shop/pods/counts')
      expect(json).toMatchObject({ kind: 'Pod', metadata: { name: 'counts' } })
    }
  })

  test('of one member', async () => {
    const { json } = await admin.askMember('dot-02', '/api/v1/pods/counts?groupBy=namespace')
    expect(json.items).toEqual([{ group: { namespace: 'shop' }, count: 1 }])
    const own = await viewer.askMember('dot-01', '/api/v1/pods/counts?groupBy=namespace')
    expect(own.json.items).toEqual([{ group: { namespace: 'shop' }, count: 3 }])
    const other = await viewer.askMember('dot-02', '/api/v1/pods/counts?groupBy=namespace')
    expect(other.json).toMatchObject({ code: 403, reason: 'Forbidden' })
  })

  const refused: ReadonlyArray<readonly [query: string, message: string]> = [
    [
      'groupBy=phase',
      '"groupBy": Unsupported value: "phase": supported values: cluster, namespace, or the path of a field, such as status.phase',
    ],
    ['groupBy=cluster&limit=5', 'counts have no order, pages or watch'],
    ['groupBy=cluster&orderby=name', 'counts have no order, pages or watch'],
    ['groupBy=cluster&cluster=x', 'unknown query "cluster": did you mean "clusters"?'],
  ]
  test.each(refused)('400 for %s', async (query, message) => {
    for (const reader of [admin, viewer]) {
      const { status, json } = await reader.ask(`/api/v1/pods/counts?${query}`)
      expect([status, json.message]).toEqual([400, expect.stringContaining(message)])
    }
  })
})
