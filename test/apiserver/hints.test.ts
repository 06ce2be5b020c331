/** What a question names and is not there is not passed over in silence: clusters, types, owners, fields. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'

const CORE = { group: '', version: 'v1', namespaced: true }
const PODS: MemberType = { ...CORE, resource: 'pods', kind: 'Pod' }
const SERVICES: MemberType = { ...CORE, resource: 'services', kind: 'Service' }
const SETS: MemberType = {
  ...{
    group: 'apps',
    version: 'v1',
    namespaced: true,
    resource: 'replicasets',
    kind: 'ReplicaSet',
  },
}

let database: TestDatabase
let fleet: FleetServer
let readers: { readonly admin: Reader; readonly viewer: Reader }

beforeAll(async () => {
  database = await testDatabase()
  const clusters = await Promise.all(
    ['dot-01', 'dot-02', 'dot-03'].map((name) => FilledCluster.create(database.store, name)),
  )
  for (const cluster of clusters) {
    await cluster.fill(PODS, [{ metadata: metadata('web', { namespace: 'shop' }) }])
  }
  await clusters[0]!.fill(SERVICES, [{ metadata: metadata('web', { namespace: 'shop' }) }])
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'set', uid: 'set-1' }]
  await clusters[0]!.fill(PODS, [
    { metadata: metadata('web', { namespace: 'shop' }) },
    {
      metadata: metadata('api', { namespace: 'shop', ownerReferences }),
      spec: { containers: [{ name: 'main', image: 'i' }] },
      status: { phase: 'Running' },
    },
  ])
  await clusters[0]!.fill(SETS, [
    { metadata: metadata('set', { namespace: 'shop', uid: 'set-1' }) },
  ])
  fleet = await fleetServer(database.store)
  const viewer = await fleet.viewer([
    { clusters: ['dot-01', 'dot-02'], namespaces: ['*'], apiGroups: ['*'], resources: ['*'] },
  ])
  readers = { admin: fleet.admin, viewer }
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

const NOT_FROM = 'no services were found; they are not synced from'

const cases: ReadonlyArray<readonly [who: 'admin' | 'viewer', query: string, hint: string]> = [
  ['admin', 'services?names=nobody', `${NOT_FROM} dot-02, dot-03`],
  ['viewer', 'services?names=nobody', `${NOT_FROM} dot-02`],
  ['admin', 'services?clusters=dot-03', `${NOT_FROM} dot-03`],
  [
    'admin',
    'services?labelSelector=search.clusterpedia.io/clusters%3Ddot-03',
    `${NOT_FROM} dot-03`,
  ],
  ...(['admin', 'viewer'] as const).flatMap((who) =>
    [
      'services?clusters=dot-01&names=nobody',
      'services',
      'services?continue=7',
      'pods?names=nobody',
    ].map((query) => [who, query, ''] as const),
  ),
]

const absent: ReadonlyArray<readonly [who: 'admin' | 'viewer', query: string, said: string[]]> = [
  ['admin', 'pods?clusters=dot-01,dot-1', ['there is no cluster dot-1']],
  [
    'admin',
    'pods?labelSelector=search.clusterpedia.io/clusters!%3Ddot-1',
    ['there is no cluster dot-1'],
  ],
  ['admin', 'pods/counts?groupBy=&clusters=dot-1,dot-2', ['there is no cluster dot-1, dot-2']],
  // One that they may not see is none to them.
  ['viewer', 'pods?clusters=dot-01,dot-03', ['there is no cluster dot-03']],
  ['viewer', 'pods?clusters=dot-01,dot-02', []],
]

test.each(absent)('%s asks for %s: a name that no cluster has', async (who, query, said) => {
  const { status, warnings } = await readers[who].ask(`/api/v1/${query}`)
  expect([status, warnings]).toEqual([200, said.map((text) => `299 - "${text}"`)])
})

test.each(cases)('%s asks for %s: %s', async (who, query, hint) => {
  const { status, warnings } = await readers[who].ask(`/api/v1/${query}`)
  expect([status, warnings]).toEqual([200, hint === '' ? [] : [`299 - "${hint}"`]])
})

const LOOKED = 'pods that were looked at'

/** What follows `pods?`, and what is said. */
const named: ReadonlyArray<readonly [query: string, said: readonly string[]]> = [
  // Conditions on clusters that none meets.
  ['clusterSelector=env=prdo', ['no cluster meets what was asked of clusters']],
  ['clusters=dot-01&clusterSelector=a=b', ['no cluster meets what was asked of clusters']],
  // Fields, needed and found nowhere …
  ['fieldSelector=status.fase=Running', [`no field status.fase was found in 4 ${LOOKED}`]],
  ['fieldSelector=status.fase', [`no field status.fase was found in 4 ${LOOKED}`]],
  ['fieldSelector=spec.replicas>3', [`no field spec.replicas was found in 4 ${LOOKED}`]],
  [
    'fieldSelector=spec.containers.image=i,status.fase!=,status.phase=Running',
    [
      `no field spec.containers.image was found in 4 ${LOOKED}`,
      `no field status.fase was found in 4 ${LOOKED}`,
    ],
  ],
  [
    `fieldSelector=metadata.annotations['a.b/c']=d`,
    [`no field metadata.annotations['a.b/c'] was found in 4 ${LOOKED}`],
  ],
  [
    'clusters=dot-02,dot-03&fieldSelector=status.phase=Running',
    [`no field status.phase was found in 2 ${LOOKED}`],
  ],
  // … with which one object at least is found, whatever its value …
  ['fieldSelector=status.phase=Nobody', []],
  ['fieldSelector=spec.containers[].image=other', []],
  // … and those that are met by what lacks them, or order it.
  ['fieldSelector=status.fase!=Running', [`no field status.fase was found in 4 ${LOOKED}`]],
  ['fieldSelector=!status.fase', [`no field status.fase was found in 4 ${LOOKED}`]],
  ['fieldSelector=status.fase=', [`no field status.fase was found in 4 ${LOOKED}`]],
  ['fieldSelector=status.phase!=Running', []],
  ['orderby=spec.replicas_desc', [`no field spec.replicas was found in 4 ${LOOKED}`]],
  ['orderby=status.phase', []],
  // Labels and names are data.
  ['labelSelector=app=web', []],
  ['names=nobody', []],
  // Owners: their names, their types, their generation.
  ['ownerName=nobody', ['no owner \\"nobody\\" was found among what you may list where you asked']],
  [
    'ownerName=nobody&ownerGR=replicasets.apps',
    [
      'no owner \\"nobody\\" was found among the replicasets.apps that you may list where you asked',
    ],
  ],
  [
    'ownerName=set&ownerGR=replicaset.apps',
    [
      'owner-gr: where you asked, there are no replicaset.apps that you may list: did you mean \\"replicasets.apps\\"?',
    ],
  ],
  [
    'ownerName=set&ownerGR=jobs.batch',
    ['owner-gr: where you asked, there are no jobs.batch that you may list'],
  ],
  [
    'ownerName=set&ownerGR=replicasets.apps&ownerSeniority=1',
    ['the owner \\"set\\" was looked for as the grandparent (owner-seniority=1)'],
  ],
  [
    'ownerUID=nobody&ownerSeniority=1',
    [
      'nothing was found below the owner \\"nobody\\", which was looked for as the grandparent (owner-seniority=1)',
    ],
  ],
  [
    'ownerName=set&names=nobody',
    ['the owner \\"set\\" was looked for as the parent (owner-seniority=0)'],
  ],
  ['ownerUID=nobody', ['the owner \\"nobody\\" was looked for as the parent (owner-seniority=0)']],
  ['ownerName=set', []],
]

test.each(named)('pods?%s: %j', async (query, said) => {
  const { status, warnings } = await readers.admin.ask(`/api/v1/pods?${encodeURI(query)}`)
  expect([status, warnings]).toEqual([200, said.map((text) => `299 - "${text}"`)])
})

/** What follows `counts?`: fields that are grouped by are named, too. */
test.each([
  ['groupBy=status.fase', [`no field status.fase was found in 4 ${LOOKED}`]],
  ['groupBy=&fieldSelector=status.fase=x', [`no field status.fase was found in 4 ${LOOKED}`]],
  ['groupBy=cluster&fieldSelector=status.phase=x', []],
])('pods/counts?%s: %j', async (query, said) => {
  const { status, warnings } = await readers.admin.ask(`/api/v1/pods/counts?${query}`)
  expect([status, warnings]).toEqual([200, said.map((text) => `299 - "${text}"`)])
})

const COLLECTIONS = '/apis/clusterpedia.io/v1beta1/collectionresources'

const collected: ReadonlyArray<
  readonly [who: 'admin' | 'viewer', asked: string, said: readonly string[]]
> = [
  [
    'admin',
    'any?groups=nosuch',
    [
      'where you asked, you may list no types of group \\"nosuch\\"',
      'no objects of these types were found; they are not synced from dot-01, dot-02, dot-03',
    ],
  ],
  [
    'admin',
    'any?groups=,app',
    ['where you asked, you may list no types of group \\"app\\" (did you mean \\"apps\\"?)'],
  ],
  [
    'admin',
    'any?resources=/pods,apps/replicaset,/pods/log',
    [
      'where you asked, you may list no replicaset.apps (did you mean \\"replicasets.apps\\"?), log in version pods',
    ],
  ],
  [
    'admin',
    'any?groups=apps/v2',
    [
      'where you asked, you may list no types of group \\"apps\\" in version apps/v2',
      'no objects of these types were found; they are not synced from dot-01, dot-02, dot-03',
    ],
  ],
  [
    'viewer',
    'workloads',
    ['no objects of these types were found; they are not synced from dot-01, dot-02'],
  ],
  [
    'admin',
    'any?groups=apps&names=nobody',
    ['no objects of these types were found; they are not synced from dot-02, dot-03'],
  ],
  ['admin', 'any?groups=,apps', []],
  [
    'admin',
    'any?groups=,apps&fieldSelector=status.fase=Running',
    ['no field status.fase was found in 6 objects that were looked at'],
  ],
  ['admin', 'any?groups=,apps&fieldSelector=status.phase=Nobody', []],
]

test.each(collected)('%s asks for %s: %j', async (who, asked, said) => {
  const { status, warnings } = await readers[who].askRoot(`${COLLECTIONS}/${asked}`)
  expect([status, warnings]).toEqual([200, said.map((text) => `299 - "${text}"`)])
})

test('a second page says nothing that the first has said', async () => {
  const of = 'fieldSelector=status.fase!%3DRunning&limit=2'
  const first = await readers.admin.ask(`/api/v1/pods?${of}`)
  expect(first.warnings).toHaveLength(1)
  const token = encodeURIComponent(first.json.metadata.continue)
  const second = await readers.admin.ask(`/api/v1/pods?${of}&continue=${token}`)
  expect([second.json.items.length, second.warnings]).toEqual([2, []])
})
