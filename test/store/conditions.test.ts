/** Conditions one by one on objects that are hard to search: what matches, and what does not. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FieldPath } from '../../src/kube/field-selector.ts'
import { countObjects, getObject, listObjects } from '../../src/store/list-objects.ts'
import type { ListRequest, ObjectCondition, OrderKey } from '../../src/store/list-request.ts'
import { applyChanges } from '../../src/store/put-objects.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { PODS, rowOf, type TestCluster, testCluster } from './objects.ts'

let database: TestDatabase
let cluster: TestCluster

/** `specText` is JSON text: what JSON.stringify would not write is what this is about. */
const SPECS: Readonly<Record<string, string>> = {
  plain: '{"a":[{"n":"x"},{"n":"y"}],"v":"ab"}',
  nul: '{"a":[{"n":"x\\u0000"},{"n":"y"}],"v":"a\\u0000b"}',
  lone: '{"a":[{"n":"\\ud800"},{"n":"y\\uDFFF"}],"v":"\\ud800"}',
  pair: '{"a":[{"n":"\\ud83d\\ude00"},{"n":"😀"}],"v":"\\uD83D\\uDE00"}',
  mark: '{"a":[{"n":"\ue000"},{"n":"\\ue000"}],"v":"\ue0000000","k\ue0000000":"z"}',
  twice: '{"v":"first","a":[],"v":"last","a":[{"n":"x"},{"n":"z"}]}',
  escaped: '{"a":[{"n":"\\\\u0000"},{"n":"\\u003cb\\u003e"}],"v":"\\\\ud800"}',
  numbers: '{"a":[{"n":1.0},{"n":12345678901234567890}],"v":1e3}',
  scalars: '{"a":[{"n":null},{"n":true}],"v":null}',
  objects: '{"a":[{"n":{}},{"n":[]}],"v":{}}',
  odd_keys: '{"a":[],"k\\u0000":"v","":"empty","a.b":"dot","[]":"brackets","k\ue000":"w"}',
  deep: `{"a":[],"v":${'['.repeat(6_000)}${']'.repeat(6_000)}}`,
}

beforeAll(async () => {
  database = await testDatabase()
  cluster = await testCluster(database.store, 'c')
  const changes = Object.entries(SPECS).map(([name, text]) => {
    const row = rowOf({ metadata: { name } })
    const values = JSON.parse(text) as { a: Array<{ n: unknown }>; v?: unknown }
    const indexed = rowOf({ metadata: { name }, spec: name === 'deep' ? {} : values })
    return {
      op: 'put' as const,
      row: { ...row, tokens: indexed.tokens, tail: Buffer.from(`,"spec":${text}}`) },
    }
  })
  const labels = {
    '1': '1',
    '2': '+2',
    '3': '-3',
    '4': '1.5',
    '5': '9223372036854775807',
    '6': '9223372036854775808',
    '7': '007',
    '8': '',
    '9': '1_000',
    '10': ' 5',
  }
  const labelled = Object.entries(labels).map(([name, value]) => ({
    op: 'put' as const,
    row: rowOf({ metadata: { name: `label-${name}`, namespace: 'labels', labels: { n: value } } }),
  }))
  const result = await applyChanges(database.store, cluster.target, {
    changes: [...changes, ...labelled],
  })
  expect(result.refused).toEqual([])
})
afterAll(() => database.drop())

const requestOf = (more: Partial<ListRequest>): ListRequest => ({
  type: { ...PODS, id: cluster.target.typeId },
  scope: [{ id: cluster.id, name: 'c', namespaces: 'every-namespace' }],
  conditions: [],
  order: [],
  want: { cells: false, metadata: false, body: true },
  ...more,
})

async function names(
  conditions: readonly ObjectCondition[],
  order: readonly OrderKey[] = [],
): Promise<string[]> {
  const found: string[] = []
  for await (const rows of listObjects(database.store, requestOf({ conditions, order }))) {
    found.push(...rows.map((row) => row.position().name))
  }
  expect(await countObjects(database.store, requestOf({ conditions }))).toBe(found.length)
  return found
}

const path = (...steps: Array<string | number | null>): FieldPath =>
  steps.map((step) =>
    typeof step === 'string'
      ? { key: step }
      : step === null
        ? { every: true as const }
        : { index: step },
  )
const withoutLabels: ObjectCondition = { on: 'namespace', operator: 'In', values: [''] }

describe('an element of a list', () => {
  const cases: ReadonlyArray<{ value: string; at?: number; found: readonly string[] }> = [
    { value: 'x', at: 0, found: ['plain', 'twice'] },
    { value: 'x', at: 1, found: [] },
    { value: 'x\0', at: 0, found: ['nul'] },
    { value: 'x0000', at: 0, found: [] },
    { value: 'x\ue0000000', at: 0, found: [] },
    { value: 'y', found: ['nul', 'plain'] },
    { value: '😀', found: ['pair'] },
    { value: '😀', at: 0, found: ['pair'] },
    { value: '\ue000', found: ['mark'] },
    { value: '\ue000', at: 0, found: ['mark'] },
    { value: 'z', found: ['twice'] },
    { value: '\\u0000', at: 0, found: ['escaped'] },
    { value: '<b>', found: ['escaped'] },
    { value: 'true', found: ['scalars'] },
    { value: 'null', at: 0, found: ['scalars'] },
    { value: '{}', at: 0, found: [] },
    { value: 'anything', at: 2_147_483_648, found: [] },
  ]
  test.each(cases)('[$at] is $value', async ({ value, at = 1, found }) => {
    const condition = (operator: 'In' | 'NotIn'): ObjectCondition => ({
      on: 'field',
      requirement: { path: path('spec', 'a', at, 'n'), operator, values: [value] },
    })
    expect(await names([condition('In')])).toEqual(found)
    const others = Object.keys(SPECS)
      .filter((name) => !found.includes(name))
      .sort()
    expect(await names([withoutLabels, condition('NotIn')])).toEqual(others)
  })
})

describe('what exists', () => {
  const cases: ReadonlyArray<{ name: string; path: FieldPath; found: readonly string[] }> = [
    {
      name: 'a null, a list and an object are there',
      path: path('spec', 'v'),
      found: [
        'escaped',
        'lone',
        'mark',
        'nul',
        'numbers',
        'objects',
        'pair',
        'plain',
        'scalars',
        'twice',
      ],
    },
    {
      name: 'an element',
      path: path('spec', 'a', 1),
      found: [
        'escaped',
        'lone',
        'mark',
        'nul',
        'numbers',
        'objects',
        'pair',
        'plain',
        'scalars',
        'twice',
      ],
    },
    { name: 'a key with a NUL', path: path('spec', 'k\0'), found: ['odd_keys'] },
    { name: 'a key with the mark', path: path('spec', 'k\ue000'), found: ['odd_keys'] },
    { name: 'an empty key', path: path('spec', ''), found: ['odd_keys'] },
    { name: 'a key with a dot', path: path('spec', 'a.b'), found: ['odd_keys'] },
    { name: 'a key that looks like a step', path: path('spec', '[]'), found: ['odd_keys'] },
    { name: 'a key of a list is none', path: path('spec', 'a', 'n'), found: [] },
    { name: 'an element of an object is none', path: path('spec', null), found: [] },
    { name: 'under a scalar there is nothing', path: path('spec', 'v', 'x'), found: [] },
  ]
  test.each(cases)('$name', async ({ path: at, found }) => {
    const condition = (operator: 'Exists' | 'DoesNotExist'): ObjectCondition => ({
      on: 'field',
      requirement: { path: at, operator },
    })
    const known = Object.keys(SPECS).filter((name) => name !== 'deep')
    const seen = (await names([condition('Exists')])).filter((name) => name !== 'deep')
    expect(seen).toEqual(found)
    const lacking = (await names([withoutLabels, condition('DoesNotExist')])).filter(
      (name) => name !== 'deep',
    )
    expect(lacking).toEqual(known.filter((name) => !found.includes(name)).sort())
  })

  test('an object nested deeper than the server’s stack harms no other', async () => {
    const found = await names([
      { on: 'field', requirement: { path: path('spec', 'v', null, null), operator: 'Exists' } },
    ])
    expect(['', 'deep']).toContain(found.join())
  })
})

describe('labels compared as numbers', () => {
  const cases: ReadonlyArray<{ operator: 'Gt' | 'Lt'; value: bigint; found: readonly string[] }> = [
    { operator: 'Gt', value: 1n, found: ['label-2', 'label-5', 'label-7'] },
    { operator: 'Lt', value: 7n, found: ['label-1', 'label-2', 'label-3'] },
    { operator: 'Gt', value: -3n, found: ['label-1', 'label-2', 'label-5', 'label-7'] },
    { operator: 'Gt', value: 9223372036854775806n, found: ['label-5'] },
    { operator: 'Lt', value: -9223372036854775808n, found: [] },
  ]
  test.each(cases)('$operator $value', async ({ operator, value, found }) => {
    expect(await names([{ on: 'label', requirement: { key: 'n', operator, value } }])).toEqual(
      found,
    )
  })
})

describe('an order by a field', () => {
  test('has numbers by size, then text byte by byte, then what has none', async () => {
    const order = [{ by: path('spec', 'a', 1, 'n'), descending: false }]
    expect(await names([withoutLabels], order)).toEqual([
      'numbers',
      'escaped',
      'scalars',
      'nul',
      'plain',
      'lone',
      'twice',
      'mark',
      'pair',
      'deep',
      'objects',
      'odd_keys',
    ])
    const backwards = [{ by: path('spec', 'a', 1, 'n'), descending: true }]
    expect((await names([withoutLabels], backwards)).slice(0, 3)).toEqual([
      'numbers',
      'pair',
      'mark',
    ])
  })

  test('goes on after each row exactly', async () => {
    for (const descending of [false, true]) {
      const request = requestOf({
        conditions: [withoutLabels],
        order: [{ by: path('spec', 'a', 1, 'n'), descending }],
      })
      const whole: string[] = []
      const pages: string[] = []
      for await (const rows of listObjects(database.store, request))
        whole.push(...rows.map((row) => row.position().name))
      let after: Pick<ListRequest, 'after'> | undefined
      for (let isMore = true; isMore; ) {
        isMore = false
        for await (const rows of listObjects(database.store, { ...request, ...after, limit: 1 })) {
          const position = rows[0]!.position()
          pages.push(position.name)
          after = { after: position }
          isMore = true
        }
      }
      expect(pages).toEqual(whole)
    }
  })
})

describe('a position', () => {
  const place = { cluster: 'c', namespace: '', name: 'x' }
  test.each([
    { name: 'of another order', order: [], values: ['1'] },
    {
      name: 'with a time that is none',
      order: [{ by: 'created_at', descending: true }],
      values: ['yesterday'],
    },
    {
      name: 'with a time out of range',
      order: [{ by: 'created_at', descending: true }],
      values: ['9'.repeat(30)],
    },
    { name: 'with a NUL', order: [{ by: 'name', descending: true }], values: ['a\0'] },
  ] satisfies Array<{ name: string; order: readonly OrderKey[]; values: string[] }>)(
    '$name is a bad request',
    async ({ order, values }) => {
      const list = listObjects(database.store, requestOf({ order, after: { ...place, values } }))
      await expect(list.next()).rejects.toMatchObject({ reason: 'BadRequest' })
    },
  )
})

test('a position with a NUL in its key is a bad request, too', async () => {
  const after = { cluster: 'c', namespace: '', name: 'a\0', values: [] }
  const list = listObjects(database.store, requestOf({ after }))
  await expect(list.next()).rejects.toMatchObject({ reason: 'BadRequest' })
})

describe('a scope', () => {
  test('of nothing is answered without a query', async () => {
    const closed = { ...database.store, readers: undefined as never, db: undefined as never }
    for (const scope of [[], [{ id: cluster.id, name: 'c', namespaces: [] }]]) {
      for await (const rows of listObjects(closed, requestOf({ scope }))) expect(rows).toEqual([])
      expect(await countObjects(closed, requestOf({ scope }))).toBe(0)
    }
  })

  test('of other namespaces hides an object from being got by name', async () => {
    const get = (namespaces: readonly string[] | 'every-namespace') =>
      getObject(database.store, {
        ...requestOf({}),
        scope: [{ id: cluster.id, name: 'c', namespaces }],
        namespace: 'labels',
        name: 'label-1',
      })
    expect(await get('every-namespace')).toHaveLength(1)
    expect(await get(['labels'])).toHaveLength(1)
    expect(await get(['default'])).toHaveLength(0)
  })
})

test('names that begin alike are not each other: of namespaces, and of clusters', async () => {
  const clusters = [
    await testCluster(database.store, 'eu'),
    await testCluster(database.store, 'eu-west'),
  ]
  for (const { target } of clusters) {
    const changes = ['ns1', 'ns11'].map((namespace) => ({
      op: 'put' as const,
      row: rowOf({ metadata: { name: 'a', namespace } }),
    }))
    await applyChanges(database.store, target, { changes })
  }
  const [eu, west] = clusters as [TestCluster, TestCluster]
  const seen = async (scope: ListRequest['scope']) => {
    const found: string[] = []
    for await (const rows of listObjects(database.store, requestOf({ scope }))) {
      for (const row of rows) {
        const { cluster: of, namespace } = row.position()
        found.push(`${of}/${namespace}`)
      }
    }
    expect(await countObjects(database.store, requestOf({ scope }))).toBe(found.length)
    return found
  }
  const of = ({ id, name }: TestCluster) => ({ id, name, namespaces: ['ns1'] })
  expect(await seen([of(eu)])).toEqual(['eu/ns1'])
  expect(await seen([of(eu), of(west)])).toEqual(['eu/ns1', 'eu-west/ns1'])
})

describe('very many namespaces', () => {
  const many = Array.from({ length: 20_000 }, (_, i) => `n${i}`)
  const asked: ObjectCondition = { on: 'namespace', operator: 'In', values: [...many, 'labels'] }
  const visible = [{ id: 0, name: 'c', namespaces: ['labels', ...many] }]
  const cases: ReadonlyArray<readonly [string, Partial<ListRequest>]> = [
    ['asked for', { conditions: [asked] }],
    ['visible', { scope: visible }],
    ['both', { conditions: [asked], scope: visible }],
  ]
  test.each(cases)(
    '%s: found at once, page by page',
    async (_what, { scope, ...more }) => {
      const request = {
        ...more,
        ...(scope && { scope: scope.map((each) => ({ ...each, id: cluster.id })) }),
      }
      const found: string[] = []
      let after: ListRequest['after']
      do {
        const page = requestOf({ ...request, limit: 4, ...(after && { after }) })
        after = undefined
        for await (const rows of listObjects(database.store, page)) {
          for (const row of rows) {
            after = row.position()
            found.push(after.name)
          }
        }
      } while (after)
      expect(found).toEqual(Array.from({ length: 10 }, (_, i) => `label-${i + 1}`).toSorted())
    },
    5_000,
  )
})

test('an object is got as the bytes that were put', async () => {
  const [row] = await getObject(database.store, { ...requestOf({}), namespace: '', name: 'lone' })
  const text = `${row!.head}${row!.metadata}${row!.tail}`
  expect(text).toBe(
    `{"apiVersion":"v1","kind":"Pod","metadata":{"uid":"uid-lone","resourceVersion":"1","name":"lone"},"spec":${SPECS.lone}}`,
  )
  expect(row).toMatchObject({
    clusterId: cluster.id,
    apiVersion: 'v1',
    columnsId: cluster.target.columnsId,
  })
  expect(row!.cells).toBeUndefined()
})
