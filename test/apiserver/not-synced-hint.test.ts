/** An empty answer says from which of the asked clusters the type is not mirrored. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'

const CORE = { group: '', version: 'v1', namespaced: true }
const PODS: MemberType = { ...CORE, resource: 'pods', kind: 'Pod' }
const SERVICES: MemberType = { ...CORE, resource: 'services', kind: 'Service' }

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
