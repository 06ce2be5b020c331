import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Catalog, type CatalogCache, cacheCatalog } from '../../src/apiserver/catalog.ts'
import { createLogger } from '../../src/log.ts'
import { loadCatalog, onCatalogChange } from '../../src/store/catalog.ts'
import { removeCluster } from '../../src/store/clusters.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type MirroredType, mirrorCluster } from '../support/mirrored-clusters.ts'
import { until } from '../support/until.ts'

const log = createLogger('silent')

function type(versions: readonly string[], group: string, resource: string): MirroredType {
  return {
    ...{ group, resource, versions, kind: 'Kind', singularName: '', namespaced: true },
    ...{ shortNames: [], categories: [] },
  }
}

describe('finding a type', () => {
  let database: TestDatabase
  let cache: CatalogCache
  let ids: Record<string, number>

  beforeAll(async () => {
    database = await testDatabase()
    const { store } = database
    ids = {
      new: await mirrorCluster(store, {
        name: 'new',
        types: [
          type(['networking.k8s.io/v1'], 'networking.k8s.io', 'ingresses'),
          type(['v1', 'events.k8s.io/v1'], '', 'events'),
        ],
      }),
      old: await mirrorCluster(store, {
        name: 'old',
        types: [
          type(
            ['networking.k8s.io/v1beta1', 'extensions/v1beta1'],
            'networking.k8s.io',
            'ingresses',
          ),
        ],
      }),
      odd: await mirrorCluster(store, { name: 'odd', types: [type(['a.io/v1'], 'a.io', 'cs')] }),
    }
    // Without the poll that stands in for a lost notification.
    const onChange = (listener: () => void) => onCatalogChange(store, listener, 3600)
    cache = await cacheCatalog({ load: () => loadCatalog(store), onChange }, log)
  })

  afterAll(async () => {
    await cache.close()
    await database.drop()
  })

  const among = (...names: string[]) => names.map((name) => ({ id: ids[name]! }))

  test.each([
    ['in a version that only one serves', 'networking.k8s.io', 'v1', 'ingresses', 'new old!'],
    ['in an older version', 'networking.k8s.io', 'v1beta1', 'ingresses', 'new! old'],
    ['by its former group', 'extensions', 'v1beta1', 'ingresses', 'new! old'],
    ['of the core group by its other group', 'events.k8s.io', 'v1', 'events', 'new'],
  ])('%s', (...[, group, version, resource, expected]) => {
    const { found } = cache.resolve({ group, version, resource }, among('new', 'old', 'odd'))
    const where = found?.served.map(({ cluster, servesVersion }) =>
      servesVersion ? cluster.name : `${cluster.name}!`,
    )
    expect(where?.join(' ')).toBe(expected)
    expect(found?.group).toBe(resource === 'events' ? '' : 'networking.k8s.io')
  })

  test.each([
    ['a group that nobody serves', 'nope.io', 'v1', 'things', 'group-unknown'],
    ['a group that only others serve', 'a.io', 'v1', 'cs', 'group-unknown'],
    ['a version that nobody serves', 'networking.k8s.io', 'v9', 'ingresses', 'resource-unknown'],
    [
      'a resource that nobody serves',
      'networking.k8s.io',
      'v1',
      'networkpolicies',
      'resource-unknown',
    ],
    ['a version of the core group', '', 'v2', 'pods', 'resource-unknown'],
  ])('not %s', (...[, group, version, resource, because]) => {
    const resolution = cache.resolve({ group, version, resource }, among('new', 'old'))
    expect(resolution).toEqual({ found: undefined, because })
  })

  test('not in a version that the one member asked does not serve', () => {
    const wanted = { group: 'networking.k8s.io', version: 'v1beta1', resource: 'ingresses' }
    expect(cache.resolve(wanted, among('new')).found).toBe(undefined)
  })

  test('not in a cluster that is gone, milliseconds after it went', async () => {
    const wanted = { group: 'a.io', version: 'v1', resource: 'cs' }
    expect(cache.resolve(wanted, among('odd')).found?.resource).toBe('cs')
    const { registrationUid } = cache.current().clusters.find(({ name }) => name === 'odd')!
    await removeCluster(database.store, registrationUid)
    await until(() => cache.resolve(wanted, among('odd')).found === undefined)
  })
})

describe('keeping the catalog fresh', () => {
  const numbered = (id: number): Catalog => ({
    clusters: [],
    columnSets: new Map(),
    types: new Map([[id, { group: '', resource: 'pods' }]]),
  })

  test('a change that comes during a loading is loaded after it', async () => {
    let stored = 1
    let changed: () => void = () => undefined
    const cache = await cacheCatalog(
      {
        load: async () => {
          const seen = stored
          await new Promise((resolve) => setTimeout(resolve, 10))
          return numbered(seen)
        },
        onChange: async (listener) => {
          changed = listener
          return async () => undefined
        },
      },
      log,
    )
    const newest = () => [...cache.current().types.keys()][0]
    expect(newest()).toBe(1)
    for (const id of [2, 3, 4]) {
      stored = id
      changed()
      await new Promise((resolve) => setTimeout(resolve, 4))
    }
    await until(() => newest() === 4)
    await cache.close()
  })

  test('the last one is used while the database does not answer, and then the next', async () => {
    const answers = [numbered(1), new Error('down'), numbered(2)]
    let changed: () => void = () => undefined
    const cache = await cacheCatalog(
      {
        load: async () => {
          const answer = answers.shift()
          if (!answer || answer instanceof Error) throw answer
          return answer
        },
        onChange: async (listener) => {
          changed = listener
          return async () => undefined
        },
      },
      log,
    )
    const first = cache.current()
    changed()
    await until(() => answers.length === 1)
    expect(cache.current()).toBe(first)
    changed()
    await until(() => cache.current() !== first)
    expect([...cache.current().types.keys()]).toEqual([2])
    await cache.close()
  })
})
