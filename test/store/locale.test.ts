/** Byte order, whatever order the locale of the database is: each row once, page by page. */
import { expect, test } from 'vitest'
import { countObjects, listObjects } from '../../src/store/list-objects.ts'
import type { ListRequest, OrderKey } from '../../src/store/list-request.ts'
import { migrate } from '../../src/store/migrate.ts'
import { applyChanges } from '../../src/store/put-objects.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { PODS, put, testCluster } from './objects.ts'

const NAMES = ['a-b', 'a.b', 'a1', 'ab', 'system:node', 'B', 'Ä', 'z']
const SORTED = NAMES.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))

/** Undefined where this server has neither ICU nor that locale. */
async function localised(): Promise<TestDatabase | undefined> {
  for (const locale of ["locale_provider icu icu_locale 'en-US'", "lc_collate 'en_US.utf8'"]) {
    const database = await testDatabase({ empty: true, locale }).catch(() => undefined)
    if (database) return database
  }
  return undefined
}

test('names that a locale sorts in another order come once each, one a page', async ({ skip }) => {
  const database = await localised()
  if (!database) return skip('this PostgreSQL has no other locale')
  try {
    const { store } = database
    await migrate(store)
    const cluster = await testCluster(store, 'c')
    const changes = NAMES.map((name) => put({ metadata: { name, labels: { app: name } } }))
    await applyChanges(store, cluster.target, { changes })
    const orders: ReadonlyArray<readonly OrderKey[]> = [
      [],
      [{ by: 'name', descending: false }],
      [{ by: [{ key: 'metadata' }, { key: 'labels' }, { key: 'app' }], descending: false }],
    ]
    for (const order of orders) {
      const request: ListRequest = {
        type: { ...PODS, id: cluster.target.typeId },
        scope: [{ id: cluster.id, name: 'c', namespaces: 'every-namespace' }],
        ...{ conditions: [], order, limit: 1 },
        want: { cells: false, metadata: false, body: false },
      }
      const found: string[] = []
      let after: ListRequest['after']
      do {
        const page = { ...request, ...(after && { after }) }
        after = undefined
        for await (const [row] of listObjects(store, page)) after = row!.position()
        if (after) found.push(after.name)
      } while (after)
      expect(found).toEqual(SORTED)
      expect(await countObjects(store, request)).toBe(NAMES.length)
    }
  } finally {
    await database.drop()
  }
})
