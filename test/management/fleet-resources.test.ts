/**
 * `fleet.fleetglass.io`, and `fleetglass fleet` and `drift` by a kubeconfig, where registrations are
 * a management cluster's: through its aggregator, and past it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SWEPT, SWEPT_RESOURCES, type SweptResource } from '../../src/fleet/swept-resources.ts'
import { FLEET_PREFIX } from '../../src/kube/fleet-prefix.ts'
import { parseApiVersion } from '../../src/kube/group-resource.ts'
import type { RequestAttributes } from '../../src/kube/request-attributes.ts'
import { recordClusterState } from '../../src/store/clusters.ts'
import { crdOf } from '../drift/seen.ts'
import { allKubectls, KubectlRunner } from '../support/kubectl.ts'
import {
  type AggregatedFleet,
  aggregatedFleet,
  type Serving,
} from '../support/management/aggregated-server.ts'
import { apiserverInUse } from '../support/management/management-cluster.ts'
import type { UserInfo } from '../support/management/reviews.ts'
import { FilledCluster, metadata } from '../support/objects.ts'
import { runHere } from '../support/run-here.ts'
import { until } from '../support/until.ts'

const KUBECTL = allKubectls().at(-1)
const ROOT = '/apis/fleet.fleetglass.io/v1alpha1'
const USERS: Readonly<Record<string, UserInfo>> = {
  admin: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
  jane: { username: 'jane', groups: ['on-call', 'system:authenticated'] },
  joe: { username: 'joe', groups: ['drifters', 'system:authenticated'] },
  ned: { username: 'ned', groups: ['on-call-soon', 'system:authenticated'] },
  ann: { username: 'ann', groups: ['developers', 'system:authenticated'] },
}

interface Told {
  readonly metadata: { readonly name: string }
  readonly status: Readonly<Record<string, unknown>>
}

/** The ClusterRoles of deploy/: who reads the mirror, and who asks what of the fleet's own group. */
function allows({ groups = [] }: UserInfo, attributes: RequestAttributes): boolean {
  if (!['get', 'list'].includes(attributes.verb)) return false
  if ('path' in attributes) return true
  const { group, resource } = attributes
  if (group === 'clusterpedia.io') return groups.includes('developers')
  if (group !== 'fleet.fleetglass.io') return false
  return (
    groups.some((one) => one.startsWith('on-call')) ||
    (groups.includes('drifters') && resource.endsWith('drifts'))
  )
}

function pod(name: string, image: string, crashes = false) {
  const state = crashes ? { waiting: { reason: 'CrashLoopBackOff' } } : { running: {} }
  return {
    metadata: metadata(name, { namespace: 'shop' }),
    spec: { containers: [{ name: 'main', image }] },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: crashes ? 'False' : 'True' }],
      containerStatuses: [{ name: 'main', ready: !crashes, restartCount: 0, state }],
    },
  }
}

const CRDS = {
  ...{ group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
  ...{ kind: 'CustomResourceDefinition', namespaced: false },
}

const typeOf = (resource: SweptResource) => {
  const { apiVersions, namespaced } = SWEPT[resource]
  return { ...parseApiVersion(apiVersions[0]!), resource, kind: `Kind${resource}`, namespaced }
}

describe.skipIf(apiserverInUse() === 'real' || !KUBECTL)('in a management cluster', () => {
  const started = new AsyncDisposableStack()
  const users = new Map(Object.entries(USERS).map(([token, user]) => [`of-${token}`, user]))
  let managed: AggregatedFleet
  let fleet: Serving

  beforeAll(async () => {
    managed = await aggregatedFleet({ users, allows }, started)
    const cluster = async (name: string, version: string, pods: readonly object[]) => {
      const { store } = managed.database
      const filled = await FilledCluster.create(store, name)
      const document = JSON.stringify({ gitVersion: version })
      await recordClusterState(store, filled.lease, { version: document, staleReason: null })
      const crds =
        name === 'east' ? [{ ...crdOf({ name: 'x.io' }), metadata: metadata('x.io') }] : []
      await filled.fill(CRDS, crds)
      for (const resource of SWEPT_RESOURCES) {
        await filled.fill(typeOf(resource), resource === 'pods' ? (pods as never) : [])
      }
    }
    await cluster('east', 'v1.30.5', [pod('web', 'app:1', true)])
    await cluster('west', 'v1.31.1', [pod('web', 'app:2')])
    await cluster('far', 'v1.9.0', [pod('web', 'app:3')])
    managed.announceProxy()
    fleet = await managed.serve()
    const all = { namespaces: ['*'], resources: ['*'] }
    const ofFleet = { clusters: ['east', 'west'], apiGroups: ['fleet.fleetglass.io'], ...all }
    await managed.grant('on-call', {
      subjects: ['on-call', 'drifters'].map((name) => ({ kind: 'Group', name })),
      rules: [ofFleet],
    })
    await managed.grant('developers', {
      subjects: [{ kind: 'Group', name: 'developers' }],
      rules: [{ ...ofFleet, apiGroups: ['*'] }],
    })
    const admin = through('admin')
    await until(async () => (await admin.paste(`kubectl get --raw ${ROOT}`)).exitCode === 0)
  }, 60_000)
  afterAll(() => started.disposeAsync())

  const through = (user: string) =>
    new KubectlRunner(KUBECTL!, managed.kubeconfig(`of-${user}`, fleet.proxy.url))

  async function must(runner: KubectlRunner, line: string): Promise<string> {
    const { exitCode, stdout, stderr } = await runner.paste(line)
    expect(`${exitCode} ${stderr}`).toBe('0 ')
    return stdout
  }

  test('its five resources are found, and none of registrations', async () => {
    const raw = await must(through('admin'), `kubectl get --raw ${ROOT}`)
    expect(JSON.parse(raw).resources.map(({ name }: { name: string }) => name)).toEqual([
      ...['clusterhealths', 'crddrifts', 'findings', 'imagedrifts', 'versiondrifts'],
    ])
  })

  // What kube-apiserver merges into /apis of its own, the stand-in does not: so paths are named.
  const get = (user: string, what: string) =>
    through(user).paste(`kubectl get --raw ${ROOT}/${what}`)

  test.each([
    ['clusterhealths', ['east fail', 'west pass'], 'verdict'],
    ['findings', ['east CrashLoopBackOff'], 'issue'],
    ['versiondrifts', ['east v1.30.5', 'west v1.31.1'], 'version'],
    ['imagedrifts', ['docker.io~library~app 1, 2'], 'tags'],
    ['crddrifts', ['x.io missing'], 'class'],
  ])(
    'a reader is told of their clusters, through the aggregator: %s',
    async (what, expected, field) => {
      const { items } = JSON.parse(await must(through('jane'), `kubectl get --raw ${ROOT}/${what}`))
      const told = items.map(({ metadata: { name }, status }: Told) => [
        ...[status.cluster ?? name, status[field]],
      ])
      expect(told.map((one: string[]) => one.join(' '))).toEqual(expected)
    },
  )

  test('one by its name', async () => {
    const { stdout } = await get('jane', 'clusterhealths/east')
    expect(JSON.parse(stdout)).toMatchObject({
      metadata: { name: 'east' },
      status: { critical: 1 },
    })
    expect((await get('jane', 'clusterhealths/far')).stderr).toContain('NotFound')
  })

  test('who may compare only may not ask what is broken: the aggregator’s RBAC says so', async () => {
    expect((await get('joe', 'imagedrifts')).stdout).toContain('ImageDriftList')
    const { stderr } = await get('joe', 'clusterhealths')
    expect(stderr).toContain('User "joe" cannot list resource "clusterhealths"')
  })

  test('whom no FleetAccess speaks of is refused by us', async () => {
    expect((await get('ned', 'clusterhealths')).stderr).toContain(
      'clusterhealths.fleet.fleetglass.io is forbidden: User "ned" cannot list',
    )
  })

  test('past the aggregator, a token of the management cluster counts as well', async () => {
    const { url } = fleet
    const path = managed.kubeconfig('of-jane', url, { ca: managed.serverCa.cert })
    const jane = new KubectlRunner(KUBECTL!, path)
    const { stdout } = await jane.paste(`kubectl get --raw ${ROOT}/clusterhealths`)
    const names = JSON.parse(stdout).items.map(
      ({ metadata: { name } }: { metadata: { name: string } }) => name,
    )
    expect(names).toEqual(['east', 'west'])
    const objects = await jane.paste(`kubectl get --raw ${FLEET_PREFIX}/api/v1/pods`)
    expect(objects.stderr).toContain('User "jane" cannot list')
  })

  describe.each([
    ['through the aggregator', () => managed.kubeconfig('of-ann', fleet.proxy.url)],
    [
      'by a kubeconfig of the fleet',
      () => managed.kubeconfig('of-ann', fleet.proxy.url + FLEET_PREFIX),
    ],
    [
      'past the aggregator',
      () => managed.kubeconfig('of-ann', fleet.url, { ca: managed.serverCa.cert }),
    ],
  ])('the commands, %s', (_, kubeconfig) => {
    const from = () => ['--kubeconfig', kubeconfig()]

    test('fleet judges the clusters of the reader', async () => {
      const args = ['fleet', '--source', 'store', '--all-contexts', ...from()]
      const { exitCode, stdout } = await runHere(...args)
      expect(stdout).toMatch(/^FLEET {2}2 clusters, 1 failing, 0 unreachable$/m)
      expect(stdout).toMatch(/^east +fail +1 +0 +0 +CrashLoopBackOff$/m)
      expect(exitCode).toBe(1)
    })

    test('drift compares them', async () => {
      const { exitCode, stdout } = await runHere('drift', 'images', '--exit-code', ...from())
      expect(stdout).toMatch(/^IMAGES {2}2 clusters compared: 1 image of 1 differs$/m)
      expect(exitCode).toBe(1)
    })
  })
})
