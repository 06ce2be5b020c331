/**
 * How much of the store each read touches: on a small fleet with statistics of its own, by the
 * planner's default settings, as custom and as generic plan. Not how long it takes.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applyChanges } from '../../src/store/put-objects.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { EXPLAINED_READS, explain, type FleetSample } from '../support/explained-reads.ts'
import { PODS, put, type TestObject, testCluster } from './objects.ts'

const CLUSTERS = 8
const PODS_EACH = 1_500
const PHASES = ['Running', 'Running', 'Running', 'Running', 'Running', 'Pending', 'Failed']

let database: TestDatabase
let fleet: FleetSample

function pod(cluster: number, index: number): TestObject {
  const workload = index % 150
  const day = new Date(Date.UTC(2026, 0, 1) + ((index * 37 + cluster) % 240) * 86_400_000)
  return {
    metadata: {
      name: `app-${workload}-${['payments', 'search', 'infra'][workload % 3]}-${cluster}x${index}`,
      namespace: `team-${workload % 20}`,
      uid: `pod-${cluster}-${index}`,
      creationTimestamp: day.toISOString(),
      labels: { app: `app-${workload}`, version: `1.${workload % 9}` },
      annotations: { note: `of ${workload}` },
      ...{ ownerReferences: [{ uid: `set-${workload}` }] },
    },
    spec: {
      ...{ nodeName: `node-${index % 100}`, terminationGracePeriodSeconds: workload },
      containers: [{ name: 'main', image: `registry.example.com/app-${workload}:1.0` }],
    },
    status: { phase: PHASES[index % PHASES.length], restarts: index % 5 },
  }
}

beforeAll(async () => {
  database = await testDatabase()
  const clusters = []
  for (let i = 0; i < CLUSTERS; i++) {
    const cluster = await testCluster(database.store, `c${i}`)
    const pods = Array.from({ length: PODS_EACH }, (_, index) => put(pod(i, index)))
    await applyChanges(database.store, cluster.target, { changes: pods })
    clusters.push(cluster)
  }
  await database.store.pool.query('vacuum analyze')
  const { name, namespace = '' } = pod(1, 7).metadata
  fleet = {
    type: { ...PODS, id: clusters[0]!.target.typeId },
    scope: clusters.map(({ id, name }) => ({ id, name, namespaces: 'every-namespace' as const })),
    total: CLUSTERS * PODS_EACH,
    ...{ name, namespace, node: 'node-7', ownerUid: 'set-7', commonPart: 'payments' },
    ...{
      rareLabel: ['app', 'app-7'],
      commonLabel: ['version', '1.3'],
      words: ['payments', 'registry'],
    },
    ...{ since: new Date('2026-03-01'), before: new Date('2026-03-02') },
  }
})
afterAll(() => database.drop())

/**
 * Each row that is returned takes a descent of its key index and its page; finding it, a few pages of
 * another. What a generic plan does not know is how rare a value is: it may read one cluster for it.
 */
const BOUNDS = {
  custom: { pages: 250, pagesEach: 4, removed: 100, removedEach: 12 },
  generic: { pages: 350, pagesEach: 4, removed: 3_000, removedEach: 12 },
} as const

describe.each(['custom', 'generic'] as const)('%s plan', (mode) => {
  test.each(EXPLAINED_READS)('$what', async (read) => {
    const { buffers, removed, returned } = await explain(database.store, read, { fleet, mode })
    const { pages, pagesEach, removed: removedMost, removedEach } = BOUNDS[mode]
    expect(returned > 0).toBe(!read.what.includes('absent'))
    if (read.reads === 'some-keys') return expect(buffers).toBeLessThan(500)
    expect(buffers).toBeLessThanOrEqual(pages + pagesEach * returned)
    if (read.reads === 'all-keys') return expect(removed).toBeLessThan(fleet.total * 1.1)
    expect(removed).toBeLessThanOrEqual(removedMost + removedEach * returned)
  })
})
