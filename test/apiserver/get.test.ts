/** A get by name: one cluster has it, several have it, none; and who may see what. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'

const DEPLOYMENTS: MemberType = {
  ...{
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    kind: 'Deployment',
    namespaced: true,
  },
}
const ROLES: MemberType = {
  ...{ group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' },
  ...{ kind: 'ClusterRole', namespaced: false },
}
const SHOP = '/apis/apps/v1/namespaces/shop/deployments'
const ROLE_PATH = '/apis/rbac.authorization.k8s.io/v1/clusterroles'

let database: TestDatabase
let fleet: FleetServer
let admin: Reader
let viewer: Reader
/** May see all that is asked for by {@link READERS}, and nothing else. */
let shopper: Reader

const READERS = ['administrator', 'viewer'] as const
const readerOf = (who: (typeof READERS)[number]) => (who === 'viewer' ? shopper : admin)

beforeAll(async () => {
  database = await testDatabase()
  for (const [index, env] of ['prod', 'prod', 'test', 'test', 'test', 'test', 'test'].entries()) {
    const cluster = await FilledCluster.create(database.store, `dot-0${index + 1}`, { env })
    const names = index === 0 ? ['web', 'only'] : ['web']
    const objects = [...names, ...(index < 2 ? ['pair'] : [])].map((name) => ({
      metadata: metadata(name, { namespace: 'shop' }),
    }))
    // Of the same names, where only the administrator sees them.
    const hidden = names.map((name) => ({ metadata: metadata(name, { namespace: 'hidden' }) }))
    await cluster.fill(DEPLOYMENTS, [...objects, ...hidden])
    if (index === 0) {
      const odd = ['system:node', '100% odd', 'a+b']
      await cluster.fill(
        ROLES,
        odd.map((name) => ({ metadata: metadata(name) })),
      )
    }
  }
  fleet = await fleetServer(database.store)
  admin = fleet.admin
  viewer = await fleet.viewer([
    { clusters: ['dot-02'], namespaces: ['shop'], apiGroups: ['apps'], resources: ['deployments'] },
  ])
  shopper = await fleet.viewer([
    { clusters: ['*'], namespaces: ['shop'], apiGroups: ['apps'], resources: ['deployments'] },
    {
      ...{ clusters: ['dot-01'], namespaces: ['*'] },
      ...{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'] },
    },
  ])
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

const clusterOf = (json: { metadata: { annotations: Record<string, string> } }) =>
  json.metadata.annotations['shadow.clusterpedia.io/cluster-name']

describe.each(READERS)('under the fleet prefix, for the %s,', (who) => {
  const reader = () => readerOf(who)

  test('one match is returned', async () => {
    const { status, json, text } = await reader().ask(`${SHOP}/only`)
    expect([status, json.kind, json.metadata.name, clusterOf(json)]).toEqual([
      ...[200, 'Deployment', 'only', 'dot-01'],
    ])
    expect(text.endsWith('}\n')).toBe(true)
  })

  test('several are a Conflict that names them and says how to choose', async () => {
    const { status, json } = await reader().ask(`${SHOP}/pair`)
    expect(status).toBe(409)
    expect(json).toEqual({
      ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 409 },
      reason: 'Conflict',
      message:
        'deployments.apps "pair" is in 2 clusters: dot-01, dot-02; choose one by its own path (kubectl --cluster dot-01) or by the query clusters=dot-01',
      details: { name: 'pair', group: 'apps', kind: 'deployments' },
    })
  })

  test('many are counted', async () => {
    const { json } = await reader().ask(`${SHOP}/web`)
    expect(json.message).toContain(
      'is in 7 clusters: dot-01, dot-02, dot-03, dot-04, dot-05 and 2 more;',
    )
  })

  test('none is NotFound', async () => {
    const { json } = await reader().ask(`${SHOP}/nope`)
    expect(json).toMatchObject({
      ...{ code: 404, reason: 'NotFound', message: 'deployments.apps "nope" not found' },
      details: { name: 'nope', group: 'apps', kind: 'deployments' },
    })
  })

  const choices: ReadonlyArray<{ readonly query: string; readonly cluster?: string }> = [
    { query: 'clusters=dot-03', cluster: 'dot-03' },
    { query: 'labelSelector=search.clusterpedia.io/clusters%3Ddot-03', cluster: 'dot-03' },
    { query: 'clusterSelector=env%3Dprod&clusters=dot-02', cluster: 'dot-02' },
    { query: 'clusters=dot-09' },
  ]
  for (const { query, cluster } of choices) {
    test(`a cluster is chosen by ${query}`, async () => {
      const { status, json } = await reader().ask(`${SHOP}/web?${query}`)
      if (cluster === undefined) return expect(status).toBe(404)
      expect(clusterOf(json)).toBe(cluster)
    })
  }

  test('other conditions do not go with a name', async () => {
    for (const query of ['labelSelector=app', 'names=web', 'orderby=name']) {
      const { json } = await reader().ask(`${SHOP}/web?${query}`)
      expect(json.message).toBe(
        'an object that is asked for by name can be narrowed down by clusters only',
      )
    }
  })
})

describe.each(READERS)('names, for the %s,', (who) => {
  const reader = () => readerOf(who)

  const spellings = [
    'system:node',
    'system%3Anode',
    'syste%6d:node',
    '100%25%20odd',
    'a+b',
    'a%2Bb',
  ]
  for (const spelling of spellings) {
    test(`are decoded once: ${spelling}`, async () => {
      const { json } = await reader().ask(`${ROLE_PATH}/${spelling}`)
      expect(json.metadata.name).toBe(decodeURIComponent(spelling))
    })
  }
  test('are not decoded twice', async () => {
    const { json } = await reader().ask(`${ROLE_PATH}/system%253Anode`)
    expect(json.message).toContain('"system%3Anode" not found')
  })
})

describe.each(READERS)('under the prefix of a member, for the %s,', (who) => {
  const reader = () => readerOf(who)

  test('a name is that of the member', async () => {
    const { json } = await reader().askMember('dot-05', `${SHOP}/web`)
    expect(clusterOf(json)).toBe('dot-05')
  })
  test('a cluster that does not exist is named', async () => {
    const { json } = await reader().askMember('dot-99', `${SHOP}/web`)
    // The viewer sees any cluster, so learns which there are.
    expect(json.message).toBe('pediaclusters.cluster.clusterpedia.io "dot-99" not found')
  })
})

test('what a viewer may not see is no second match', async () => {
  const { status, json } = await viewer.ask(`${SHOP}/web`)
  expect([status, clusterOf(json)]).toEqual([200, 'dot-02'])
  expect((await viewer.ask(`${SHOP}/only`)).status).toBe(404)
})

describe('a viewer is refused', () => {
  const paths = [
    `/apis/apps/v1/namespaces/other/deployments/web`,
    `${SHOP}/web?clusters=dot-01`,
    `${ROLE_PATH}/system:node`,
  ]
  for (const path of paths) {
    test(path, async () => {
      const { json } = await viewer.ask(path)
      expect(json).toMatchObject({ code: 403, reason: 'Forbidden' })
      expect(json.message).toContain('cannot get resource')
    })
  }
})
