/** OpenAPI documents: whole, stored once, and gone when nobody serves them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  getOpenApiDocument,
  listOpenApiPaths,
  pruneOpenApiDocuments,
  putOpenApiDocument,
  removeOpenApiDocument,
} from '../../src/store/openapi-documents.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { testCluster } from './objects.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

test('equal documents of two clusters are one, until the last is gone', async () => {
  const { store } = database
  const [a, b] = [await testCluster(store, 'a'), await testCluster(store, 'b')]
  const body = Buffer.from(JSON.stringify({ openapi: '3.0.0', text: 'é'.repeat(50_000) }))
  for (const { lease } of [a, b]) {
    await putOpenApiDocument(store, lease, { path: 'apis/apps/v1', body })
  }
  await putOpenApiDocument(store, a.lease, { path: 'api/v1', body: Buffer.from('{}') })
  const paths = await listOpenApiPaths(store, [a.id, b.id])
  expect(paths.map(({ clusterId, path }) => [clusterId, path])).toEqual([
    [a.id, 'api/v1'],
    [a.id, 'apis/apps/v1'],
    [b.id, 'apis/apps/v1'],
  ])
  const { digest } = paths[1]!
  expect(paths[2]!.digest).toBe(digest)
  expect(digest).toMatch(/^[0-9a-f]{128}$/)
  expect(await getOpenApiDocument(store, digest)).toEqual(body)

  await removeOpenApiDocument(store, a.lease, 'apis/apps/v1')
  expect(await pruneOpenApiDocuments(store)).toBe(0)
  await putOpenApiDocument(store, b.lease, { path: 'apis/apps/v1', body: Buffer.from('[]') })
  expect(await pruneOpenApiDocuments(store)).toBe(1)
  expect(await getOpenApiDocument(store, digest)).toBeUndefined()
  expect(await listOpenApiPaths(store, [])).toEqual([])
})

test('a document that is stored while others are cleared away stays', async () => {
  const { store } = database
  const { id, lease } = await testCluster(store, 'upgraded')
  const path = 'apis/batch/v1'
  for (let round = 0; round < 40; round++) {
    const body = Buffer.from(JSON.stringify({ round }))
    // Known, and nobody's: what a cluster leaves behind that comes back.
    await putOpenApiDocument(store, lease, { path, body })
    await removeOpenApiDocument(store, lease, path)
    await Promise.all([
      putOpenApiDocument(store, lease, { path, body }),
      pruneOpenApiDocuments(store),
    ])
    const [stored] = await listOpenApiPaths(store, [id])
    expect(await getOpenApiDocument(store, stored!.digest)).toEqual(body)
  }
})
