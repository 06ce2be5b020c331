/** A server whose catalog is behind the database never says that something is not there. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Catalog, cacheCatalog } from '../../src/apiserver/catalog.ts'
import { untilKnown } from '../../src/apiserver/registration/until-known.ts'
import { createLogger } from '../../src/log.ts'
import { loadCatalog } from '../../src/store/catalog.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'

const PODS: MemberType = {
  ...{ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true },
}
const log = createLogger('silent')

let database: TestDatabase
let fleet: FleetServer
let viewer: Reader

beforeAll(async () => {
  database = await testDatabase()
  const { store } = database
  // No change is heard of: as if each notification came later than the request.
  const deaf = { load: () => loadCatalog(store), onChange: async () => async () => undefined }
  fleet = await fleetServer(store, { catalog: await cacheCatalog(deaf, log) })
  viewer = await fleet.viewer([
    { clusters: ['*'], namespaces: ['shop'], apiGroups: ['*'], resources: ['*'] },
  ])
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

/** Of a cluster that comes after the server's catalog. */
async function filled(name: string, type: MemberType = PODS): Promise<FilledCluster> {
  const cluster = await FilledCluster.create(database.store, name)
  await cluster.fill(type, [{ metadata: metadata(`of-${name}`, { namespace: 'shop' }) }])
  return cluster
}

describe('what was stored before the request is found', () => {
  const asked: ReadonlyArray<
    readonly [string, string, (reader: Reader) => ReturnType<Reader['ask']>]
  > = [
    ['a', 'a list of the fleet', (reader) => reader.ask('/apis/a.io/v1/things')],
    [
      'b',
      'a get in the fleet',
      (reader) => reader.ask('/apis/b.io/v1/namespaces/shop/things/of-b'),
    ],
    ['c', 'counts', (reader) => reader.ask('/apis/c.io/v1/things/counts?groupBy=cluster')],
    ['d', 'a list of a member', (reader) => reader.askMember('d', '/apis/d.io/v1/things')],
    ['e', 'discovery of a member', (reader) => reader.askMember('e', '/apis/e.io/v1')],
    ['f', 'OpenAPI of a member', (reader) => reader.askMember('f', '/openapi/v3')],
  ]
  test.each(asked)('%s: %s', async (name, _, ask) => {
    await filled(name, { ...PODS, group: `${name}.io`, resource: 'things', kind: 'Thing' })
    expect((await ask(fleet.admin)).status).toBe(200)
    expect((await ask(viewer)).status).toBe(200)
  })

  test('as a viewer who asks first', async () => {
    await filled('g', { ...PODS, group: 'g.io', resource: 'things', kind: 'Thing' })
    const { status, json } = await viewer.askMember('g', '/apis/g.io/v1/things')
    expect([status, json.items.length]).toEqual([200, 1])
  })

  test('what is not there is not there', async () => {
    expect((await fleet.admin.ask('/apis/z.io/v1/things')).status).toBe(404)
    expect((await fleet.admin.askMember('z', '/api/v1/pods')).status).toBe(404)
    expect((await viewer.ask('/api/v1/nodes')).status).toBe(404)
  })
})

describe('a PediaCluster', () => {
  const ready = (uid: string, status: 'True' | 'False', types: readonly string[] = []) => ({
    metadata: { name: 'x', uid },
    status: {
      conditions: [{ type: 'Ready', status }],
      syncResources: [
        {
          group: '',
          resources: types.map((name) => ({ name, syncConditions: [{ status: 'Syncing' }] })),
        },
      ],
    },
  })

  async function loadings(status: 'True' | 'False', types: readonly string[]): Promise<number> {
    const resources = [{ group: '', resource: 'pods' }]
    const known = { clusters: [{ registrationUid: 'u', resources }] } as unknown as Catalog
    let loaded = 0
    const refresh = async () => {
      loaded++
    }
    await untilKnown({ current: () => known, refresh }, [ready('u', status, types) as never])
    return loaded
  }

  test.each([
    {
      name: 'that is Ready, with a type not known',
      status: 'True',
      types: ['pods', 'x'],
      times: 1,
    },
    { name: 'that is Ready, with known types', status: 'True', types: ['pods'], times: 0 },
    { name: 'that is not Ready', status: 'False', types: ['x'], times: 0 },
  ] as const)('$name', async ({ status, types, times }) => {
    expect(await loadings(status, types)).toBe(times)
  })

  test('is shown Ready when all of it can be listed', async () => {
    await filled('h')
    const before = await viewer.ask('/api/v1/pods')
    const catalog = fleet.catalog
    await filled('i')
    const [{ registrationUid } = { registrationUid: '' }] = (
      await loadCatalog(database.store)
    ).clusters.filter(({ name }) => name === 'i')
    await untilKnown(catalog, [ready(registrationUid, 'True', ['pods']) as never])
    const after = await viewer.ask('/api/v1/pods')
    expect(after.json.items).toHaveLength(before.json.items.length + 1)
  })
})

test('many who ask for what is not there share the loadings, which take a part of the time', async () => {
  let loaded = 0
  const empty: Catalog = { clusters: [], columnSets: new Map(), types: new Map() }
  const source = {
    load: async () => {
      loaded++
      await new Promise((resolve) => setTimeout(resolve, 20))
      return empty
    },
    onChange: async () => async () => undefined,
  }
  const cache = await cacheCatalog(source, log)
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 50 }, () => cache.refresh()))
  }
  expect(loaded).toBeLessThan(10)
  await cache.close()
})
