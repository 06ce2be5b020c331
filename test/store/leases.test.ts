/** One writer per cluster: who may write, and what the one who slept finds. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setSyncStatus } from '../../src/store/cluster-resources.ts'
import { recordClusterState, removeCluster } from '../../src/store/clusters.ts'
import {
  acquireLease,
  LeaseLost,
  releaseLease,
  renewLease,
  StoreWentBack,
} from '../../src/store/leases.ts'
import { putOpenApiDocument, removeOpenApiDocument } from '../../src/store/openapi-documents.ts'
import { applyChanges, finishList } from '../../src/store/put-objects.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { put, testCluster } from './objects.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

let count = 0
const fresh = () => testCluster(database.store, `c-${++count}`)
const pod = put({ metadata: { name: 'a', namespace: 'a' } })
const other = (clusterId: number, holder = 'other') =>
  acquireLease(database.store, { clusterId, holder, seconds: 60 })

describe('a lease', () => {
  test('is one holder’s until it expires or is released', async () => {
    const cluster = await fresh()
    expect(await other(cluster.id)).toBeUndefined()
    await releaseLease(database.store, cluster.lease)
    expect(await other(cluster.id)).toMatchObject({ holder: 'other', epoch: 2n })
  })

  test('that has expired can be taken', async () => {
    const cluster = await fresh()
    expect(await renewLease(database.store, cluster.lease, 0.05)).toBe(true)
    await delay(100)
    expect(await other(cluster.id)).toMatchObject({ epoch: 2n })
    expect(await renewLease(database.store, cluster.lease, 60)).toBe(false)
  })

  test('that has expired and that nobody took is renewed', async () => {
    const cluster = await fresh()
    await renewLease(database.store, cluster.lease, 0.01)
    await delay(50)
    expect(await renewLease(database.store, cluster.lease, 60)).toBe(true)
  })

  test('is won by one of many', async () => {
    const cluster = await fresh()
    await releaseLease(database.store, cluster.lease)
    await delay(5)
    const tries = await Promise.all(
      Array.from({ length: 10 }, (_, i) => other(cluster.id, `h-${i}`)),
    )
    expect(tries.filter((lease) => lease !== undefined)).toHaveLength(1)
  })

  test('its own holder gets anew with a new epoch: a restart fences off the process before it', async () => {
    const cluster = await fresh()
    const again = await acquireLease(database.store, {
      clusterId: cluster.id,
      holder: 'test',
      seconds: 60,
    })
    expect(again).toMatchObject({ epoch: 2n })
    await expect(applyChanges(database.store, cluster.target, { changes: [pod] })).rejects.toThrow(
      LeaseLost,
    )
  })

  test('of a removed cluster there is none', async () => {
    const cluster = await fresh()
    await removeCluster(database.store, `uid-of-${cluster.name}`)
    expect(await other(cluster.id)).toBeUndefined()
    expect(await renewLease(database.store, cluster.lease, 60)).toBe(false)
  })
})

describe('who slept through its lease writes nothing', () => {
  const position = { resourceVersion: '1', controlPlaneUid: 'cp' }
  test.each([
    {
      name: 'no changes',
      write: (target: Awaited<ReturnType<typeof fresh>>['target']) =>
        applyChanges(database.store, target, { changes: [pod], position }),
    },
    {
      name: 'no end of a list',
      write: (target: Awaited<ReturnType<typeof fresh>>['target']) =>
        finishList(database.store, target, { seen: new Set(), position }),
    },
    {
      name: 'no status',
      write: ({ lease, typeId }: Awaited<ReturnType<typeof fresh>>['target']) =>
        setSyncStatus(database.store, lease, {
          typeId,
          status: 'Syncing',
          reason: '',
          message: '',
        }),
    },
    {
      name: 'no state of the cluster',
      write: ({ lease }: Awaited<ReturnType<typeof fresh>>['target']) =>
        recordClusterState(database.store, lease, { staleReason: 'late', version: '{}' }),
    },
    {
      name: 'no OpenAPI document',
      write: ({ lease }: Awaited<ReturnType<typeof fresh>>['target']) =>
        putOpenApiDocument(database.store, lease, { path: 'api/v1', body: Buffer.from('{}') }),
    },
    {
      name: 'no end of an OpenAPI document',
      write: ({ lease }: Awaited<ReturnType<typeof fresh>>['target']) =>
        removeOpenApiDocument(database.store, lease, 'apis/apps/v1'),
    },
  ])('$name', async ({ write }) => {
    const cluster = await fresh()
    await renewLease(database.store, cluster.lease, 0.01)
    await delay(30)
    const next = (await other(cluster.id))!
    await applyChanges(database.store, { ...cluster.target, lease: next }, { changes: [pod] })
    const document = { path: 'apis/apps/v1', body: Buffer.from('{}') }
    await putOpenApiDocument(database.store, next, document)
    const before = await everything(cluster.id)
    await expect(write(cluster.target)).rejects.toThrow(LeaseLost)
    expect(await everything(cluster.id)).toEqual(before)
  })

  async function everything(clusterId: number): Promise<unknown> {
    const tables = [
      'object',
      'object_status',
      'change',
      'change_batch',
      'cluster_resource',
      'cluster_lease',
      'cluster_openapi',
      '(select *, id as cluster_id from cluster)',
    ]
    return Promise.all(
      tables.map(async (table) => {
        const { rows } = await database.store.pool.query(
          `select * from ${table} t where cluster_id = $1`,
          [clusterId],
        )
        return rows
      }),
    )
  }

  test('nor who finds that the database lost what was written last', async () => {
    const cluster = await fresh()
    await applyChanges(database.store, cluster.target, { changes: [pod], position })
    await database.store.pool.query(
      `with gone as (delete from object where cluster_id = $1)
       update cluster_lease set last_seq = last_seq - 1 where cluster_id = $1`,
      [cluster.id],
    )
    const later = put({ metadata: { name: 'b', namespace: 'a' } })
    const write = () => applyChanges(database.store, cluster.target, { changes: [later], position })
    await expect(write()).rejects.toThrow(StoreWentBack)
    await expect(write()).rejects.toThrow(StoreWentBack)
    const again = (await other(cluster.id, 'test'))!
    const target = { ...cluster.target, lease: again }
    await applyChanges(database.store, target, { changes: [later], position })
  })

  test('nor renews the lease who finds that', async () => {
    const cluster = await fresh()
    await applyChanges(database.store, cluster.target, { changes: [pod], position })
    expect(await renewLease(database.store, cluster.lease, 60)).toBe(true)
    await database.store.pool.query(
      'update cluster_lease set last_seq = last_seq - 1 where cluster_id = $1',
      [cluster.id],
    )
    await expect(renewLease(database.store, cluster.lease, 60)).rejects.toThrow(StoreWentBack)
  })

  test('nor whose type the database lost', async () => {
    const cluster = await fresh()
    const { typeId } = cluster.target
    await database.store.pool.query(
      'delete from cluster_resource where cluster_id = $1 and type_id = $2',
      [cluster.id, typeId],
    )
    const write = applyChanges(database.store, cluster.target, { changes: [], position })
    await expect(write).rejects.toThrow(StoreWentBack)
  })

  test('a takeover waits for a transaction under way, and the next one is refused', async () => {
    const cluster = await fresh()
    const blocker = await database.store.pool.connect()
    await blocker.query('begin')
    await blocker.query('select from cluster_lease where cluster_id = $1 for update', [cluster.id])
    const write = applyChanges(database.store, cluster.target, { changes: [pod] })
    // Expected from here on, because it fails while the blocker still waits for its answer.
    const refused = expect(write).rejects.toThrow(LeaseLost)
    await delay(50)
    await blocker.query(
      `update cluster_lease set epoch = epoch + 1, holder = 'other' where cluster_id = $1`,
      [cluster.id],
    )
    await blocker.query('commit')
    blocker.release()
    await refused
  })
})
