/** The same objects, from the store and as they are: the same findings. And what a mirror cannot tell. */
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import { systemClock } from '../../src/clock.ts'
import { findingsIn } from '../../src/fleet/findings.ts'
import type { MirrorWishes } from '../../src/fleet/mirrored-cluster.ts'
import { isRow, type Outcome } from '../../src/fleet/outcome.ts'
import { storeSource } from '../../src/fleet/store-source.ts'
import { sweep, type UnseenOf } from '../../src/fleet/sweep.ts'
import { SWEPT, SWEPT_RESOURCES, type SweptResource } from '../../src/fleet/swept-resources.ts'
import { parseApiVersion } from '../../src/kube/group-resource.ts'
import { createLogger, type Logger } from '../../src/log.ts'
import type { Fields } from '../../src/printers/read-field.ts'
import { loadCatalog } from '../../src/store/catalog.ts'
import { setSyncStatus } from '../../src/store/cluster-resources.ts'
import { recordClusterState } from '../../src/store/clusters.ts'
import type { Store } from '../../src/store/connect.ts'
import { releaseLease } from '../../src/store/leases.ts'
import { readersOf } from '../../src/store/readers.ts'
import { ensureType } from '../../src/store/resource-types.ts'
import { testDatabase } from '../support/database.ts'
import { FilledCluster } from '../support/objects.ts'
import {
  ago,
  CRASHING,
  event,
  type Lists,
  meta,
  NOT_READY,
  NOW,
  ownedBy,
  READY,
  readyPod,
  running,
  seen,
  shortRow,
  waiting,
  webPod,
} from './cluster.ts'

let store: Store
let drop: () => Promise<void>

beforeAll(async () => {
  const database = await testDatabase()
  ;({ store, drop } = database)
})
afterAll(() => drop())

const clock: Clock = { ...systemClock, now: () => NOW }
let next = 0

async function mirrored(lists: Lists, resources: readonly SweptResource[] = SWEPT_RESOURCES) {
  const cluster = await FilledCluster.create(store, `c-${String(++next).padStart(3, '0')}`)
  for (const resource of resources) {
    const objects = (lists[resource] ?? []).map((object, i) => complete(object, i))
    await cluster.fill(typeOf(resource), objects)
  }
  return cluster
}

function typeOf(resource: SweptResource) {
  const { apiVersions, namespaced } = SWEPT[resource]
  return {
    ...parseApiVersion(apiVersions[0]!),
    resource,
    kind: resource === 'pods' ? 'Pod' : `Kind${resource}`,
    namespaced,
  }
}

/** Every stored object has these. */
function complete(object: Fields, i: number): Fields {
  const metadata = { ...(object.metadata as Fields), uid: `u-${i}`, resourceVersion: String(i + 1) }
  return { ...object, metadata }
}

interface Judging {
  readonly wishes?: Partial<MirrorWishes>
  readonly namespace?: string
  readonly now?: number
}

async function judged(
  cluster: FilledCluster,
  { wishes, namespace, now = NOW }: Judging = {},
): Promise<Outcome> {
  const source = await storeSource({
    ...{ store, clock: { ...clock, now: () => now }, maxStalenessMilliseconds: 300_000 },
    wishesOf: () => wishes && { wants: () => false, namespaces: undefined, ...wishes },
    ...(namespace !== undefined && { namespace }),
  })
  const targets = source.targets([{ context: cluster.name }])
  const [outcome] = await sweep(targets, { failOn: 'critical', workers: 8 })
  return outcome!
}

async function findings(cluster: FilledCluster): Promise<readonly string[]> {
  const source = await storeSource({
    store,
    clock,
    maxStalenessMilliseconds: 300_000,
    wishesOf: () => undefined,
  })
  const [target] = source.targets([{ context: cluster.name }])
  return listed(findingsIn(await target!.observe(new AbortController().signal)))
}

function listed(all: ReturnType<typeof findingsIn>): readonly string[] {
  return all
    .map(({ issue, kind, namespace, name }) => `${issue} ${kind} ${namespace}/${name}`)
    .sort()
}

function short(outcome: Outcome): string {
  return isRow(outcome) ? shortRow(outcome) : outcome.reason
}

test('a cluster without objects', async () => {
  expect(short(await judged(await mirrored({})))).toBe('pass 0/0/0 0 []')
})

test('a crash loop', async () => {
  expect(short(await judged(await mirrored(CRASHING)))).toBe('fail 1/0/0 0 [CrashLoopBackOff]')
})

describe('what is not mirrored is not seen', () => {
  const without = (resource: SweptResource) => SWEPT_RESOURCES.filter((one) => one !== resource)

  test('a kind that nobody asked for is a blind spot', async () => {
    const cluster = await mirrored({}, without('ingresses'))
    expect(short(await judged(cluster))).toBe('inconclusive 0/0/0 1 []')
  })

  test('a kind that was asked for and is not there is not served', async () => {
    const cluster = await mirrored({}, without('horizontalpodautoscalers'))
    expect(short(await judged(cluster, { wishes: { wants: () => true } }))).toBe('pass 0/0/0 0 []')
  })

  test('a kind that may not be read any more is a blind spot, whatever is left of it', async () => {
    const cluster = await mirrored(CRASHING)
    const typeId = await ensureType(store, { group: '', resource: 'pods' })
    await setSyncStatus(store, cluster.lease, {
      typeId,
      status: 'Error',
      reason: 'Forbidden',
      message: '',
    })
    expect(short(await judged(cluster))).toBe('inconclusive 0/0/0 1 []')
  })

  test('some namespaces are not the cluster', async () => {
    const cluster = await mirrored(CRASHING)
    const wishes = { namespaces: ['default'] }
    expect(short(await judged(cluster, { wishes }))).toMatch(/^inconclusive 1\/0\/0 /)
    const one = await judged(cluster, { wishes, namespace: 'default' })
    // The leases of nodes are in a namespace that is not mirrored.
    expect(isRow(one) && [...one.blindSpots]).toEqual(['leases'])
  })

  test('nothing was ever mirrored', async () => {
    expect(short(await judged(await mirrored({}, [])))).toBe('connecting to the cluster')
  })
})

describe('a mirror is as good as its news', () => {
  test.each([
    [299, 'pass 0/0/0 0 []'],
    [301, 'timed out'],
  ])('none for %i seconds', async (seconds, row) => {
    const cluster = await mirrored({})
    const staleSince = new Date(NOW - seconds * 1000)
    await recordClusterState(store, cluster.lease, {
      staleReason: 'connection refused',
      staleSince,
    })
    expect(short(await judged(cluster))).toBe(row)
  })

  test.each([
    [299, 'pass 0/0/0 0 []'],
    [301, 'timed out'],
  ])('none of its types for %i seconds either', async (seconds, row) => {
    const cluster = await mirrored({})
    const { clusters } = await loadCatalog(store)
    const { resources } = clusters.find(({ name }) => name === cluster.name)!
    for (const { typeId } of resources) {
      const failed = {
        status: 'Error',
        reason: 'NotReachable',
        message: 'connection refused',
      } as const
      await setSyncStatus(store, cluster.lease, { typeId, ...failed })
    }
    const staleSince = new Date(NOW - seconds * 1000)
    const gone = { staleReason: 'connection refused', staleSince }
    await recordClusterState(store, cluster.lease, gone)
    expect(short(await judged(cluster))).toBe(row)
  })

  test('nobody syncs it', async () => {
    const cluster = await mirrored({})
    await releaseLease(store, cluster.lease)
    const at = (seconds: number) => judged(cluster, { now: Date.now() + seconds * 1000 })
    expect(short(await at(290))).toBe('pass 0/0/0 0 []')
    expect(short(await at(310))).toBe('timed out')
  })

  test('ages are those of the last news', async () => {
    const pods = [readyPod('a', { deletionTimestamp: ago(180) })]
    const cluster = await mirrored({ pods })
    expect(short(await judged(cluster))).toBe('pass 0/1/0 0 [StuckTerminating]')
    await recordClusterState(store, cluster.lease, {
      staleReason: 'x',
      staleSince: new Date(NOW - 120_000),
    })
    expect(short(await judged(cluster))).toBe('pass 0/0/0 0 []')
  })

  test('events of more than an hour before are forgotten', async () => {
    const status = { containerStatuses: [waiting('ContainerCreating')], conditions: [NOT_READY] }
    const pods = [webPod('a', status)]
    const old = event('FailedMount', ['Pod', 'a'], { lastTimestamp: ago(3601) })
    expect(await findings(await mirrored({ ...CRASHING, pods, events: [old] }))).toEqual([
      'RolloutStuck Deployment default/web',
    ])
    const recent = event('FailedMount', ['Pod', 'a'], { lastTimestamp: ago(3599) })
    expect(await findings(await mirrored({ ...CRASHING, pods, events: [recent] }))).toEqual([
      'VolumeMountError Pod default/a',
    ])
  })
})

describe('what cannot be read is a blind spot, says why, and disturbs no other cluster', () => {
  interface Line {
    readonly text: string
    readonly of: object
  }

  function listening() {
    const lines: Line[] = []
    const take = (of: object, text: string) => void lines.push({ of, text })
    const log = { ...createLogger('silent'), warn: take, error: take } as unknown as Logger
    return { lines, log }
  }

  async function both(names: readonly string[], of: { store: Store; log: Logger }) {
    const source = await storeSource({
      ...{ ...of, clock, maxStalenessMilliseconds: 300_000, wishesOf: () => undefined },
    })
    const unseen: UnseenOf[] = []
    const targets = source.targets(names.map((context) => ({ context })))
    const outcomes = await sweep(targets, {
      ...{ failOn: 'critical', workers: 8, unseen: (one) => void unseen.push(one) },
    })
    return { outcomes: outcomes.map(short), unseen }
  }

  test('an object of which half is stored', async () => {
    const [torn, other] = [await mirrored(CRASHING), await mirrored(CRASHING)]
    await store.pool.query(
      `update object set head = '{"half', tail = '' where cluster_id = $1
       and type_id = (select id from resource_type where api_group = '' and resource = 'pods')`,
      [torn.id],
    )
    const { lines, log } = listening()
    const { outcomes, unseen } = await both([torn.name, other.name], { store, log })
    expect(outcomes[0]).toMatch(/^inconclusive/)
    expect(outcomes[1]).toMatch(/^(?:fail|inconclusive) 1\/0\/0 .* \[CrashLoopBackOff\]$/)
    const causeOfPods = (name: string) =>
      unseen.find(({ context }) => context === name)?.causes.get('pods')?.word
    expect([causeOfPods(torn.name), causeOfPods(other.name)]).toEqual(['defect', undefined])
    expect(lines).toEqual([
      {
        text: 'a stored object cannot be parsed',
        of: { err: expect.any(SyntaxError), cluster: torn.name, resource: 'pods' },
      },
    ])
  })

  test('a database that fails in the middle', async () => {
    const made = await mirrored(CRASHING)
    const { lines, log } = listening()
    const nowhere = new pg.Pool({ host: '127.0.0.1', port: 1 })
    const broken = { ...store, readers: readersOf(nowhere, store.pool) }
    const { outcomes, unseen } = await both([made.name], { store: broken, log })
    await nowhere.end()
    expect(outcomes[0]).toMatch(/^inconclusive 0\/0\/0 \d+ \[\]$/)
    expect(unseen[0]?.causes.get('pods')?.word).toBe('store')
    expect(lines.map(({ text }) => text)).toContain('a sweep cannot read the mirror')
  })
})

// Pods of every kind: what SQL calls well must be what the rules find nothing in.

const state = fc.oneof(
  fc.constant({ running: { startedAt: ago(60) } }),
  fc
    .constantFrom('CrashLoopBackOff', 'ErrImagePull', 'ContainerCreating', 'StartError', 'Other')
    .map((reason) => ({ waiting: { reason } })),
  fc
    .record({
      exitCode: fc.constantFrom(0, 1, 137),
      reason: fc.constantFrom('OOMKilled', 'Error', 'Completed'),
    })
    .map((terminated) => ({ terminated })),
)
const lastState = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  state.filter((one) => 'terminated' in one),
)
const container = fc.record({
  name: fc.constantFrom('app', 'side'),
  ready: fc.boolean(),
  restartCount: fc.constantFrom(0, 0, 0, 1, 3, 10),
  state,
  lastState,
})
const wellContainer = fc.constant(running({ ready: true, lastState: {} }))
const anyPod = fc.record({
  owner: fc.constantFrom(
    ownedBy('ReplicaSet', 'web-1'),
    ownedBy('ReplicaSet', 'lone'),
    ownedBy('Workflow', 'w'),
    {},
  ),
  deleted: fc.constantFrom({}, {}, { deletionTimestamp: ago(600) }),
  phase: fc.constantFrom('Running', 'Running', 'Running', 'Pending', 'Failed', 'Succeeded', 'Odd'),
  ready: fc.constantFrom([READY], [READY], [NOT_READY], [{ type: 'Ready', status: 'Unknown' }], []),
  containers: fc.array(
    fc.oneof({ weight: 3, arbitrary: wellContainer }, { weight: 1, arbitrary: container }),
    { maxLength: 2 },
  ),
  init: fc.array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constant({
          name: 'i',
          ready: true,
          restartCount: 0,
          state: { terminated: { exitCode: 0, reason: 'Completed' } },
          lastState: {},
        }),
      },
      { weight: 1, arbitrary: container },
    ),
    { maxLength: 1 },
  ),
})

test('for any pods, the store finds what the objects say', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyPod, { minLength: 1, maxLength: 12 }), async (drawn) => {
      const pods = drawn.map(({ owner, deleted, phase, ready, containers, init }, i) => ({
        metadata: meta(`p-${i}`, { ...owner, ...deleted }),
        status: {
          phase,
          conditions: ready,
          containerStatuses: containers,
          initContainerStatuses: init,
        },
      }))
      const lists = { ...CRASHING, pods }
      const expected = listed(findingsIn(seen({ lists })))
      expect(
        await findings(
          await mirrored(lists, [
            'pods',
            'deployments',
            'replicasets',
            'events',
            'statefulsets',
            'daemonsets',
            'jobs',
            'cronjobs',
          ]),
        ),
      ).toEqual(expected)
    }),
    { numRuns: 40 },
  )
})
