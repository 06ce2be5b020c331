/** Lists in the order of any field: numbers by size, then text, then what has no value. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type Answer, type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'

const SETS: MemberType = {
  ...{ group: 'apps', version: 'v1', resource: 'replicasets', kind: 'ReplicaSet' },
  namespaced: true,
}

let database: TestDatabase
let fleet: FleetServer
let admin: Reader
let viewer: Reader

function set(name: string, namespace: string, spec: Readonly<Record<string, unknown>>) {
  return { metadata: metadata(name, { namespace, labels: { 'x.io/tier': name } }), spec }
}

beforeAll(async () => {
  database = await testDatabase()
  const one = await FilledCluster.create(database.store, 'dot-01')
  const two = await FilledCluster.create(database.store, 'dot-02')
  await one.fill(SETS, [
    set('a', 'shop', { replicas: 10, ports: [{ port: 9 }, { port: 1 }] }),
    set('b', 'data', { replicas: 9, ports: [{ port: 10 }] }),
    set('c', 'shop', {}),
  ])
  await two.fill(SETS, [
    set('d', 'shop', { replicas: 1.5e1 }),
    set('e', 'shop', { replicas: 'many' }),
    set('f', 'data', { replicas: -1 }),
    set('g', 'shop', { replicas: 9 }),
  ])
  fleet = await fleetServer(database.store)
  admin = fleet.admin
  viewer = await fleet.viewer([
    { clusters: ['*'], namespaces: ['shop'], apiGroups: ['*'], resources: ['*'] },
  ])
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

function namesOf(answer: Answer): string {
  expect([answer.status, answer.json.message]).toEqual([200, undefined])
  return answer.json.items
    .map((item: { metadata: { name: string } }) => item.metadata.name)
    .join('')
}

const cases: ReadonlyArray<{
  readonly name: string
  readonly query: string
  readonly label?: string
  readonly admin: string
  readonly viewer: string
}> = [
  {
    name: 'numbers by size, then text, then what is missing',
    query: 'spec.replicas',
    label: 'spec.replicas',
    ...{ admin: 'fbgadec', viewer: 'gadec' },
  },
  {
    name: 'the other way round, what is missing last again',
    query: '.spec.replicas desc',
    label: 'spec.replicas_desc',
    ...{ admin: 'dabgfec', viewer: 'dagec' },
  },
  {
    name: 'with further keys',
    query: 'spec.replicas,name desc',
    label: 'spec.replicas, name_desc',
    ...{ admin: 'fgbadec', viewer: 'gadec' },
  },
  {
    name: 'the first element of a list',
    query: 'spec.ports[].port',
    ...{ admin: 'abcfdeg', viewer: 'acdeg' },
  },
  {
    name: 'a label with a dot in its key',
    query: "metadata.labels['x.io/tier'] desc",
    ...{ admin: 'gfedcba', viewer: 'gedca' },
  },
]

describe.each(cases)('$name', ({ query, label, ...want }) => {
  const text = `search.clusterpedia.io/orderby in (${label})`
  const forms = [
    `orderby=${encodeURIComponent(query)}`,
    ...(label ? [`labelSelector=${encodeURIComponent(text)}`] : []),
  ]
  const asked = forms.flatMap((form) =>
    (['admin', 'viewer'] as const).map((who) => ({ form, who, names: want[who] })),
  )
  test.each(asked)('$form as $who, whole and by pages', async ({ form, who, names }) => {
    const reader = { admin, viewer }[who]
    const list = `/apis/apps/v1/replicasets?${form}`
    expect(namesOf(await reader.ask(list))).toBe(names)
    let paged = ''
    let token = ''
    do {
      const page = await reader.ask(`${list}&limit=2&continue=${token}`)
      paged += namesOf(page)
      token = page.json.metadata.continue ?? ''
    } while (token !== '')
    expect(paged).toBe(names)
  })
})

test.each(['replicas', 'spec..replicas', 'spec.ports[', 'spec.a b'])(
  '400 for %s',
  async (field) => {
    const query = `orderby=${encodeURIComponent(field)}`
    for (const reader of [admin, viewer]) {
      expect((await reader.ask(`/apis/apps/v1/replicasets?${query}`)).status).toBe(400)
    }
  },
)
