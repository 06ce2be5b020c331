/** Pages: limits, continue tokens, offsets, counts; by URL and by search label. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'

const PODS: MemberType = {
  ...{ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true },
}
const S = 'search.clusterpedia.io'
const NAMES = Array.from({ length: 7 }, (_, i) => `pod-${i}`)

let database: TestDatabase
let fleet: FleetServer
let cluster: FilledCluster
let admin: Reader
let viewer: Reader

const pods = (names: readonly string[]) =>
  names.map((name) => ({ metadata: metadata(name, { namespace: 'shop', labels: { app: 'a' } }) }))

beforeAll(async () => {
  database = await testDatabase()
  cluster = await FilledCluster.create(database.store, 'dot-01')
  await cluster.fill(PODS, pods(NAMES))
  const other = await FilledCluster.create(database.store, 'dot-02')
  await other.fill(PODS, pods(['hidden-0', 'hidden-1']))
  fleet = await fleetServer(database.store)
  admin = fleet.admin
  viewer = await fleet.viewer([
    { clusters: ['dot-01'], namespaces: ['*'], apiGroups: [''], resources: ['pods'] },
  ])
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

interface Page {
  readonly names: readonly string[]
  readonly continue?: string
  readonly remaining?: number
  readonly code?: number
  readonly message?: string
}

async function page(reader: Reader, query: Readonly<Record<string, string>>): Promise<Page> {
  const { status, json } = await reader.ask(`/api/v1/pods?${new URLSearchParams(query)}`)
  if (status !== 200) return { names: [], code: status, message: json.message }
  return {
    names: json.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ...(json.metadata.continue !== undefined && { continue: json.metadata.continue }),
    ...(json.metadata.remainingItemCount !== undefined && {
      remaining: json.metadata.remainingItemCount,
    }),
  }
}

async function allPages(reader: Reader, query: Readonly<Record<string, string>>) {
  const names: string[] = []
  let token: string | undefined
  do {
    const got = await page(reader, { ...query, ...(token && { continue: token }) })
    expect(got.code).toBeUndefined()
    names.push(...got.names)
    token = got.continue
  } while (token)
  return names
}

for (const limit of ['1', '2', '3', '7', '8', '500']) {
  test(`pages of ${limit} make the whole list`, async () => {
    expect(await allPages(viewer, { limit })).toEqual(NAMES)
    expect(await allPages(admin, { limit })).toEqual([...NAMES, 'hidden-0', 'hidden-1'])
    const order = `${S}/orderby in (name_desc)`
    expect(await allPages(viewer, { limit, labelSelector: order })).toEqual(NAMES.toReversed())
  })
}

test('names that locales sort in other ways come once each, in the order of their bytes', async () => {
  const names = ['a-b', 'a.b', 'a1', 'ab', 'system:node', 'B']
  const accounts = { ...PODS, resource: 'serviceaccounts', kind: 'ServiceAccount' }
  await cluster.fill(accounts, pods(names))
  await fleet.refresh()
  const ask = async (token: string) => {
    const { json } = await admin.ask(`/api/v1/serviceaccounts?limit=1&continue=${token}`)
    return json
  }
  const seen: string[] = []
  let token: string | undefined = '0'
  while (token) {
    const json = await ask(token)
    seen.push(json.items[0].metadata.name)
    token = json.metadata.continue
  }
  expect(seen).toEqual(names.toSorted())
})

describe('one page', () => {
  const cases: ReadonlyArray<{
    readonly name: string
    readonly query: Readonly<Record<string, string>>
    readonly names: readonly string[]
    readonly continues: boolean
    readonly remaining?: number
  }> = [
    { name: 'no limit', query: {}, names: NAMES, continues: false },
    { name: 'a limit that is all of it', query: { limit: '7' }, names: NAMES, continues: false },
    { name: 'a negative limit is none', query: { limit: '-1' }, names: NAMES, continues: false },
    { name: 'a limit', query: { limit: '2' }, names: NAMES.slice(0, 2), continues: true },
    {
      name: 'a limit label caps the answer, whatever kubectl asks for',
      query: { limit: '500', labelSelector: `${S}/limit=2` },
      names: NAMES.slice(0, 2),
      continues: false,
    },
    {
      name: 'the old name of that label',
      query: { limit: '500', labelSelector: `${S}/size=3,app=a` },
      names: NAMES.slice(0, 3),
      continues: false,
    },
    {
      name: 'a limit label above the page size of kubectl',
      query: { limit: '2', labelSelector: `${S}/limit=5` },
      names: NAMES.slice(0, 5),
      continues: false,
    },
    {
      name: 'a limit label with a token asked for',
      query: { labelSelector: `${S}/limit=2,${S}/with-continue=true` },
      names: NAMES.slice(0, 2),
      continues: true,
    },
    {
      name: 'no token wanted',
      query: { limit: '2', withContinue: 'false' },
      names: NAMES.slice(0, 2),
      continues: false,
    },
    {
      name: 'an offset label',
      query: { limit: '500', labelSelector: `${S}/offset=5` },
      names: NAMES.slice(5),
      continues: false,
    },
    {
      name: 'offset and limit labels, with the remaining count',
      query: { labelSelector: `${S}/offset=1,${S}/limit=2,${S}/with-remaining-count=true` },
      names: NAMES.slice(1, 3),
      continues: false,
      remaining: 4,
    },
    {
      name: 'a number as token is an offset',
      query: { limit: '3', continue: '2', withRemainingCount: 'true' },
      names: NAMES.slice(2, 5),
      continues: true,
      remaining: 2,
    },
    {
      name: 'an offset beyond the end',
      query: { continue: '70', withRemainingCount: 'true' },
      names: [],
      continues: false,
      remaining: 0,
    },
    {
      name: 'the count of the last page is 0',
      query: { limit: '7', withRemainingCount: 'true' },
      names: NAMES,
      continues: false,
      remaining: 0,
    },
  ]
  for (const { name, query, names, continues, remaining } of cases) {
    test(name, async () => {
      const got = await page(viewer, query)
      expect(got.names).toEqual(names)
      expect(got.continue !== undefined).toBe(continues)
      expect(got.remaining).toBe(remaining)
    })
  }
})

test('the remaining count goes down from page to page', async () => {
  const query = { limit: '3', withRemainingCount: 'true' }
  const first = await page(viewer, query)
  const second = await page(viewer, { ...query, continue: first.continue! })
  const third = await page(viewer, { ...query, continue: second.continue! })
  expect([first, second, third].map(({ remaining }) => remaining)).toEqual([4, 1, 0])
})

test('once a token is sent, an offset label is ignored', async () => {
  const labelSelector = `${S}/offset=1,${S}/limit=2,${S}/with-continue=true`
  const first = await page(viewer, { labelSelector })
  const second = await page(viewer, { labelSelector, continue: first.continue! })
  expect([...first.names, ...second.names]).toEqual(NAMES.slice(1, 5))
})

test('pages neither skip nor repeat what stays, while rows come and go', async () => {
  const first = await page(viewer, { limit: '3' })
  expect(first.names).toEqual(NAMES.slice(0, 3))
  // One before the page is gone, one before it is new, one behind it is new.
  await cluster.fill(PODS, pods([...NAMES.slice(1), 'aaa', 'zzz']))
  const rest = await allPages(viewer, { limit: '3', continue: first.continue! })
  expect(rest).toEqual([...NAMES.slice(3), 'zzz'])
  await cluster.fill(PODS, pods(NAMES))
})

describe('tokens that are refused', () => {
  const invalid = 'invalid continue token: continue key is not valid: '
  test('of another query', async () => {
    const token = (await page(viewer, { limit: '2' })).continue!
    for (const query of [
      { labelSelector: 'app=a' },
      { fieldSelector: 'metadata.namespace=shop' },
      { clusters: 'dot-01' },
      { orderby: 'name' },
    ]) {
      const { code, message } = await page(viewer, { ...query, limit: '2', continue: token })
      expect({ code, message }).toEqual({
        code: 400,
        message: `${invalid}it belongs to another query`,
      })
    }
    const other = await viewer.ask(`/api/v1/namespaces/shop/pods?limit=2&continue=${token}`)
    expect(other.status).toBe(400)
  })
  test('of the same query, in another form or page size, is fine', async () => {
    const token = (await page(viewer, { limit: '2' })).continue!
    const path = `/api/v1/pods?limit=4&continue=${token}`
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    expect((await viewer.ask(path, { accept })).json.rows).toHaveLength(4)
  })
  const rubbish: ReadonlyArray<{ readonly token: string; readonly why: string }> = [
    { token: 'abc', why: "invalid character 'i' looking for beginning of value" },
    { token: '-5', why: "invalid character 'û' looking for beginning of value" },
    { token: Buffer.from('{}').toString('base64url'), why: 'unexpected content' },
    {
      token: Buffer.from('{"v":1,"q":"x","k":["a","b"],"o":[],"n":0}').toString('base64url'),
      why: 'unexpected content',
    },
  ]
  for (const { token, why } of rubbish) {
    test(token, async () => {
      const { code, message } = await page(viewer, { continue: token })
      expect({ code, message }).toEqual({ code: 400, message: invalid + why })
    })
  }
})

test('a viewer cannot page into what they may not see', async () => {
  const token = (await page(admin, { limit: '7' })).continue!
  expect((await page(admin, { limit: '7', continue: token })).names).toEqual([
    'hidden-0',
    'hidden-1',
  ])
  expect((await page(viewer, { limit: '7', continue: token })).names).toEqual([])
})

test('with the habit of Clusterpedia there is one page, unless more is asked for', async () => {
  const old = await fleetServer(database.store, { continueByDefault: false })
  expect((await page(old.admin, { limit: '2' })).continue).toBeUndefined()
  expect((await page(old.admin, { limit: '2', withContinue: 'true' })).continue).toBeDefined()
  await old.close()
})
