/**
 * Pods rolled up to what runs them: Deployments and their like, and everything else that owns pods.
 *
 * Owns     who a pod belongs to, how many pods are wanted and ready, the word for its state.
 * Not here what is wrong with a workload (workload-issues.ts, rollout.ts).
 */
import { count, type Fields, text, timeOf } from '../../printers/read-field.ts'
import type { Finding } from '../issue.ts'
import type { Observation } from '../observation.ts'
import {
  conditionIs,
  containerStatuses,
  controllerOf,
  countOr,
  keyOf,
  metaOf,
  nameOf,
  namespaceOf,
  type Owner,
  ownerOf,
  recordsIn,
  specOf,
  statusOf,
} from '../read-object.ts'
import type { SweptResource } from '../swept-resources.ts'

export interface Workload {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly desired: number
  readonly ready: number
  /** `Running`, `Degraded`, `Failed` … */
  readonly status: string
  /** Undefined: known only by its pods. */
  readonly object: Fields | undefined
  readonly pods: readonly Fields[]
  /** Whether all that its state depends on was read. */
  readonly isWhole: boolean
  readonly findings: Finding[]
}

type Counts = Pick<Workload, 'desired' | 'ready' | 'status'>

export interface Owners {
  /** By namespace and name. */
  readonly replicaSets: ReadonlyMap<string, Fields>
  readonly jobs: ReadonlyMap<string, Fields>
  readonly cronJobs: ReadonlyMap<string, Fields>
}

export function ownersIn({ lists }: Observation): Owners {
  return {
    replicaSets: byKey(lists.replicasets),
    jobs: byKey(lists.jobs),
    cronJobs: byKey(lists.cronjobs),
  }
}

function byKey(objects: readonly Fields[] = []): ReadonlyMap<string, Fields> {
  return new Map(objects.map((object) => [keyOf(namespaceOf(object), nameOf(object)), object]))
}

/**
 * What a state depends on, by kind of workload; what owns other pods depends on the pods alone.
 *
 * A map, because whoever makes a pod names the kind of its owner: `constructor` is a kind, too.
 */
const NEEDS: ReadonlyMap<string, readonly SweptResource[]> = new Map([
  ['Deployment', ['deployments', 'replicasets', 'pods']],
  ['ReplicaSet', ['replicasets', 'pods']],
  ['StatefulSet', ['statefulsets', 'pods']],
  ['DaemonSet', ['daemonsets', 'pods']],
  ['Job', ['jobs', 'cronjobs', 'pods']],
  ['CronJob', ['jobs', 'cronjobs', 'pods']],
])

export function workloadsIn(observation: Observation, owners: Owners): readonly Workload[] {
  const { lists } = observation
  const podsOf = Map.groupBy(lists.pods ?? [], (pod) => workloadKey(pod, workloadOf(pod, owners)))
  const isWhole = (kind: string) =>
    (NEEDS.get(kind) ?? ['pods']).every((resource) => lists[resource] !== undefined)
  const workloads: Workload[] = []
  for (const [kind, objects, countsOf] of listedKinds(observation)) {
    for (const object of objects) {
      const key = workloadKey(object, { kind, name: nameOf(object) })
      const pods = podsOf.get(key) ?? []
      podsOf.delete(key)
      const id = { kind, namespace: namespaceOf(object), name: nameOf(object) }
      const rest = { object, pods, isWhole: isWhole(kind), findings: [] }
      workloads.push({ ...id, ...countsOf(object), ...rest })
    }
  }
  for (const pods of podsOf.values()) {
    const { kind, name } = workloadOf(pods[0]!, owners)
    const id = { kind, namespace: namespaceOf(pods[0]!), name }
    const rest = { object: undefined, pods, isWhole: isWhole(kind), findings: [] }
    workloads.push({ ...id, ...countsByPods(pods), ...rest })
  }
  return workloads
}

type ListedKind = readonly [
  kind: string,
  objects: readonly Fields[],
  countsOf: (object: Fields) => Counts,
]

/** Those that are there even without pods. */
function listedKinds({ lists }: Observation): readonly ListedKind[] {
  const cronJobs = new Set(lists.cronjobs?.map((one) => keyOf(namespaceOf(one), nameOf(one))))
  const single = (lists.jobs ?? []).filter((job) => {
    const owner = ownerOf(job)
    return owner?.kind !== 'CronJob' || !cronJobs.has(keyOf(namespaceOf(job), owner.name))
  })
  return [
    ['Deployment', lists.deployments ?? [], replicaCounts],
    ['StatefulSet', lists.statefulsets ?? [], replicaCounts],
    ['DaemonSet', lists.daemonsets ?? [], daemonCounts],
    ['Job', single, (job) => ({ desired: 0, ready: 0, status: jobStatus(job) })],
    ['CronJob', lists.cronjobs ?? [], (one) => ({ desired: 0, ready: 0, status: cronStatus(one) })],
  ]
}

export function workloadKey(object: Fields, { kind, name }: Owner): string {
  return `${kind}/${keyOf(namespaceOf(object), name)}`
}

function workloadOf(pod: Fields, { replicaSets, jobs, cronJobs }: Owners): Owner {
  const owner = ownerOf(pod)
  if (!owner) return { kind: 'Pod', name: nameOf(pod) }
  const key = keyOf(namespaceOf(pod), owner.name)
  if (owner.kind === 'ReplicaSet') {
    const deployment = ownerOf(replicaSets.get(key) ?? {})
    return deployment?.kind === 'Deployment' ? deployment : owner
  }
  if (owner.kind === 'Job') {
    const cronJob = ownerOf(jobs.get(key) ?? {})
    const isListed = cronJobs.has(keyOf(namespaceOf(pod), cronJob?.name ?? ''))
    return cronJob?.kind === 'CronJob' && isListed ? cronJob : owner
  }
  return owner
}

/** How many pods a workload of these kinds wants; of others undefined. */
export function wantedPods(kind: string, object: Fields): number | undefined {
  if (kind === 'Deployment' || kind === 'StatefulSet') return countOr(specOf(object).replicas, 1)
  if (kind === 'DaemonSet') return count(statusOf(object).desiredNumberScheduled)
  return undefined
}

function replicaCounts(object: Fields): Counts {
  const desired = countOr(specOf(object).replicas, 1)
  return counted(desired, count(statusOf(object).readyReplicas))
}

function daemonCounts(object: Fields): Counts {
  const { desiredNumberScheduled, numberReady } = statusOf(object)
  return counted(count(desiredNumberScheduled), count(numberReady))
}

function counted(desired: number, ready: number): Counts {
  if (desired === 0) return { desired, ready, status: 'Scaled Down' }
  return { desired, ready, status: ready >= desired ? 'Running' : 'Degraded' }
}

function jobStatus(job: Fields): string {
  const done = recordsIn(statusOf(job).conditions).find(
    ({ type, status }) => status === 'True' && (type === 'Failed' || type === 'Complete'),
  )
  if (done) return text(done.type)
  return count(statusOf(job).active) > 0 ? 'Running' : 'Pending'
}

function cronStatus(cronJob: Fields): string {
  const active = recordsIn(statusOf(cronJob).active).length
  return active > 0 ? `Active(${active})` : 'Idle'
}

function countsByPods(pods: readonly Fields[]): Counts {
  const phases = pods.map((pod) => statusOf(pod).phase)
  if (phases.every((phase) => phase === 'Succeeded' || phase === 'Failed')) {
    const status = phases.includes('Failed') ? 'Failed' : 'Complete'
    return { desired: 0, ready: 0, status }
  }
  return counted(pods.length, pods.filter(hasAllContainersReady).length)
}

function hasAllContainersReady(pod: Fields): boolean {
  const statuses = containerStatuses(pod)
  return statuses.length > 0 && statuses.every(({ ready }) => ready === true)
}

/** A failed Job is one whatever else its conditions say. */
export function hasFailed(job: Fields): boolean {
  return conditionIs(job, 'Failed', 'True')
}

/** The newest Job of each CronJob that controls any, by namespace and name of the CronJob. */
export function newestJobs(jobs: readonly Fields[]): ReadonlyMap<string, Fields> {
  const createdAt = (job: Fields) => timeOf(metaOf(job).creationTimestamp) ?? 0
  const newest = new Map<string, Fields>()
  for (const job of jobs) {
    const owner = controllerOf(job)
    if (owner?.kind !== 'CronJob') continue
    const key = keyOf(namespaceOf(job), owner.name)
    const known = newest.get(key)
    if (known === undefined || createdAt(job) > createdAt(known)) newest.set(key, job)
  }
  return newest
}
