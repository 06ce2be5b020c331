import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type DemoFleet, startDemoFleet } from '../../src/demo/fleet.ts'
import { DEMO_MEMBERS } from '../../src/demo/members.ts'
import type { PediaClusterSpec } from '../../src/kube/pedia-cluster.ts'
import { createLogger } from '../../src/log.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { until } from '../support/until.ts'

const clock = new ManualClock()
const log = createLogger('silent')
let fleet: DemoFleet
beforeAll(async () => {
  fleet = await startDemoFleet({ clock, log })
})
afterAll(async () => await fleet.stop())

const server = (name: string) =>
  fleet.servers[fleet.members.findIndex((member) => member.name === name)]!
const text = (base64: string) => Buffer.from(base64, 'base64').toString()

interface Way {
  readonly url: string
  readonly dispatcher: Agent
  readonly headers: Record<string, string>
}

/** Reads a manifest's credentials as a stranger would. */
function wayOf(spec: PediaClusterSpec): Way {
  if (spec.kubeconfig === undefined) {
    const { apiserver = '', caData = '', certData, keyData, tokenData } = spec
    return {
      url: apiserver,
      dispatcher: new Agent({
        connect: {
          ca: text(caData),
          ...(certData && keyData && { cert: text(certData), key: text(keyData) }),
        },
      }),
      headers: tokenData ? { authorization: `Bearer ${text(tokenData)}` } : {},
    }
  }
  const config = parse(text(spec.kubeconfig))
  const { cluster } = config.clusters[0]
  const { user } = config.users[0]
  return wayOf({
    apiserver: cluster.server,
    caData: cluster['certificate-authority-data'],
    ...(user.token && { tokenData: Buffer.from(user.token).toString('base64') }),
    ...(user['client-key-data'] && {
      certData: user['client-certificate-data'],
      keyData: user['client-key-data'],
    }),
  })
}

const clusters = () => fleet.manifests.filter(({ kind }) => kind === 'PediaCluster')
const specOf = (name: string) =>
  clusters().find(({ metadata }) => metadata?.name === name)!.spec as PediaClusterSpec
const NAMES = ['dot-01', 'dot-02', 'dot-03', 'dot-04']

const getJson = async (name: string, path: string) => {
  const { url, dispatcher, headers } = wayOf(specOf(name))
  try {
    const { statusCode, body } = await request(url + path, { dispatcher, headers })
    expect(statusCode).toBe(200)
    return JSON.parse(await body.text())
  } finally {
    await dispatcher.destroy()
  }
}
const namesOf = (list: { items: ReadonlyArray<{ metadata: { name: string } }> }) =>
  list.items.map(({ metadata }) => metadata.name)

describe('the manifests', () => {
  test('are one shared list and the clusters that name it, in the order to apply them', () => {
    expect(fleet.manifests.map(({ kind, metadata }) => `${kind}/${metadata?.name}`)).toEqual([
      'ClusterSyncResources/workloads',
      ...NAMES.map((name) => `PediaCluster/${name}`),
    ])
    for (const { spec } of clusters()) {
      expect((spec as PediaClusterSpec).syncResourcesRefName).toBe('workloads')
    }
  })

  test('use every form of credentials', () => {
    const forms = NAMES.map((name) => Object.keys(specOf(name)).slice(0, 4))
    expect(forms.map((form) => form[0])).toEqual([
      'kubeconfig',
      'apiserver',
      'apiserver',
      'kubeconfig',
    ])
    expect(specOf('dot-02').tokenData).toBeDefined()
    expect(specOf('dot-03').certData).toBeDefined()
  })

  test.each(NAMES)('let one in to %s', async (name) => {
    expect((await getJson(name, '/api/v1/namespaces')).kind).toBe('NamespaceList')
  })

  test.each(NAMES)('of %s name only types that it serves', (name) => {
    const served = server(name).resources.all()
    for (const { group, resources } of specOf(name).syncResources ?? []) {
      for (const resource of resources) {
        const matches = served.some(
          (one) => one.group === group && (resource === '*' || one.resource === resource),
        )
        expect(matches, `${resource}.${group}`).toBe(true)
      }
    }
  })
})

describe('what the walk-through asks', () => {
  test.each(NAMES)('silly-demo runs 2/2 in a-team of %s', async (name) => {
    const list = await getJson(name, '/apis/apps/v1/namespaces/a-team/deployments')
    const demo = list.items.find(
      ({ metadata }: { metadata: { name: string } }) => metadata.name === 'silly-demo',
    )
    expect(demo.status).toMatchObject({
      readyReplicas: 2,
      updatedReplicas: 2,
      availableReplicas: 2,
    })
    expect(clock.now() - Date.parse(demo.metadata.creationTimestamp)).toBe(23 * 60_000)
  })

  test.each(NAMES)('pods that do not run are in a-team of %s', async (name) => {
    const list = await getJson(
      name,
      '/api/v1/namespaces/a-team/pods?fieldSelector=status.phase!%3DRunning',
    )
    expect(list.items.length).toBeGreaterThan(0)
  })

  test('names that contain `something` are in several clusters', async () => {
    const found = await Promise.all(
      NAMES.map(async (name) =>
        namesOf(await getJson(name, '/apis/apps/v1/namespaces/a-team/deployments')),
      ),
    )
    const having = found.filter((names) => names.some((name) => name.includes('something')))
    expect(having.length).toBeGreaterThan(1)
    expect(having.length).toBeLessThan(NAMES.length)
  })

  test('deployments were created before 2024 as well as since', async () => {
    const times = await Promise.all(
      NAMES.map(async (name) => {
        const list = await getJson(name, '/apis/apps/v1/deployments')
        return list.items.map(
          ({ metadata }: { metadata: { creationTimestamp: string } }) => metadata.creationTimestamp,
        )
      }),
    )
    expect(times.flat().some((time) => time < '2024-01-01')).toBe(true)
    expect(times.flat().some((time) => time >= '2024-01-01')).toBe(true)
  })

  test.each(NAMES)('events of %s name what they are about by uid and version', async (name) => {
    const path = '/api/v1/namespaces/shop'
    const { metadata } = await getJson(name, `${path}/pods/crashloop`)
    const selector = `involvedObject.name=crashloop,involvedObject.uid=${metadata.uid}`
    const query = `fieldSelector=${encodeURIComponent(selector)}`
    const { items } = await getJson(name, `${path}/events?${query}`)
    expect(items.map(({ reason }: { reason: string }) => reason)).toEqual(['BackOff'])
    expect(items[0].involvedObject.apiVersion).toBe('v1')
  })

  test('claims are in a-team of one cluster', async () => {
    const path = '/apis/devopstoolkitseries.com/v1alpha1/namespaces/a-team/sqlclaims'
    expect(namesOf(await getJson('dot-01', path))).toEqual(['my-db-01', 'my-db-02'])
    expect(namesOf(await getJson('dot-03', path))).toEqual([])
  })
})

describe('what differs between clusters', () => {
  const imageOf = async (name: string) =>
    (await getJson(name, '/apis/apps/v1/namespaces/a-team/deployments/silly-demo')).spec.template
      .spec.containers[0].image

  test('releases, image tags, definitions, a broken node', async () => {
    const versions = await Promise.all(
      NAMES.map(async (name) => (await getJson(name, '/version')).gitVersion),
    )
    expect(new Set(versions).size).toBe(4)
    expect(new Set(await Promise.all(NAMES.map(imageOf))).size).toBe(3)
    const definition =
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/sqlclaims.devopstoolkitseries.com'
    const [here, there] = await Promise.all([
      getJson('dot-01', definition),
      getJson('dot-03', definition),
    ])
    expect(there.spec.versions.length).toBeGreaterThan(here.spec.versions.length)
    const nodes = await getJson('dot-04', '/api/v1/nodes')
    const notReady = nodes.items.filter(
      ({ status }: { status: { conditions: ReadonlyArray<{ type: string; status: string }> } }) =>
        status.conditions.some(({ type, status }) => type === 'Ready' && status !== 'True'),
    )
    expect(notReady).toHaveLength(1)
  })

  test('uids, in no two clusters the same', () => {
    const uids = fleet.servers.flatMap((one) =>
      one.resources
        .all()
        .filter(({ version, verbs }) => version === 'v1' && verbs.includes('list'))
        .filter(({ group }) => group !== 'events.k8s.io')
        .flatMap((type) => one.list(type).map(({ uid }) => uid)),
    )
    expect(uids.length).toBeGreaterThan(500)
    expect(new Set(uids).size).toBe(uids.length)
  })

  test('pods run on nodes that the cluster has', async () => {
    for (const name of NAMES) {
      const nodes = new Set(namesOf(await getJson(name, '/api/v1/nodes')))
      const pods = await getJson(name, '/api/v1/namespaces/a-team/pods')
      for (const { spec } of pods.items) expect(nodes).toContain(spec.nodeName)
    }
  })

  test.each(DEMO_MEMBERS)(
    'no object of $name is from the future or older than its cluster',
    (member) => {
      const one = server(member.name)
      const birth = clock.now() - member.ageDays * 86_400_000
      for (const type of one.resources.all().filter(({ verbs }) => verbs.includes('list'))) {
        for (const { text, name } of one.list(type)) {
          const { creationTimestamp } = JSON.parse(text.toString()).metadata
          expect(Date.parse(creationTimestamp), name).toBeLessThanOrEqual(clock.now())
          // What was recorded within a minute stays as far apart.
          expect(Date.parse(creationTimestamp), name).toBeGreaterThanOrEqual(birth - 60_000)
        }
      }
    },
  )
})

describe('as time passes', () => {
  test('the life script goes on, and a watch sees it', async () => {
    const one = server('dot-02')
    const before = one.resourceVersion
    await clock.advance(6000)
    await until(() => one.resourceVersion !== before)
    const checkout = await getJson('dot-02', '/apis/apps/v1/namespaces/a-team/deployments/checkout')
    expect(checkout.status.updatedReplicas).toBe(1)
    await clock.advance(60_000)
    const claims = '/apis/devopstoolkitseries.com/v1alpha1/namespaces/a-team/sqlclaims/my-db-01'
    expect((await getJson('dot-01', claims)).metadata.name).toBe('my-db-01')
  })

  test('the same seed and time make the same fleet', async () => {
    const at = Date.parse('2026-12-01T12:00:00Z')
    const again = await startDemoFleet({ clock: new ManualClock(at), log })
    const other = await startDemoFleet({ clock: new ManualClock(at), log, seed: 'other' })
    const pods = (one: DemoFleet) =>
      one.servers.map((each) =>
        each.list({ group: '', resource: 'pods' }).map(({ name, uid }) => `${name} ${uid}`),
      )
    const third = await startDemoFleet({ clock: new ManualClock(at), log })
    expect(pods(again)).toEqual(pods(third))
    expect(pods(again)).not.toEqual(pods(other))
    await Promise.all([again, other, third].map(async (one) => await one.stop()))
  })

  test('stopping ends everything', async () => {
    const one = await startDemoFleet({ clock: new ManualClock(), log })
    const { url } = one.members[0]!
    await one.stop()
    await expect(request(url)).rejects.toThrow(/ECONNREFUSED/)
  })
})

test('a member forgets what is long past, so that a demo may run for days', () => {
  const { history } = server('dot-04')
  const before = history.floor
  const of = { group: '', resource: 'configmaps' }
  for (let i = 0; i < 6_000; i++) {
    const metadata = { name: 'counter', namespace: 'default' }
    server('dot-04').put(of, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { i: `${i}` } })
  }
  expect(history.floor).toBeGreaterThan(before)
  expect(history.revision - history.floor).toBeLessThanOrEqual(5_000n)
})
