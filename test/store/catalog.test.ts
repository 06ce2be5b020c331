/** Clusters come, change and go: what the catalog shows, who is told, and what is left behind. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadCatalog, onCatalogChange } from '../../src/store/catalog.ts'
import { setSyncStatus } from '../../src/store/cluster-resources.ts'
import {
  labelCluster,
  purgeRemovedClusters,
  recordClusterState,
  registerCluster,
  removeCluster,
} from '../../src/store/clusters.ts'
import { listObjects } from '../../src/store/list-objects.ts'
import { putOpenApiDocument } from '../../src/store/openapi-documents.ts'
import { applyChanges, removeClusterResource } from '../../src/store/put-objects.ts'
import { ensureColumnSet, ensureType } from '../../src/store/resource-types.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { PODS, put, type TestCluster, testCluster } from './objects.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

/** Long enough that only changes are told of. */
const NO_POLL_SECONDS = 3600

let count = 0
const fresh = () => testCluster(database.store, `c-${++count}`)
const shown = async (name: string) =>
  (await loadCatalog(database.store)).clusters.find((cluster) => cluster.name === name)

async function names(cluster: TestCluster): Promise<string[]> {
  const found: string[] = []
  const request = {
    type: { ...PODS, id: cluster.target.typeId },
    scope: [{ id: cluster.id, name: cluster.name, namespaces: 'every-namespace' as const }],
    conditions: [],
    order: [],
    want: { cells: false, metadata: false, body: false },
  }
  for await (const rows of listObjects(database.store, request)) {
    found.push(...rows.map((row) => row.position().name))
  }
  return found
}

describe('the catalog', () => {
  test('shows live clusters in byte order, with what they serve', async () => {
    for (const name of ['é', 'B', 'a']) {
      await registerCluster(database.store, { name, registrationUid: name, labels: { env: name } })
    }
    const cluster = await fresh()
    const { clusters, columnSets, types } = await loadCatalog(database.store)
    expect(clusters.map(({ name }) => name)).toEqual(['B', 'a', cluster.name, 'é'])
    expect(clusters[0]).toMatchObject({
      labels: { env: 'B' },
      version: null,
      staleReason: null,
      syncerSeenAt: null,
      resources: [],
    })
    const [pods] = clusters[2]!.resources
    expect(pods).toMatchObject({
      group: '',
      resource: 'pods',
      kind: 'Pod',
      status: 'Pending',
      namespaced: true,
    })
    expect(columnSets.get(pods!.columnsId!)?.map(({ name }) => name)).toEqual(['Name'])
    expect(types.get(pods!.typeId)).toEqual(PODS)
    expect(clusters[2]!.syncerSeenAt!.getTime()).toBeGreaterThan(Date.now())
  })

  test('keeps the member’s version document to the byte', async () => {
    const cluster = await fresh()
    const version = '{"major":"1", "minor":"32+","big":12345678901234567890}'
    await recordClusterState(database.store, cluster.lease, { version, staleReason: null })
    expect((await shown(cluster.name))!.version).toBe(version)
    const since = new Date('2024-05-01T00:00:00Z')
    await recordClusterState(database.store, cluster.lease, {
      staleReason: 'unreachable',
      staleSince: since,
    })
    expect(await shown(cluster.name)).toMatchObject({
      version,
      staleReason: 'unreachable',
      staleSince: since,
    })
  })

  test('tells of each change, and of none when nothing changed', async () => {
    const cluster = await fresh()
    let calls = 0
    const stop = await onCatalogChange(database.store, () => calls++, NO_POLL_SECONDS)
    const told = async (change: () => Promise<unknown>) => {
      const before = calls
      await change()
      await expect.poll(() => calls).toBe(before + 1)
    }
    const status = {
      typeId: cluster.target.typeId,
      status: 'Syncing' as const,
      reason: '',
      message: '',
    }
    const state = { version: '{}', staleReason: null, staleSince: null }
    await told(() =>
      database.store.db
        .transaction()
        .execute((write) => labelCluster(write, `uid-of-${cluster.name}`, { a: 'b' })),
    )
    await told(() => setSyncStatus(database.store, cluster.lease, status))
    await told(() => recordClusterState(database.store, cluster.lease, state))
    const before = calls
    await setSyncStatus(database.store, cluster.lease, status)
    await recordClusterState(database.store, cluster.lease, state)
    const position = { resourceVersion: '1', controlPlaneUid: 'cp' }
    await applyChanges(database.store, cluster.target, { changes: [], position })
    await told(() => removeClusterResource(database.store, cluster.lease, cluster.target.typeId))
    expect(calls).toBe(before + 1)
    await told(() => removeCluster(database.store, `uid-of-${cluster.name}`))
    await stop()
  })

  test('is told of again after its connection was lost', async () => {
    let calls = 0
    const stop = await onCatalogChange(database.store, () => calls++, NO_POLL_SECONDS)
    await database.store.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %' and datname = current_database()`,
    )
    // Reconnecting tells by itself: something may have been missed meanwhile.
    await expect.poll(() => calls).toBe(1)
    await fresh()
    await expect.poll(() => calls).toBeGreaterThan(1)
    await stop()
  })
})

describe('a registration', () => {
  test('is one cluster, however often it is registered', async () => {
    const registration = { name: 'same', registrationUid: 'same-uid', labels: {} }
    const ids = await Promise.all(
      Array.from({ length: 8 }, () => registerCluster(database.store, registration)),
    )
    expect(new Set(ids).size).toBe(1)
  })

  test('of a name that is taken replaces the other at once', async () => {
    const old = await fresh()
    await applyChanges(database.store, old.target, { changes: [put({ metadata: { name: 'p' } })] })
    expect(await names(old)).toEqual(['p'])
    const id = await registerCluster(database.store, {
      name: old.name,
      registrationUid: 'new',
      labels: {},
    })
    expect(id).not.toBe(old.id)
    expect((await shown(old.name))!.id).toBe(id)
    // A reader that still has the old cluster in its scope sees nothing of it.
    expect(await names(old)).toEqual([])
  })

  test('that was removed cannot be revived by a late writer', async () => {
    const cluster = await fresh()
    await removeCluster(database.store, `uid-of-${cluster.name}`)
    expect(await shown(cluster.name)).toBeUndefined()
    const late = registerCluster(database.store, {
      name: cluster.name,
      registrationUid: `uid-of-${cluster.name}`,
      labels: {},
    })
    await expect(late).rejects.toThrow('was removed')
  })

  test('leaves nothing behind once it is purged, and takes nothing of others', async () => {
    const [gone, kept] = [await fresh(), await fresh()]
    for (const cluster of [gone, kept]) {
      const changes = Array.from({ length: 25 }, (_, i) =>
        put({ metadata: { name: `p-${i}` }, status: { a: 'b' } }),
      )
      await applyChanges(database.store, cluster.target, { changes })
      await putOpenApiDocument(database.store, cluster.lease, {
        path: 'api/v1',
        body: Buffer.from('{}'),
      })
    }
    await removeCluster(database.store, `uid-of-${gone.name}`)
    while ((await purgeRemovedClusters(database.store, { batchRows: 10 })) > 0);
    const tables = [
      'object',
      'object_status',
      'change',
      'change_batch',
      'cluster_openapi',
      'cluster_resource',
      'cluster_lease',
    ]
    for (const table of tables) {
      const { rows } = await database.store.pool.query(
        `select count(*) filter (where cluster_id = $1)::int as gone, count(*) filter (where cluster_id = $2)::int as kept from ${table}`,
        [gone.id, kept.id],
      )
      expect({ table, gone: rows[0].gone, kept: rows[0].kept > 0 }).toEqual({
        table,
        gone: 0,
        kept: true,
      })
    }
    const { rows } = await database.store.pool.query('select from cluster where id = $1', [gone.id])
    expect(rows).toEqual([])
  })
})

describe('types and column sets', () => {
  const column = { name: 'Name', type: 'string', format: 'name', description: 'é', priority: 0 }

  test('have one number each, also when many ask at once', async () => {
    const type = { group: 'apps', resource: 'deployments' }
    const types = await Promise.all(
      Array.from({ length: 8 }, () => ensureType(database.store, type)),
    )
    expect(new Set(types).size).toBe(1)
    const sets = await Promise.all(
      Array.from({ length: 8 }, () => ensureColumnSet(database.store, [column])),
    )
    expect(new Set(sets).size).toBe(1)
    expect(await ensureColumnSet(database.store, [{ ...column, priority: 1 }])).not.toBe(sets[0])
    expect(
      await ensureType(database.store, { group: 'extensions', resource: 'deployments' }),
    ).not.toBe(types[0])
  })
})
