/** Which objects a list holds: of everything that can be asked, as an administrator and as a viewer. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type Answer, type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'

const PODS: MemberType = {
  ...{ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true },
}
const READERS = ['admin', 'viewer'] as const

const NODES: MemberType = { ...PODS, resource: 'nodes', kind: 'Node', namespaced: false }

let database: TestDatabase
let fleet: FleetServer
let admin: Reader
/** Sees the namespace shop of dot-02, and nothing else. */
let viewer: Reader

beforeAll(async () => {
  database = await testDatabase()
  const one = await FilledCluster.create(database.store, 'dot-01', { env: 'prod', zone: 'a' })
  const two = await FilledCluster.create(database.store, 'dot-02', { env: 'test' })
  await one.fill(PODS, [
    pod('web-0', 'shop', { created: '2026-12-01T01:00:00Z', phase: 'Running' }),
    pod('web-1', 'shop', { created: '2026-12-01T02:00:00Z', phase: 'Failed' }),
    pod('db-0', 'data', { created: '2026-12-02T03:00:00Z', phase: 'Running' }),
  ])
  await two.fill(PODS, [
    pod('web-0', 'shop', { created: '2026-12-03T04:00:00Z', phase: 'Pending' }),
    pod('cache_0%x', 'shop', { created: '2026-12-04T05:00:00Z', phase: 'Running' }),
    pod('web-2', 'other', { created: '2026-12-05T06:00:00Z', phase: 'Running' }),
  ])
  await one.fill(NODES, [{ metadata: metadata('node-a') }, { metadata: metadata('system:odd') }])
  await two.fill(NODES, [{ metadata: metadata('node-b') }])
  fleet = await fleetServer(database.store)
  admin = fleet.admin
  viewer = await fleet.viewer([
    { clusters: ['dot-02'], namespaces: ['shop'], apiGroups: ['*'], resources: ['*'] },
  ])
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

function pod(name: string, namespace: string, of: { created: string; phase: string }) {
  const app = name.split(/[-_]/)[0]!
  return {
    metadata: metadata(name, {
      ...{ namespace, creationTimestamp: of.created },
      labels: { app, ...(app === 'web' && { weight: String(name.length), tier: '' }) },
      annotations: { 'test.io/a': `${name}-a` },
    }),
    spec: {
      ...(of.phase !== 'Pending' && { nodeName: `node-${app}` }),
      containers: [{ name: 'main' }, { name: `side-${app}` }],
    },
    status: { phase: of.phase },
  }
}

/** `dot-01/shop/web-0`, in the order of the answer. */
function keysOf(answer: Answer): readonly string[] {
  expect(answer.text).not.toBe('')
  expect([answer.status, answer.json.message]).toEqual([200, undefined])
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape
  return answer.json.items.map(({ metadata: { annotations, namespace, name } }: any) => {
    return [annotations['shadow.clusterpedia.io/cluster-name'], namespace, name].join('/')
  })
}

const EVERYTHING = [
  'dot-01/data/db-0',
  'dot-01/shop/web-0',
  'dot-01/shop/web-1',
  'dot-02/other/web-2',
  'dot-02/shop/cache_0%x',
  'dot-02/shop/web-0',
]
const search = (conditions: string) => `labelSelector=${encodeURIComponent(conditions)}`
const fields = (conditions: string) => `fieldSelector=${encodeURIComponent(conditions)}`
const S = 'search.clusterpedia.io'

interface Case {
  readonly name: string
  readonly query?: string
  readonly path?: string
  /** Of {@link EVERYTHING}; short forms such as `1/web-0` are not used, so that a reader sees all. */
  readonly want: readonly string[]
}

const cases: readonly Case[] = [
  { name: 'all of it', want: EVERYTHING },
  {
    name: 'one namespace',
    path: '/api/v1/namespaces/shop/pods',
    want: EVERYTHING.filter((key) => key.includes('/shop/')),
  },
  { name: 'a namespace that nobody has', path: '/api/v1/namespaces/none/pods', want: [] },
  { name: 'a path with a slash at its end', path: '/api/v1/pods/', want: EVERYTHING },

  { name: 'clusters by label', query: search(`${S}/clusters=dot-02`), want: EVERYTHING.slice(3) },
  { name: 'clusters by URL', query: 'clusters=dot-02,dot-09', want: EVERYTHING.slice(3) },
  {
    name: 'the URL wins over the label',
    query: `clusters=dot-02&${search(`${S}/clusters=dot-01`)}`,
    want: EVERYTHING.slice(3),
  },
  {
    name: 'all clusters but one',
    query: search(`${S}/clusters!=dot-01`),
    want: EVERYTHING.slice(3),
  },
  {
    name: 'a label of clusters',
    query: search(`${S}/cluster-label.env=prod`),
    want: EVERYTHING.slice(0, 3),
  },
  {
    name: 'a label that clusters lack',
    query: search(`!${S}/cluster-label.zone`),
    want: EVERYTHING.slice(3),
  },
  {
    name: 'a cluster selector',
    query: 'clusterSelector=env%20in%20(test)%2C!zone',
    want: EVERYTHING.slice(3),
  },
  { name: 'no cluster is left', query: 'clusterSelector=env%3Dnone', want: [] },

  {
    name: 'namespaces',
    query: search(`${S}/namespaces in (data,other)`),
    want: ['dot-01/data/db-0', 'dot-02/other/web-2'],
  },
  {
    name: 'all namespaces but one',
    query: search(`${S}/namespaces notin (shop)`),
    want: ['dot-01/data/db-0', 'dot-02/other/web-2'],
  },
  { name: 'names', query: 'names=db-0,web-1', want: ['dot-01/data/db-0', 'dot-01/shop/web-1'] },
  {
    name: 'part of a name',
    query: search('internalstorage.clusterpedia.io/fuzzy-name=eb'),
    want: EVERYTHING.filter((key) => key.includes('/web-')),
  },
  { name: 'parts of a name, all of them', query: 'fuzzyName=web,-1', want: ['dot-01/shop/web-1'] },
  { name: 'a wildcard of SQL, literally', query: 'fuzzyName=%250', want: [] },
  { name: 'another one, literally', query: 'fuzzyName=0%25x', want: ['dot-02/shop/cache_0%x'] },
  { name: 'an underscore, literally', query: 'fuzzyName=e_0', want: ['dot-02/shop/cache_0%x'] },

  {
    name: 'since a day',
    query: search(`${S}/since=2026-12-03`),
    want: EVERYTHING.slice(3).toSorted(),
  },
  {
    name: 'since and before, the first moment in and the last out',
    query: 'since=2026-12-01T02:00:00Z&before=2026-12-03%2004:00:00',
    want: ['dot-01/data/db-0', 'dot-01/shop/web-1'],
  },
  {
    name: 'before seconds, as a label can hold them',
    query: search(`${S}/before=${Date.parse('2026-12-01T02:00:00Z') / 1000}`),
    want: ['dot-01/shop/web-0'],
  },

  {
    name: 'ordered by namespace downwards, then name',
    query: search(`${S}/orderby in (namespace_desc, name, cluster)`),
    want: [
      'dot-02/shop/cache_0%x',
      'dot-01/shop/web-0',
      'dot-02/shop/web-0',
      'dot-01/shop/web-1',
      'dot-02/other/web-2',
      'dot-01/data/db-0',
    ],
  },
  {
    name: 'ordered by age, the newest first, by URL',
    query: 'orderby=created_at%20desc',
    want: [
      'dot-02/other/web-2',
      'dot-02/shop/cache_0%x',
      'dot-02/shop/web-0',
      'dot-01/data/db-0',
      'dot-01/shop/web-1',
      'dot-01/shop/web-0',
    ],
  },

  { name: 'a label', query: search('app=db'), want: ['dot-01/data/db-0'] },
  {
    name: 'a label without',
    query: search('app!=web'),
    want: ['dot-01/data/db-0', 'dot-02/shop/cache_0%x'],
  },
  {
    name: 'a label that is there',
    query: search('tier'),
    want: EVERYTHING.filter((key) => key.includes('/web-')),
  },
  {
    name: 'a label that is not there',
    query: search('!tier'),
    want: ['dot-01/data/db-0', 'dot-02/shop/cache_0%x'],
  },
  {
    name: 'an empty label',
    query: search('tier='),
    want: EVERYTHING.filter((key) => key.includes('/web-')),
  },
  {
    name: 'a label as number',
    query: search('weight>4,weight<6'),
    want: EVERYTHING.filter((key) => key.includes('/web-')),
  },
  {
    name: 'labels and search together',
    query: search(`app in (web,db),${S}/cluster-label.env=prod,${S}/names notin (web-0)`),
    want: ['dot-01/data/db-0', 'dot-01/shop/web-1'],
  },

  { name: 'a field', query: fields('status.phase=Failed'), want: ['dot-01/shop/web-1'] },
  {
    name: 'a field that is none of these',
    query: fields('.status.phase notin (Running,Failed)'),
    want: ['dot-02/shop/web-0'],
  },
  {
    name: 'a field with quotes',
    query: fields("metadata.annotations['test.io/a'] in (db-0-a)"),
    want: ['dot-01/data/db-0'],
  },
  {
    name: 'any element',
    query: fields('spec.containers[].name=side-db'),
    want: ['dot-01/data/db-0'],
  },
  { name: 'one element', query: fields('spec.containers[0].name=side-db'), want: [] },
  { name: 'a field that is missing', query: fields('!spec.nodeName'), want: ['dot-02/shop/web-0'] },
  {
    name: 'a field that is there',
    query: fields('spec.nodeName,metadata.namespace=data'),
    want: ['dot-01/data/db-0'],
  },
  {
    name: 'pods without a node, as kubectl users ask',
    query: fields('spec.nodeName='),
    want: ['dot-02/shop/web-0'],
  },
  {
    name: 'pods with a node',
    query: fields('spec.nodeName!=,metadata.name=web-0'),
    want: ['dot-01/shop/web-0'],
  },
  { name: 'a name', query: fields('metadata.name=web-2'), want: ['dot-02/other/web-2'] },
]

describe('an administrator gets', () => {
  for (const { name, path = '/api/v1/pods', query = '', want } of cases) {
    test(name, async () => {
      expect(keysOf(await admin.ask(`${path}?${query}`))).toEqual(want)
    })
  }
  test('cluster-scoped objects', async () => {
    const answer = await admin.ask('/api/v1/nodes')
    expect(answer.json.kind).toBe('NodeList')
    expect(keysOf(answer)).toEqual(['dot-01//node-a', 'dot-01//system:odd', 'dot-02//node-b'])
  })
})

describe('a viewer of one namespace of one cluster gets no more than that', () => {
  for (const { name, path = '/api/v1/pods', query = '', want } of cases) {
    test(name, async () => {
      const answer = await viewer.ask(`${path}?${query}`)
      const mayAsk = !path.includes('/none/')
      if (!mayAsk) return expect(answer.json.reason).toBe('Forbidden')
      expect(keysOf(answer)).toEqual(want.filter((key) => key.startsWith('dot-02/shop/')))
    })
  }

  const refused: ReadonlyArray<{ readonly name: string; readonly path: string }> = [
    { name: 'another namespace', path: '/api/v1/namespaces/other/pods' },
    { name: 'another cluster', path: '/api/v1/pods?clusters=dot-01' },
    { name: 'a cluster that does not exist', path: '/api/v1/pods?clusters=dot-09' },
    { name: 'cluster-scoped objects', path: '/api/v1/nodes' },
  ]
  for (const { name, path } of refused) {
    test(`403 for ${name}`, async () => {
      const { json } = await viewer.ask(path)
      expect({ reason: json.reason, code: json.code }).toEqual({ reason: 'Forbidden', code: 403 })
      expect(json.message).toMatch(/is forbidden: User "viewer-\d+" cannot list resource/)
    })
  }

  test('403 under the prefix of another member, whether it exists or not', async () => {
    const texts = await Promise.all(
      ['dot-01', 'dot-09'].map((cluster) => viewer.askMember(cluster, '/api/v1/pods')),
    )
    const messages = texts.map(({ json }) => json.message.replace(/dot-0\d/, 'dot'))
    expect(messages[0]).toBe(messages[1])
    expect(texts.map(({ status }) => status)).toEqual([403, 403])
  })
})

describe('under the prefix of a member', () => {
  test('an administrator sees its objects alone', async () => {
    expect(keysOf(await admin.askMember('dot-02', '/api/v1/pods'))).toEqual(EVERYTHING.slice(3))
  })
  test('a viewer sees what they may', async () => {
    const keys = keysOf(await viewer.askMember('dot-02', '/api/v1/pods'))
    expect(keys).toEqual(EVERYTHING.slice(4))
  })
  test('a cluster that does not exist is 404, by its name', async () => {
    const { json } = await admin.askMember('dot-09', '/api/v1/pods')
    expect(json).toMatchObject({
      code: 404,
      message: 'pediaclusters.cluster.clusterpedia.io "dot-09" not found',
    })
  })
  test('search labels narrow further', async () => {
    const query = search(`${S}/clusters=dot-01`)
    expect(keysOf(await admin.askMember('dot-02', `/api/v1/pods?${query}`))).toEqual([])
  })
})

describe('odd input finds nothing, and never fails', () => {
  const queries = [
    `names=${encodeURIComponent("x'; drop table object --")}`,
    `fuzzyName=${encodeURIComponent('a b$\'\\"%_')}`,
    'names=a%00b',
    'fuzzyName=%00',
    'namespaces=%ed%a0%80',
    'fuzzyName=%f0%9f%98%80',
    fields("metadata.annotations['it\\'s \" $.x']=1"),
    fields("spec['']=x"),
    ...['constructor', '__proto__', 'toString', 'hasOwnProperty'].map((key) => fields(`${key}=x`)),
    fields('spec.nodeName=a\0b'),
    fields('spec.containers[999999999].name=main'),
    fields(`${'a.'.repeat(5_000)}a=1`),
    `clusters=${'x,'.repeat(20_000)}x`,
    search(`app in (${'x,'.repeat(20_000)}x)`),
    search('weight>9223372036854775807'),
    'since=9999999999&before=9999999999999',
    'continue=999999999999999',
  ]
  for (const query of queries) {
    test(query.slice(0, 100), async () => {
      for (const reader of [admin, viewer]) {
        const answer = await reader.ask(`/api/v1/pods?${query}`)
        if (reader === viewer && answer.status === 403) continue
        expect(keysOf(answer)).toEqual([])
      }
    })
  }

  const limited = ['', 'orderby=name', 'fuzzyName=e', search('app'), fields('status.phase!=x')]
  test.each(limited)('the largest limit is no limit: %s', async (query) => {
    for (const reader of [admin, viewer]) {
      const all = await reader.ask(`/api/v1/pods?${query}`)
      const answer = await reader.ask(`/api/v1/pods?limit=9223372036854775807&${query}`)
      expect(keysOf(answer)).toEqual(keysOf(all))
    }
  })

  const refused: ReadonlyArray<{ readonly query: string; readonly status: number }> = [
    { query: `orderby=${encodeURIComponent('name;drop table x--')}`, status: 400 },
    { query: 'orderby=,', status: 400 },
    { query: fields('spec.x in (a'), status: 400 },
    { query: `continue=${Buffer.from('{"v":1}').toString('base64url')}`, status: 400 },
  ]
  for (const { query, status } of refused) {
    test(`${status} for ${query}`, async () => {
      for (const reader of [admin, viewer]) {
        expect((await reader.ask(`/api/v1/pods?${query}`)).status).toBe(status)
      }
    })
  }
})

describe('what cannot be answered', () => {
  const bad: ReadonlyArray<{
    readonly name: string
    readonly query: string
    readonly message: string
  }> = [
    {
      name: 'a misspelt search label',
      query: search(`${S}/cluster=dot-01`),
      message: `unknown search label "${S}/cluster": did you mean "${S}/clusters"?`,
    },
    {
      name: 'a search label of nobody',
      query: search('x.clusterpedia.io/what-is-this=1'),
      message: 'unknown search label "x.clusterpedia.io/what-is-this"',
    },
    {
      name: 'a query of collection resources',
      query: 'groups=apps',
      message: 'the query "groups" is for collection resources only',
    },
    {
      name: 'a misspelt query',
      query: 'cluster=dot-01',
      message: 'unknown query "cluster": did you mean "clusters"?',
    },
    { name: 'raw SQL', query: 'whereSQL=1%3D1', message: 'unknown query "whereSQL"' },
    {
      name: 'since after before',
      query: 'since=2026-12-02&before=2026-12-01',
      message:
        '"since" must not be after "before": 2026-12-02T00:00:00.000Z is after 2026-12-01T00:00:00.000Z',
    },
    {
      name: 'a day that does not exist',
      query: 'since=2026-02-30',
      message:
        '"since": Invalid value: "2026-02-30": must be 10 digits (seconds), 13 digits (milliseconds), 2006-01-02, 2006-01-02 15:04:05 (UTC), or RFC 3339',
    },
    {
      name: 'an order by what is no field',
      query: search(`${S}/orderby in (namespce_desc)`),
      message:
        '"orderby": Unsupported value: "namespce": supported values: cluster, namespace, name, created_at, resource_version, or the path of a field: did you mean "namespace"?',
    },
    {
      name: 'names that do not hold of part of a name',
      query: search(`${S}/fuzzy-name!=x`),
      message: `the search label "${S}/fuzzy-name" takes only =, == and in`,
    },
    {
      name: 'a search label without a value',
      query: search(`${S}/names`),
      message: `the search label "${S}/names" takes only =, ==, in, != and notin`,
    },
    {
      name: 'a limit that is no number',
      query: search(`${S}/limit=ten`),
      message: `"${S}/limit": Invalid value: "ten": must be a whole number`,
    },
    {
      name: 'a limit given twice',
      query: search(`${S}/limit=1,${S}/size=2`),
      message: `"${S}/size" is given more than once`,
    },
    {
      name: 'a selector without end',
      query: search(`a in (${'x,'.repeat(60_000)}x)`),
      message: 'labelSelector has 120008 bytes: must be no more than 102400 bytes',
    },
    {
      name: 'a resourceVersion that is no number',
      query: 'resourceVersion=x',
      message:
        'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
    },
    {
      name: 'a limit beyond int64',
      query: 'limit=9223372036854775808',
      message: 'strconv.ParseInt: parsing "9223372036854775808": value out of range',
    },
  ]
  for (const { name, query, message } of bad) {
    test(`400 for ${name}`, async () => {
      for (const reader of [admin, viewer]) {
        const { json } = await reader.ask(`/api/v1/pods?${query}`)
        expect({ code: json.code, message: json.message }).toEqual({ code: 400, message })
      }
    })
  }

  test.each(READERS)(
    'a revision that is not there yet is 504, an old one 410, as %s',
    async (who) => {
      const reader = { admin, viewer }[who]
      const later = await reader.ask('/api/v1/pods?resourceVersion=99999999')
      expect(later.json.message).toMatch(/^Too large resource version: 99999999, current: \d+$/)
      expect(later.status).toBe(504)
      const current = Number((await reader.ask('/api/v1/pods')).json.metadata.resourceVersion)
      expect(current).toBeGreaterThan(0)
      const exact = (version: number) =>
        reader.ask(`/api/v1/pods?resourceVersion=${version}&resourceVersionMatch=Exact`)
      expect((await exact(current)).status).toBe(200)
      if (current > 1) expect((await exact(current - 1)).json.reason).toBe('Expired')
      expect((await reader.ask('/api/v1/pods?resourceVersion=0')).status).toBe(200)
    },
  )

  const nowhere: ReadonlyArray<{
    readonly path: string
    readonly status: number
    readonly text?: string
    /** Who may not see a type is not told whether it is there. */
    readonly forViewer?: number
  }> = [
    { path: '/api/v1/pods?watch=true', status: 405 },
    { path: '/api/v1/pods?watch', status: 405 },
    { path: '/api/v1/watch/pods', status: 405 },
    { path: '/api/v1/namespaces/shop/pods/web-1?watch=1', status: 405 },
    { path: '/api/v1/pods/web-0', status: 404 },
    { path: '/api/v1/namespaces/shop/nodes', status: 404, forViewer: 403 },
    { path: '/api/v1/namespaces/shop/pods/web-1/log?container=main', status: 404 },
    { path: '/api/v1/services', status: 404 },
    { path: '/apis/nope.example.com/v1/things', status: 404, text: '404 page not found\n' },
    { path: '/bogus', status: 404, text: '404 page not found\n' },
    { path: '/api/v1//pods', status: 404, text: '404 page not found\n' },
    { path: '/api/v1/namespaces/%zz/pods', status: 400 },
  ]
  for (const { path, status, text, forViewer = status } of nowhere) {
    test(`${status} for ${path}`, async () => {
      const answer = await admin.ask(path)
      expect(answer.status).toBe(status)
      if (text) expect(answer.text).toBe(text)
      else expect(answer.json.kind).toBe('Status')
    })
    test(`${forViewer} for ${path}, for a viewer`, async () => {
      const answer = await viewer.ask(path)
      expect(answer.status).toBe(forViewer)
      if (text && forViewer === status) expect(answer.text).toBe(text)
      else expect(answer.json.kind).toBe('Status')
    })
  }

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    test(`405 for ${method}, whatever it holds`, async () => {
      for (const path of ['/api/v1/namespaces/shop/pods/web-0', '/apis/nope/v1/x', '/bogus']) {
        const asking = { method, payload: '<x>', headers: { 'content-type': 'text/odd' } }
        for (const reader of [admin, viewer]) {
          expect((await reader.ask(path, asking)).json).toMatchObject({
            ...{ kind: 'Status', code: 405, reason: 'MethodNotAllowed' },
            message: 'the server does not allow this method on the requested resource',
          })
        }
      }
    })
  }

  test('HEAD of objects is 405', async () => {
    for (const reader of [admin, viewer]) {
      expect((await reader.ask('/api/v1/pods', { method: 'HEAD' })).status).toBe(405)
    }
  })
})
