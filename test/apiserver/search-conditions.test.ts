/**
 * Every search condition in both of its forms: as a label and as a query of the URL it gives the same
 * rows, to an administrator and to a restricted viewer, in a list, in a collection and when counted.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'

const PODS: MemberType = {
  ...{ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true },
}
const APPS = { group: 'apps', version: 'v1', namespaced: true }
const DEPLOYMENTS: MemberType = { ...APPS, resource: 'deployments', kind: 'Deployment' }
const SETS: MemberType = { ...APPS, resource: 'replicasets', kind: 'ReplicaSet' }

interface Pod {
  readonly cluster: string
  readonly namespace: string
  readonly name: string
  /** Seconds since 2026-12-01, on which all were created. */
  readonly second: number
  readonly set?: string
  readonly app?: string
  readonly phase?: string
  readonly restarts?: number
  readonly cpu?: readonly string[]
  readonly started?: string
}

/** In the default order. */
const ALL: readonly Pod[] = [
  {
    ...{ cluster: 'dot-01', namespace: 'data', name: 'db-0', second: 3, app: 'db' },
    ...{ phase: 'Running', restarts: 9, cpu: ['2'], started: '2026-12-01T12:00:00Z' },
  },
  {
    ...{ cluster: 'dot-01', namespace: 'shop', name: 'web-0', second: 1, app: 'web' },
    ...{ set: 'set-1', phase: 'Running', restarts: 10, cpu: ['100m', '1500m'] },
  },
  {
    ...{ cluster: 'dot-01', namespace: 'shop', name: 'web_1', second: 2, app: 'web' },
    ...{ set: 'set-1', phase: 'Failed', started: '2026-12-01T14:00:00+02:00' },
  },
  {
    ...{ cluster: 'dot-02', namespace: 'data', name: 'web-0', second: 4, app: 'web' },
    ...{ set: 'set-2', restarts: 0, cpu: ['1'] },
  },
  {
    ...{ cluster: 'dot-02', namespace: 'shop', name: 'cache-0', second: 6, phase: 'Running' },
    ...{ started: '2026-12-01T13:00:00.5Z', cpu: ['many'] },
  },
  {
    ...{ cluster: 'dot-02', namespace: 'shop', name: 'web-0', second: 5, app: 'web' },
    ...{ phase: 'Pending', restarts: 2 },
  },
]

let database: TestDatabase
let fleet: FleetServer

beforeAll(async () => {
  database = await testDatabase()
  for (const [name, env] of [
    ['dot-01', 'prod'],
    ['dot-02', 'test'],
  ] as const) {
    const cluster = await FilledCluster.create(database.store, name, { env })
    const mine = ALL.filter((pod) => pod.cluster === name)
    await cluster.fill(PODS, mine.map(podObject))
    const namespace = name === 'dot-01' ? 'shop' : 'data'
    const set = `set-${name.at(-1)}`
    await cluster.fill(SETS, [owned('web-abc', { namespace, uid: set, owner: `top-${set}` })])
    await cluster.fill(DEPLOYMENTS, [owned('web', { namespace, uid: `top-${set}` })])
  }
  fleet = await fleetServer(database.store)
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

function owned(name: string, of: { namespace: string; uid: string; owner?: string }) {
  const { namespace, uid, owner } = of
  return { metadata: metadata(name, { namespace, uid, ...(owner && ownedBy(owner)) }) }
}

function ownedBy(uid: string) {
  return { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Whatever', name: 'x', uid }] }
}

function podObject({ namespace, name, second, ...of }: Pod) {
  return {
    metadata: metadata(name, {
      ...{ namespace, creationTimestamp: new Date(at(second)).toISOString() },
      ...(of.app && { labels: { app: of.app, second: String(second) } }),
      ...(of.set && ownedBy(of.set)),
    }),
    spec: {
      ...(of.app === 'web' && { initContainers: [{ image: 'registry.example.com/x:1.4.2' }] }),
      containers: (of.cpu ?? []).map((cpu) => ({ resources: { requests: { cpu } } })),
    },
    status: {
      ...(of.phase && { phase: of.phase }),
      ...(of.restarts !== undefined && { restarts: of.restarts }),
      ...(of.started && { startTime: of.started }),
    },
  }
}

const at = (second: number) => Date.parse('2026-12-01T00:00:00Z') + second * 1000
const keyOf = ({ cluster, namespace, name }: Pod) => `${cluster}/${namespace}/${name}`

interface Case {
  readonly name: string
  /** Inside `labelSelector`. */
  readonly label?: string
  readonly query?: string
  /** Of the pods that the reader may see, in the default order. */
  readonly want: (visible: readonly Pod[]) => readonly Pod[]
  /** A page or an order: nothing that is counted. */
  readonly pages?: true
}

const those = (holds: (pod: Pod) => boolean) => (visible: readonly Pod[]) => visible.filter(holds)
const S = 'search.clusterpedia.io'
const INTERNAL = 'internalstorage.clusterpedia.io'
const seconds = String(at(3) / 1000)
const PENDING = those(({ phase }) => phase === undefined || phase === 'Pending')

function sorted(compare: (a: Pod, b: Pod) => number) {
  return (visible: readonly Pod[]) => visible.toSorted(compare)
}
const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

const cases: readonly Case[] = [
  {
    ...{ name: 'clusters =', label: `${S}/clusters=dot-02`, query: 'clusters=dot-02' },
    want: those(({ cluster }) => cluster === 'dot-02'),
  },
  {
    ...{ name: 'clusters in', label: `${S}/clusters in (dot-01,dot-09)` },
    ...{ query: 'clusters=dot-01,dot-09', want: those(({ cluster }) => cluster === 'dot-01') },
  },
  {
    ...{ name: 'clusters !=', label: `${S}/clusters!=dot-01` },
    want: those(({ cluster }) => cluster === 'dot-02'),
  },
  {
    ...{ name: 'clusters notin', label: `${S}/clusters notin (dot-02)` },
    want: those(({ cluster }) => cluster === 'dot-01'),
  },
  ...(
    [
      ['env=prod', 'dot-01'],
      ['env!=prod', 'dot-02'],
      ['env in (test)', 'dot-02'],
      ['env notin (test)', 'dot-01'],
      ['env', 'dot-0'],
      ['!env', 'none'],
    ] as const
  ).map(([selector, found]) => ({
    name: `labels of clusters: ${selector}`,
    label: selector.replace('env', `${S}/cluster-label.env`),
    query: `clusterSelector=${encodeURIComponent(selector)}`,
    want: those(({ cluster }) => cluster.startsWith(found)),
  })),
  {
    ...{ name: 'namespaces =', label: `${S}/namespaces==shop`, query: 'namespaces=shop' },
    want: those(({ namespace }) => namespace === 'shop'),
  },
  {
    ...{ name: 'namespaces in', label: `${S}/namespaces in (data,shop)` },
    ...{ query: 'namespaces=data,shop', want: (visible) => visible },
  },
  {
    ...{ name: 'namespaces notin', label: `${S}/namespaces notin (shop)` },
    want: those(({ namespace }) => namespace !== 'shop'),
  },
  {
    ...{ name: 'names in', label: `${S}/names in (web-0,db-0)`, query: 'names=web-0,db-0' },
    want: those(({ name }) => name === 'web-0' || name === 'db-0'),
  },
  {
    ...{ name: 'names !=', label: `${S}/names!=web-0` },
    want: those(({ name }) => name !== 'web-0'),
  },
  ...[S, INTERNAL].map((prefix) => ({
    ...{
      name: `name contains, ${prefix}`,
      label: `${prefix}/fuzzy-name=b_`,
      query: 'fuzzyName=b_',
    },
    want: those(({ name }) => name === 'web_1'),
  })),
  {
    ...{
      name: 'name contains all of',
      label: `${S}/fuzzy-name in (we,0)`,
      query: 'fuzzyName=we,0',
    },
    want: those(({ name }) => name === 'web-0'),
  },
  {
    ...{ name: 'words', label: `${S}/text=WEB-0`, query: 'text=web 0' },
    want: those(({ name }) => name === 'web-0'),
  },
  {
    ...{ name: 'words of an image', label: `${S}/text in (example,1.4.2)` },
    ...{ query: 'text=1.4.2,example', want: those(({ app }) => app === 'web') },
  },
  { ...{ name: 'part of a word', label: `${S}/text=we`, query: 'text=1.4' }, want: () => [] },
  {
    ...{ name: 'words and other conditions', label: `${S}/text=web,app,${S}/names!=web-0` },
    want: those(({ name }) => name === 'web_1'),
  },
  {
    ...{ name: 'since', label: `${S}/since=${seconds}`, query: 'since=2026-12-01 00:00:03' },
    want: those(({ second }) => second >= 3),
  },
  {
    ...{
      name: 'before',
      label: `${S}/before==${seconds}000`,
      query: 'before=2026-12-01T00:00:03Z',
    },
    want: those(({ second }) => second < 3),
  },
  {
    ...{ name: 'since and before', query: `since=${at(2)}&before=2026-12-02` },
    ...{ label: `${S}/since=${at(2)},${S}/before=2026-12-02` },
    want: those(({ second }) => second >= 2),
  },
  ...[S, INTERNAL].flatMap((prefix): Case[] => [
    {
      ...{ name: `owner by uid, ${prefix}`, label: `${prefix}/owner-uid=set-1` },
      ...{ query: 'ownerUID=set-1', want: those(({ set }) => set === 'set-1') },
    },
    {
      name: `owner by name and type, ${prefix}`,
      label: `${prefix}/owner-name=web-abc,${prefix}/owner-gr=replicasets.apps`,
      query: 'ownerName=web-abc&ownerGR=replicasets.apps',
      want: those(({ set }) => set !== undefined),
    },
    {
      name: `grandparent over several clusters, ${prefix}`,
      label: `${prefix}/owner-name=web,${prefix}/owner-gr=deployments.apps,${prefix}/owner-seniority=1`,
      query: 'ownerName=web&ownerGR=deployments.apps&ownerSeniority=1',
      want: those(({ set }) => set !== undefined),
    },
  ]),
  {
    ...{ name: 'a UID wins over a name', label: `${S}/owner-uid=set-1,${S}/owner-name=nobody` },
    ...{ query: 'ownerUID=set-1&ownerName=nobody', want: those(({ set }) => set === 'set-1') },
  },
  {
    ...{ name: 'labels', label: 'app in (web,db),app!=db,second>1' },
    want: those(({ app, second }) => app === 'web' && second > 1),
  },
  {
    name: 'a field that is none of these, or missing',
    query: `fieldSelector=${encodeURIComponent('status.phase notin (Running,Failed)')}`,
    want: PENDING,
  },
  ...(
    [
      ['field-gt.status.restarts=9', 'status.restarts>9', ({ restarts = -1 }) => restarts > 9],
      ['field-gte.status.restarts=9', 'status.restarts>=9', ({ restarts = -1 }) => restarts >= 9],
      ['field-lt.status.restarts=2', 'status.restarts<2', ({ restarts = 2 }) => restarts < 2],
      [
        'field-lte.status.restarts=2',
        'status.restarts<=2000m',
        ({ restarts = 9 }) => restarts <= 2,
      ],
      [
        'field-gt.spec.containers[].resources.requests.cpu=1',
        'spec.containers[].resources.requests.cpu > 1000m',
        ({ cpu = [] }) => cpu.some((value) => value === '2' || value === '1500m'),
      ],
      [
        'field-gte.spec.containers[1].resources.requests.cpu=1',
        'spec.containers[1].resources.requests.cpu>=1',
        ({ cpu = [] }) => cpu[1] !== undefined,
      ],
      [
        'field-gt.status.startTime=2026-12-01',
        'status.startTime>2026-11-30T23:59:59Z',
        ({ started }) => started !== undefined,
      ],
      ['field-gt.status.startTime=0', 'status.startTime>0', () => false],
      ['field-lt.status.phase=9', 'status.phase<9', () => false],
    ] as ReadonlyArray<readonly [string, string, (pod: Pod) => boolean]>
  ).map(([label, selector, holds]) => ({
    ...{ name: selector, label: `${S}/${label}`, want: those(holds) },
    query: `fieldSelector=${encodeURIComponent(selector)}`,
  })),
  {
    ...{ name: 'ordered', pages: true, label: `${S}/orderby in (namespace_desc, cluster, name)` },
    query: 'orderby=namespace desc,cluster,name',
    want: sorted(
      (a, b) =>
        byText(b.namespace, a.namespace) || byText(a.cluster, b.cluster) || byText(a.name, b.name),
    ),
  },
  {
    ...{ name: 'ordered by time', pages: true, label: `${S}/orderby=created_at_desc` },
    ...{ query: 'orderby=created_at desc', want: sorted((a, b) => b.second - a.second) },
  },
  {
    ...{
      name: 'ordered by a number',
      pages: true,
      label: `${S}/orderby in (status.restarts_desc)`,
    },
    query: 'orderby=status.restarts desc',
    want: sorted((a, b) => (b.restarts ?? -1) - (a.restarts ?? -1)),
  },
  {
    ...{ name: 'at most two', pages: true, label: `${S}/limit=2`, query: 'limit=2' },
    want: (visible) => visible.slice(0, 2),
  },
  {
    ...{ name: 'size, its old name', pages: true, label: `${S}/size=2`, query: 'limit=2' },
    want: (visible) => visible.slice(0, 2),
  },
  {
    ...{ name: 'from the third on', pages: true, label: `${S}/offset=2`, query: 'continue=2' },
    want: (visible) => visible.slice(2),
  },
]

/** Each form in which the condition can be given. */
function urls({ label, query }: Case): readonly string[] {
  const selector = label === undefined ? undefined : `labelSelector=${encodeURIComponent(label)}`
  return [selector, query?.replaceAll(' ', '%20')].filter((url) => url !== undefined)
}

// biome-ignore lint/suspicious/noExplicitAny: an answer of any shape
const keysOf = (items: readonly any[]) =>
  items.map(({ metadata: { annotations, namespace, name } }) => {
    return [annotations['shadow.clusterpedia.io/cluster-name'], namespace, name].join('/')
  })

const COLLECTION = '/apis/clusterpedia.io/v1beta1/collectionresources/any?resources=/pods'

const every = { clusters: ['*'], apiGroups: ['*'], resources: ['*'] }
const readers = [
  { name: 'an administrator', namespaces: undefined },
  { name: 'a viewer of one namespace', namespaces: ['shop'] },
] as const

describe.each(readers)('for $name', ({ namespaces }) => {
  let reader: Reader
  const visible = ALL.filter(({ namespace }) => !namespaces || namespace === namespaces[0])

  beforeAll(async () => {
    reader = namespaces ? await fleet.viewer([{ ...every, namespaces }]) : fleet.admin
  })

  test.each(cases)('$name', async (each) => {
    const want = each.want(visible).map(keyOf)
    for (const url of urls(each)) {
      const list = await reader.ask(`/api/v1/pods?${url}`)
      expect({ url, status: list.status, keys: keysOf(list.json.items ?? []) }).toEqual({
        ...{ url, status: 200, keys: want },
      })
      const collection = await reader.askRoot(`${COLLECTION}&${url}`)
      expect(keysOf(collection.json.items ?? [])).toEqual(want)
      if (each.pages) continue
      const counts = await reader.ask(`/api/v1/pods/counts?groupBy=&${url}`)
      expect(counts.json.items).toEqual([{ group: {}, count: want.length }])
      const counted = await reader.ask(`/api/v1/pods?limit=1&withRemainingCount=true&${url}`)
      const { remainingItemCount = 0 } = counted.json.metadata
      expect(counted.json.items.length + remainingItemCount).toBe(want.length)
    }
  })

  test('how many follow, and where', async () => {
    const asks = [
      'limit=2&withRemainingCount=true',
      `labelSelector=${encodeURIComponent(`${S}/limit=2,${S}/with-continue=true,${S}/with-remaining-count=true`)}`,
    ]
    for (const url of asks) {
      const { json } = await reader.ask(`/api/v1/pods?${url}`)
      expect(json.metadata.remainingItemCount).toBe(visible.length - 2)
      const rest = await reader.ask(
        `/api/v1/pods?${url.replace('limit=2', 'limit=500')}&continue=${json.metadata.continue}`,
      )
      expect(keysOf([...json.items, ...rest.json.items]).slice(0, 4)).toEqual(
        visible.map(keyOf).slice(0, 4),
      )
    }
  })

  test('words over all kinds', async () => {
    const url = '/apis/clusterpedia.io/v1beta1/collectionresources/any?groups=apps,&text=web'
    const { json } = await reader.askRoot(url)
    const sets = [
      ...['dot-01/shop/web', 'dot-01/shop/web-abc', 'dot-02/data/web', 'dot-02/data/web-abc'],
    ].filter((key) => !namespaces || key.includes(`/${namespaces[0]}/`))
    const pods = visible.filter(({ app }) => app === 'web').map(keyOf)
    expect(keysOf(json.items)).toEqual([...sets, ...pods].toSorted())
  })

  test('only metadata', async () => {
    const { json } = await reader.ask('/api/v1/pods?onlyMetadata=true')
    expect(keysOf(json.items)).toEqual(visible.map(keyOf))
    for (const item of json.items) expect(item).not.toHaveProperty('spec')
  })
})
