/** What readers are told of clusters that are not in step, and in which words. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClusterResource, ServedResource } from '../../src/apiserver/catalog.ts'
import { mixedVersionsWarning, staleWarning, unseenWarning } from '../../src/apiserver/warnings.ts'
import { recordClusterState } from '../../src/store/clusters.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'

const NOW = Date.parse('2026-12-01T12:00:00Z')
const SINCE = new Date('2026-12-01T03:23:56.789Z')

interface Given {
  readonly name?: string
  readonly staleReason?: string | null
  readonly staleSince?: Date | null
  readonly syncerSeenAt?: Date | null
  readonly status?: string
  readonly message?: string
  readonly listed?: boolean
  /** Some type of the cluster. */
  readonly wasListed?: boolean
  readonly apiVersion?: string
}

/** A cluster in step, but for what is given. */
function served(given: Given): ServedResource {
  const { name = 'dot-01', staleReason = null, staleSince = null, message = '' } = given
  const { syncerSeenAt = new Date(NOW + 30_000), status = 'Syncing', listed = true } = given
  return {
    cluster: {
      ...{ id: 1, name, registrationUid: 'u', labels: {}, version: null },
      resources: given.wasListed
        ? [{ position: { resourceVersion: '1', controlPlaneUid: 'c' } } as ClusterResource]
        : [],
      ...{ staleReason, staleSince, syncerSeenAt },
    },
    resource: {
      ...{ clusterId: 1, typeId: 1, group: 'apps', resource: 'deployments', kind: 'Deployment' },
      ...{ listKind: 'DeploymentList', singularName: '', shortNames: [], categories: [] },
      ...{ namespaced: true, apiVersion: given.apiVersion ?? 'apps/v1', servedVersions: [] },
      ...{ status, reason: message && 'Refused', message, changedAt: SINCE },
      ...(listed && { position: { resourceVersion: '1', controlPlaneUid: 'c' } }),
    },
    servesVersion: true,
  } as ServedResource
}

const text = (of: string) => [`not in step, and shown as last seen: ${of}`]
const header = (of: string) => text(of).map((sentence) => `299 - "${sentence}"`)

test('a cluster that never answered is named although it has none of the types asked for', () => {
  const asked: readonly Given[] = [
    { name: 'new', staleReason: 'connection refused' },
    { name: 'stale', staleReason: 'connection refused', wasListed: true },
    { name: 'empty' },
  ]
  const clusters = asked.map((given) => served(given).cluster)
  expect(unseenWarning(clusters, NOW)).toEqual([
    'nothing is mirrored so far from new (connection refused; never in step)',
  ])
  expect(unseenWarning(clusters.slice(1), NOW)).toEqual([])
})

describe('a stale cluster', () => {
  const cases: ReadonlyArray<{
    readonly name: string
    readonly given: Given
    readonly want: readonly string[]
  }> = [
    { name: 'is not one that is in step', given: {}, want: [] },
    {
      name: 'is named, with the reason and the time',
      given: { staleReason: 'connection refused', staleSince: SINCE },
      want: text('dot-01 (connection refused; last in step 2026-12-01T03:23:56Z)'),
    },
    {
      name: 'was never in step',
      given: { staleReason: 'no such host' },
      want: text('dot-01 (no such host; never in step)'),
    },
    {
      name: 'has a syncer that died',
      given: { syncerSeenAt: new Date(NOW - 60_000) },
      want: text('dot-01 (no syncer is at work; last in step 2026-12-01T11:59:00Z)'),
    },
    {
      name: 'has a syncer whose renewal we may not have heard of',
      given: { syncerSeenAt: new Date(NOW - 5_000) },
      want: [],
    },
    {
      name: 'never had a syncer',
      given: { syncerSeenAt: null },
      want: text('dot-01 (no syncer is at work; never in step)'),
    },
    {
      name: 'is being listed for the first time',
      given: { listed: false },
      want: text('dot-01 (the first list is not complete; never in step)'),
    },
    {
      name: 'was listed once, and nobody noted until when it was in step',
      given: { staleReason: 'InvalidConfig: spec.caData is no certificate', wasListed: true },
      want: text('dot-01 (InvalidConfig: spec.caData is no certificate)'),
    },
    {
      name: 'refuses this type',
      given: { status: 'Error', message: 'forbidden' },
      want: text('dot-01 (Refused: forbidden; last in step 2026-12-01T03:23:56Z)'),
    },
  ]
  for (const { name, given, want } of cases) {
    test(name, () => expect(staleWarning([served(given)], NOW)).toEqual(want))
  }
})

test('sixty stale clusters of every kind stay under 4 KB, and are counted', () => {
  const all = Array.from({ length: 60 }, (_, i) =>
    served({
      name: `${'very-long-name-'.repeat(16)}${i}`,
      ...{
        staleReason: '"why" '.repeat(500),
        staleSince: SINCE,
        apiVersion: `v${'1'.repeat(250)}`,
      },
    }),
  )
  const warnings = [...staleWarning(all, NOW), ...mixedVersionsWarning(all, 'apps/v1')]
  expect(warnings).toHaveLength(2)
  for (const warning of warnings) expect(warning).toContain(' and 55 more')
  expect(warnings.join('').length).toBeLessThan(4096)
})

const PODS: MemberType = {
  ...{ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true },
}
let database: TestDatabase
let fleet: FleetServer
/** Sees the namespace that is asked for. */
let viewer: Reader

beforeAll(async () => {
  database = await testDatabase()
  for (const name of ['dot-01', 'dot-02', 'dot-03']) {
    const cluster = await FilledCluster.create(database.store, name)
    await cluster.fill(
      PODS,
      [0, 1, 2].map((i) => ({
        metadata: metadata(`${name}-${i}`, { namespace: 'shop' }),
      })),
    )
    if (name === 'dot-01') continue
    await recordClusterState(database.store, cluster.lease, {
      staleReason: 'down',
      staleSince: SINCE,
    })
  }
  fleet = await fleetServer(database.store)
  viewer = await fleet.viewer([
    { clusters: ['dot-*'], namespaces: ['shop'], apiGroups: ['*'], resources: ['*'] },
  ])
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

const DOWN = '(down; last in step 2026-12-01T03:23:56Z)'
const BOTH = header(`dot-02 ${DOWN}, dot-03 ${DOWN}`)

describe.each(['administrator', 'viewer'] as const)('an answer to the %s', (who) => {
  const reader = () => (who === 'viewer' ? viewer : fleet.admin)

  test('comes from the mirror all the same, with the same text on every page', async () => {
    const first = await reader().ask('/api/v1/pods?limit=4')
    const second = await reader().ask(
      `/api/v1/pods?limit=9&continue=${first.json.metadata.continue}`,
    )
    expect(first.json.items.length + second.json.items.length).toBe(9)
    expect(first.warnings).toEqual(BOTH)
    expect(second.warnings).toEqual(BOTH)
  })
  test('warns of no cluster that was not asked', async () => {
    expect((await reader().ask('/api/v1/pods?clusters=dot-01')).warnings).toEqual([])
    const some = await fleet.viewer([
      { clusters: ['dot-01', 'dot-03'], namespaces: ['*'], apiGroups: ['*'], resources: ['*'] },
    ])
    expect((await some.ask('/api/v1/pods')).warnings).toEqual(header(`dot-03 ${DOWN}`))
  })
  test('of one object warns of its cluster alone; of none, of all that might have it', async () => {
    const path = '/api/v1/namespaces/shop/pods'
    expect((await reader().ask(`${path}/dot-01-0`)).warnings).toEqual([])
    expect((await reader().ask(`${path}/dot-02-0`)).warnings).toEqual(header(`dot-02 ${DOWN}`))
    const none = await reader().ask(`${path}/nope`)
    expect([none.status, none.warnings]).toEqual([404, BOTH])
  })
})
