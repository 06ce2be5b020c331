/** Comparisons of stored fields: SQL reads sizes as kube/comparable.ts does. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ComparisonOperator } from '../../src/kube/field-selector.ts'
import { countObjects, listObjects } from '../../src/store/list-objects.ts'
import type { ListRequest } from '../../src/store/list-request.ts'
import { applyChanges } from '../../src/store/put-objects.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { NO_SIZE, SIZES } from '../support/sizes.ts'
import { PODS, put, type TestCluster, testCluster } from './objects.ts'

const TIMES_FROM = SIZES.findIndex(([text]) => text === '0001-01-01')
const NUMBERS = SIZES.slice(0, TIMES_FROM)
const TIMES = SIZES.slice(TIMES_FROM)

let database: TestDatabase
let cluster: TestCluster

beforeAll(async () => {
  database = await testDatabase()
  cluster = await testCluster(database.store, 'c')
  const texts = [...SIZES.flat(), ...NO_SIZE]
  const changes = texts.map((text, i) =>
    put({ metadata: { name: String(i).padStart(3, '0') }, spec: { text, list: [{ text }, {}] } }),
  )
  const odd = [12, 1.5, 1e21, true, null, {}, [1]].map((value, i) =>
    put({ metadata: { name: `odd-${i}` }, spec: { value, status: value } }),
  )
  const { refused } = await applyChanges(database.store, cluster.target, {
    changes: [...changes, ...odd],
  })
  expect(refused).toEqual([])
})
afterAll(() => database.drop())

/** What the objects have at spec.text, of those that are found. */
async function found(
  operator: ComparisonOperator,
  value: string,
  path: readonly string[] = ['spec', 'text'],
): Promise<readonly string[]> {
  const steps = path.map((key) => (key === '[]' ? { every: true as const } : { key }))
  const request: ListRequest = {
    type: { ...PODS, id: cluster.target.typeId },
    scope: [{ id: cluster.id, name: 'c', namespaces: 'every-namespace' }],
    conditions: [{ on: 'field', requirement: { path: steps, operator, value } }],
    order: [],
    want: { cells: false, metadata: false, body: true },
  }
  const texts: string[] = []
  for await (const rows of listObjects(database.store, request)) {
    for (const row of rows) {
      const { spec } = JSON.parse(`${row.head}${row.metadata}${row.tail}`)
      texts.push(spec.text ?? JSON.stringify(spec.value))
    }
  }
  expect(await countObjects(database.store, request)).toBe(texts.length)
  return texts.toSorted()
}

const flat = (groups: ReadonlyArray<readonly string[]>) => groups.flat().toSorted()

test.each([
  { kind: 'numbers', groups: NUMBERS },
  { kind: 'times', groups: TIMES },
])('of $kind finds those beyond, and nothing of another kind', async ({ groups }) => {
  for (const [i, group] of groups.entries()) {
    const value = group.at(-1)!
    expect(await found('Gt', value)).toEqual(flat(groups.slice(i + 1)))
    expect(await found('Gte', value)).toEqual(flat(groups.slice(i)))
    expect(await found('Lt', value)).toEqual(flat(groups.slice(0, i)))
    expect(await found('Lte', value)).toEqual(flat(groups.slice(0, i + 1)))
  }
})

test('over a list it holds when it holds for any element', async () => {
  expect(await found('Gt', '9', ['spec', 'list', '[]', 'text'])).toEqual(await found('Gt', '9'))
})

test('of JSON numbers, and of what is no scalar', async () => {
  expect(await found('Gte', '0', ['spec', 'value'])).toEqual(['1.5', '12', '1e+21'].toSorted())
  expect(await found('Lt', '2', ['spec', 'value'])).toEqual(['1.5'])
})
