/** All that a simulated cluster holds at its start and that does not change. */
import type { GroupResource } from '../kube/group-resource.ts'
import { memberNamed, membersOf, stringOf } from './member/json-text.ts'
import type { GivenObject } from './member-server.ts'
import type { DemoMember } from './members.ts'
import { node } from './node.ts'
import {
  DAY_SECONDS,
  drawn,
  HOUR_SECONDS,
  MINUTE_SECONDS,
  type Placed,
  type Setting,
  TYPES,
  timeAt,
  uidOf,
} from './placed.ts'
import type { RecordedObject } from './recorded.ts'
import { varied } from './recorded-variation.ts'
import { type App, deployment, type Pod, pod, replicaSet } from './workload.ts'

export interface GivenPlaced {
  readonly of: GroupResource
  readonly object: GivenObject
}

/** Types of which the demo makes all objects itself, or that repeat another type's objects. */
const NOT_AS_RECORDED = new Set([
  'nodes.',
  'events.events.k8s.io',
  'customresourcedefinitions.apiextensions.k8s.io',
])

export function clusterObjects(
  setting: Setting,
  member: DemoMember,
  of: {
    readonly recorded: readonly RecordedObject[]
    readonly serves: (type: GroupResource) => boolean
  },
): GivenPlaced[] {
  const aged = { ...setting, ageDays: member.ageDays }
  const asRecorded = of.recorded
    .filter((object) => isWanted(member, object) && of.serves(object.of))
    .map((object): GivenPlaced => ({ of: object.of, object: varied(aged, object) }))
  const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system']
  return [
    ...namespaces.map((name) => namespace(setting, name, member.ageDays)),
    ...asRecorded,
    ...member.nodes.map((state) =>
      node(setting, { ...state, createdDaysAgo: Math.min(60, member.ageDays) }),
    ),
    ...running(setting, coreDns(member)),
    ...running(setting, sillyDemo(member)),
    ...member.alsoRuns.flatMap((name) => running(setting, furtherApp(name))),
    ...notRunning(setting),
  ]
}

/** Custom resources only where the demo wants them; the CRDs themselves are put first. */
function isWanted(member: DemoMember, { of, text }: RecordedObject): boolean {
  if (NOT_AS_RECORDED.has(`${of.resource}.${of.group}`)) return false
  // A dying namespace would stay so for ever, and my-db-01 is the life script's.
  const metadata = memberNamed(membersOf(text), 'metadata')!
  const name = stringOf(text, memberNamed(membersOf(text, metadata.valueStart), 'name'))
  if (name === 'dying' || name === 'my-db-01') return false
  if (of.group.endsWith('.example.com') || of.group === 'devopstoolkitseries.com') {
    return member.customResources === 'claims' && of.group === 'devopstoolkitseries.com'
  }
  return true
}

function namespace(setting: Setting, name: string, ageDays: number): Placed {
  return {
    of: TYPES.namespaces,
    object: {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: {
        name,
        uid: uidOf(setting, 'Namespace', name),
        creationTimestamp: timeAt(setting, -ageDays * DAY_SECONDS),
        labels: { 'kubernetes.io/metadata.name': name },
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    },
  }
}

function sillyDemo({ sillyDemoTag }: DemoMember): App {
  return {
    namespace: 'a-team',
    name: 'silly-demo',
    image: `ghcr.io/vfarcic/silly-demo:${sillyDemoTag}`,
    replicas: 2,
    createdAt: -23 * MINUTE_SECONDS,
  }
}

function coreDns({ ageDays, version }: DemoMember): App {
  return {
    namespace: 'kube-system',
    name: 'coredns',
    image: `registry.k8s.io/coredns/coredns:${version < 'v1.25' ? 'v1.7.0' : 'v1.11.3'}`,
    replicas: 2,
    createdAt: -ageDays * DAY_SECONDS,
  }
}

function furtherApp(name: string): App {
  return {
    namespace: 'a-team',
    name,
    image: `registry.example.com:5000/a-team/${name}:1.0.4`,
    replicas: 1,
    createdAt: -6 * DAY_SECONDS,
  }
}

/** A deployment with all its pods up. */
function running(setting: Setting, app: App): Placed[] {
  const hash = drawn(setting, `${app.name} template`, 10)
  const counts = { total: app.replicas, updated: app.replicas, ready: app.replicas }
  const state = { revision: 1, generation: 1, ...counts, changedAt: app.createdAt + 9 }
  const set = { app, hash, revision: 1, createdAt: app.createdAt }
  return [
    deployment(setting, app, state),
    replicaSet(setting, { ...set, replicas: app.replicas, ready: app.replicas }),
    ...Array.from({ length: app.replicas }, (_, index) =>
      pod(setting, {
        app,
        name: `${app.name}-${hash}-${drawn(setting, `${app.name} pod ${index}`, 5)}`,
        owner: { kind: 'ReplicaSet', apiVersion: 'apps/v1', name: `${app.name}-${hash}` },
        labels: { app: app.name, 'pod-template-hash': hash },
        createdAt: app.createdAt,
        node: `${setting.cluster}-node-${index % 2 === 0 ? 'a' : 'b'}`,
        address: `10.${index}.0.${20 + app.name.length}`,
        phase: 'Running',
        state: { is: 'running', since: app.createdAt + 6, ready: true },
        readySince: app.createdAt + 9,
      }),
    ),
  ]
}

/** Pods of a-team that do not run: one finished, one whose image is not there. */
function notRunning(setting: Setting): Placed[] {
  const report = {
    namespace: 'a-team',
    name: 'report',
    image: 'registry.example.com:5000/a-team/report:3.1',
  }
  const importer = {
    ...report,
    name: 'importer',
    image: 'registry.example.com:5000/a-team/importer:0.1-rc',
  }
  const created = -3 * HOUR_SECONDS
  const of = (app: typeof report, rest: Pick<Pod, 'phase' | 'state'>): Placed =>
    pod(setting, {
      app,
      name: `${app.name}-${drawn(setting, app.name, 5)}`,
      owner: { kind: 'Job', apiVersion: 'batch/v1', name: app.name },
      labels: { 'job-name': app.name },
      createdAt: created,
      node: `${setting.cluster}-node-a`,
      address: '10.0.0.99',
      ...rest,
    })
  const message = `Back-off pulling image "${importer.image}"`
  return [
    job(setting, report, created),
    of(report, { phase: 'Succeeded', state: { is: 'terminated', exitCode: 0, at: created + 84 } }),
    job(setting, importer, created),
    of(importer, {
      phase: 'Pending',
      state: { is: 'waiting', reason: 'ImagePullBackOff', message },
    }),
  ]
}

function job(
  setting: Setting,
  app: { namespace: string; name: string; image: string },
  createdAt: number,
): Placed {
  const done = app.name === 'report'
  const labels = { 'job-name': app.name }
  const end = timeAt(setting, createdAt + 84)
  return {
    of: TYPES.jobs,
    object: {
      kind: 'Job',
      apiVersion: 'batch/v1',
      metadata: {
        name: app.name,
        namespace: app.namespace,
        uid: uidOf(setting, 'Job', `${app.namespace}/${app.name}`),
        generation: 1,
        creationTimestamp: timeAt(setting, createdAt),
        labels,
      },
      spec: {
        parallelism: 1,
        completions: 1,
        backoffLimit: 6,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: app.name, image: app.image }], restartPolicy: 'Never' },
        },
      },
      status: {
        startTime: timeAt(setting, createdAt),
        ...(done
          ? {
              conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: end }],
              completionTime: end,
              succeeded: 1,
            }
          : { active: 1 }),
      },
    },
  }
}
