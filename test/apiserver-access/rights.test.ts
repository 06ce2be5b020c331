/**
 * What readers of one cluster, and of one namespace of two clusters, are shown, everywhere: exactly
 * their rows, and 403 in Kubernetes' words for the rest.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AccessRule } from '../../src/kube/fleet-access.ts'
import { recordClusterState } from '../../src/store/clusters.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type Answer, type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, metadata } from '../support/objects.ts'

const PODS = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }
const NODES = { ...PODS, resource: 'nodes', kind: 'Node', namespaced: false }
const SECRETS = { ...PODS, resource: 'secrets', kind: 'Secret' }
const APPS = { ...PODS, group: 'apps', resource: 'deployments', kind: 'Deployment' }
const WIDGETS = { ...PODS, group: 'shop.example.com', resource: 'widgets', kind: 'Widget' }
const CLUSTERS = ['dot-01', 'dot-02', 'dot-03']
const NAMESPACES = ['a-team', 'shop']
const FLEET = '/apis/fleet.fleetglass.io/v1alpha1'
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1'

let database: TestDatabase
let fleet: FleetServer
const readers = new Map<string, Reader>()

/** `dot-01/a-team/pod`: every object says where it is by its name. */
const nameOf = (cluster: string, namespace: string) => `x-${cluster}-${namespace}`

async function fill(name: string): Promise<void> {
  const cluster = await FilledCluster.create(database.store, name)
  const objects = NAMESPACES.map((namespace) => ({
    metadata: metadata(nameOf(name, namespace), {
      ...{ namespace, labels: { app: 'x' } },
      annotations: { note: name },
    }),
    status: { phase: 'Running' },
  }))
  for (const type of [PODS, SECRETS, APPS]) await cluster.fill(type, objects)
  await cluster.fill(NODES, [{ metadata: metadata(`node-${name}`) }])
  if (name === 'dot-03') await cluster.fill(WIDGETS, objects)
  await recordClusterState(database.store, cluster.lease, {
    version: JSON.stringify({ gitVersion: 'v1.33.1' }),
    ...{ staleReason: null, staleSince: null },
  })
}

const RULES: Readonly<Record<string, readonly AccessRule[]>> = {
  'one cluster': [{ clusters: ['dot-01'], namespaces: ['*'], apiGroups: ['*'], resources: ['*'] }],
  'one namespace of two clusters': [
    {
      ...{ clusters: ['dot-01', 'dot-02'], namespaces: ['a-team'] },
      apiGroups: ['', 'apps', 'shop.example.com', 'fleet.fleetglass.io'],
      resources: ['*'],
    },
  ],
}

interface Expected {
  readonly clusters: readonly string[]
  /** Of namespaced objects. */
  readonly rows: readonly string[]
  readonly nodes: readonly string[]
}

const EXPECTED: Readonly<Record<string, Expected>> = {
  'one cluster': {
    clusters: ['dot-01'],
    rows: [nameOf('dot-01', 'a-team'), nameOf('dot-01', 'shop')],
    nodes: ['node-dot-01'],
  },
  'one namespace of two clusters': {
    clusters: ['dot-01', 'dot-02'],
    rows: [nameOf('dot-01', 'a-team'), nameOf('dot-02', 'a-team')],
    nodes: [],
  },
}

beforeAll(async () => {
  database = await testDatabase()
  for (const name of CLUSTERS) await fill(name)
  const everything = { wants: () => true, namespaces: undefined }
  fleet = await fleetServer(database.store, { wishes: async () => () => everything })
  for (const [who, rules] of Object.entries(RULES)) readers.set(who, await fleet.viewer(rules))
})

afterAll(async () => {
  await fleet.close()
  await database.drop()
})

interface Named {
  readonly metadata: { readonly name: string }
}

function names({ json, status }: Answer): readonly string[] {
  expect(status).toBe(200)
  return json.items.map((item: Named) => item.metadata.name).toSorted()
}

function tableNames({ json }: Answer): readonly string[] {
  return json.rows.map((row: { object: Named }) => row.object.metadata.name).toSorted()
}

/** Names of clusters that a text speaks of. */
function clustersIn(text: string): readonly string[] {
  return CLUSTERS.filter((name) => text.includes(name))
}

const S = 'search.clusterpedia.io'
/** Conditions that hold for all pods: they narrow nothing, and must widen nothing. */
const SEARCHES: readonly string[] = [
  '',
  'limit=1000',
  'labelSelector=app=x',
  'labelSelector=app notin (y)',
  'labelSelector=!nope',
  'fieldSelector=status.phase=Running',
  'fieldSelector=status.phase!=Failed',
  'fieldSelector=metadata.annotations["nope"]!=x',
  'clusters=dot-01,dot-02,dot-03',
  `labelSelector=${S}/clusters notin (nope)`,
  'namespaces=a-team,shop',
  'fuzzyName=x-',
  'since=2000-01-01',
  'before=2100-01-01',
  'orderby=namespace desc,cluster',
  'orderby=metadata.annotations["note"]',
  'continue=0',
  'onlyMetadata=true',
  'withRemainingCount=true',
]

describe.each(Object.keys(RULES))('a reader of %s', (who) => {
  const expected = EXPECTED[who]!
  const reader = () => readers.get(who)!

  test.each(SEARCHES)('is listed theirs, whatever is asked: %s', async (query) => {
    for (const path of ['/api/v1/pods', '/api/v1/secrets', '/apis/apps/v1/deployments']) {
      const url = `${path}?${encodeURI(query)}`
      const answer = await reader().ask(url)
      expect(names(answer)).toEqual(expected.rows)
      if (query.includes('Remaining')) expect(answer.json.metadata.remainingItemCount ?? 0).toBe(0)
      expect(tableNames(await reader().ask(url, { accept: TABLE }))).toEqual(expected.rows)
    }
  })

  test('goes through pages of theirs alone', async () => {
    const seen: string[] = []
    for (let token = ''; ; ) {
      const page = await reader().ask(`/api/v1/pods?limit=1&withRemainingCount=true${token}`)
      seen.push(...names(page))
      expect(seen.length + (page.json.metadata.remainingItemCount ?? 0)).toBe(expected.rows.length)
      if (!page.json.metadata.continue) break
      token = `&continue=${page.json.metadata.continue}`
    }
    expect(seen.toSorted()).toEqual(expected.rows)
  })

  test('is counted theirs', async () => {
    for (const key of ['cluster', 'namespace', 'status.phase', 'metadata.name']) {
      const { json } = await reader().ask(`/api/v1/pods/counts?groupBy=${key}`)
      const total = json.items.reduce((sum: number, { count }: { count: number }) => sum + count, 0)
      expect(total).toBe(expected.rows.length)
    }
  })

  test('gets by name what is theirs, and 404 for the rest, as if it were nowhere', async () => {
    for (const cluster of CLUSTERS) {
      for (const namespace of NAMESPACES) {
        const name = nameOf(cluster, namespace)
        const { status } = await reader().ask(`/api/v1/namespaces/${namespace}/pods/${name}`)
        const isTheirs = expected.rows.includes(name)
        const mayAskThere = who === 'one cluster' || namespace === 'a-team'
        expect([name, status]).toEqual([name, isTheirs ? 200 : mayAskThere ? 404 : 403])
      }
    }
  })

  test('is listed the nodes that are theirs, or none', async () => {
    const { status, json } = await reader().ask('/api/v1/nodes')
    const found = status === 200 ? json.items.map((item: Named) => item.metadata.name) : []
    expect(found).toEqual(expected.nodes)
    expect(status).toBe(expected.nodes.length > 0 ? 200 : 403)
  })

  test.each(['any?resources=/pods,apps/deployments,/nodes', 'workloads', 'kuberesources'])(
    'is shown theirs in collections: %s',
    async (collection) => {
      const path = `/apis/clusterpedia.io/v1beta1/collectionresources/${collection}`
      const { json, text } = await reader().askRoot(path)
      const found = new Set<string>(json.items.map((item: Named) => item.metadata.name))
      expect([...found].filter((name) => name.startsWith('x-')).toSorted()).toEqual(expected.rows)
      expect(clustersIn(text)).toEqual(expected.clusters)
    },
  )

  test('discovers the types of their clusters alone', async () => {
    const { json } = await reader().ask('/apis')
    const groups = json.groups.map(({ name }: { name: string }) => name)
    expect(groups).toEqual(['apps'])
    const { json: core } = await reader().ask('/api/v1')
    const resources = core.resources.map(({ name }: { name: string }) => name)
    expect(resources.includes('nodes')).toBe(expected.nodes.length > 0)
    expect(resources).toContain('pods')
    for (const cluster of CLUSTERS) {
      for (const path of ['/api', '/apis', '/api/v1', '/openapi/v3', '/openapi/v2', '/version']) {
        const { status } = await reader().askMember(cluster, path)
        const isTheirs = expected.clusters.includes(cluster)
        expect([cluster, path, status]).toEqual([cluster, path, isTheirs ? 200 : 403])
      }
    }
  })

  test('reads of no type of others in OpenAPI', async () => {
    for (const path of ['/openapi/v3', '/openapi/v2']) {
      const { status, text } = await reader().ask(path)
      expect(status).toBe(200)
      expect(text).not.toMatch(/widget|shop\.example/i)
    }
  })

  test('is told of their clusters in fleet.fleetglass.io', async () => {
    if (who === 'one cluster') {
      expect((await reader().askRoot(`${FLEET}/clusterhealths`)).status).toBe(200)
    }
    for (const resource of ['clusterhealths', 'findings', 'versiondrifts', 'imagedrifts']) {
      const { text, warnings } = await reader().askRoot(`${FLEET}/${resource}`)
      const spokenOf = clustersIn(text + warnings.join())
      expect(spokenOf.filter((name) => !expected.clusters.includes(name))).toEqual([])
    }
    const { json } = await reader().askRoot(`${FLEET}/clusterhealths`)
    expect(json.items.map((item: Named) => item.metadata.name).toSorted()).toEqual(
      expected.clusters,
    )
  })

  test('is offered kubeconfig entries of their clusters', async () => {
    const { json } = await reader().ask('/kubeconfig')
    const entries = json.clusters.map(({ name }: { name: string }) => name)
    expect(entries).toEqual(['clusterpedia', ...expected.clusters])
  })

  test('is refused what is not theirs, in Kubernetes’ words', async () => {
    const user = (await whoAmI(reader())).username
    const { status, json } = await reader().askMember('dot-03', '/api/v1/namespaces/shop/pods')
    expect(status).toBe(403)
    expect(json).toEqual({
      ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 403 },
      message: `pods is forbidden: User "${user}" cannot list resource "pods" in API group "" in the namespace "shop" of cluster "dot-03"`,
      ...{ reason: 'Forbidden', details: { kind: 'pods' } },
    })
    const nowhere = await reader().askMember('dot-99', '/api/v1/namespaces/shop/pods')
    expect(nowhere.json.message).toBe(json.message.replace('dot-03', 'dot-99'))
    const named = await reader().ask('/api/v1/pods?clusters=dot-03')
    expect([named.status, named.json.reason]).toEqual([403, 'Forbidden'])
  })

  test('is told by “may I” what a list would do', async () => {
    const canList = async (cluster: string, namespace: string) => {
      const payload = JSON.stringify({
        spec: { resourceAttributes: { verb: 'list', resource: 'pods', namespace } },
      })
      const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
      const asking = { method: 'POST', payload } as const
      const { json, status } = await reader().askMember(cluster, path, asking)
      return status === 201 && json.status.allowed
    }
    for (const cluster of CLUSTERS) {
      for (const namespace of NAMESPACES) {
        const path = `/api/v1/namespaces/${namespace}/pods`
        const { status } = await reader().askMember(cluster, path)
        expect([cluster, namespace, await canList(cluster, namespace)]).toEqual([
          ...[cluster, namespace],
          status === 200,
        ])
      }
    }
  })
})

async function whoAmI(reader: Reader) {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const { json } = await reader.askRoot(path, { method: 'POST', payload: '{}' })
  return json.status.userInfo
}
