/** What one batch of changes does to rows, status tokens, change log and position. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listClusterResources } from '../../src/store/cluster-resources.ts'
import { listObjects } from '../../src/store/list-objects.ts'
import type { ListRequest } from '../../src/store/list-request.ts'
import type { ObjectChange } from '../../src/store/object-row.ts'
import { applyChanges, finishList, removeClusterResource } from '../../src/store/put-objects.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { PODS, put, rowOf, type TestCluster, testCluster } from './objects.ts'

let database: TestDatabase
let count = 0
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

const fresh = () => testCluster(database.store, `c-${++count}`)
const pod = (name: string, resourceVersion = '1', more: object = {}): ObjectChange =>
  put({ metadata: { name, namespace: 'a', resourceVersion }, ...more })
const gone = (name: string): ObjectChange => ({ op: 'delete', key: { namespace: 'a', name } })

async function stored(cluster: TestCluster): Promise<string[]> {
  const request: ListRequest = {
    type: { ...PODS, id: cluster.target.typeId },
    scope: [{ id: cluster.id, name: cluster.name, namespaces: 'every-namespace' }],
    conditions: [],
    order: [],
    want: { cells: false, metadata: true, body: true },
  }
  const texts: string[] = []
  for await (const rows of listObjects(database.store, request)) {
    texts.push(...rows.map(({ head, metadata, tail }) => `${head}${metadata}${tail}`))
  }
  return texts
}

async function log(cluster: TestCluster): Promise<string[]> {
  const { rows } = await database.store.pool.query(
    'select seq, op, name, uid, resource_version from change where cluster_id = $1 order by seq',
    [cluster.id],
  )
  return rows.map((row) => `${row.seq} ${row.op} ${row.name} ${row.uid} ${row.resource_version}`)
}

const column = async (text: string, cluster: TestCluster) =>
  (await database.store.pool.query({ text, values: [cluster.id], rowMode: 'array' })).rows.flat()

describe('applyChanges', () => {
  test('stores the bytes as they came, and logs each change once', async () => {
    const cluster = await fresh()
    const result = await applyChanges(database.store, cluster.target, {
      changes: [pod('b'), pod('a', '7', { spec: { n: 1 } })],
    })
    expect(result).toEqual({ added: 2, modified: 0, deleted: 0, unchanged: 0, refused: [] })
    expect(await stored(cluster)).toEqual([
      '{"apiVersion":"v1","kind":"Pod","metadata":{"uid":"uid-a","resourceVersion":"7","name":"a","namespace":"a"},"spec":{"n":1}}',
      '{"apiVersion":"v1","kind":"Pod","metadata":{"uid":"uid-b","resourceVersion":"1","name":"b","namespace":"a"}}',
    ])
    expect(await log(cluster)).toEqual(['1 A a uid-a 7', '2 A b uid-b 1'])
  })
})

