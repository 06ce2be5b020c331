/** What is wrong with workloads: their pods' findings, their own, and the words for what is left. */
import type { Fields } from '../../printers/read-field.ts'
import { type EventsByObject, eventKey, eventsByObject, newest, type SweptEvent } from '../event.ts'
import type { Finding, IssueName } from '../issue.ts'
import type { Observation, RuleOptions } from '../observation.ts'
import { controllerOf, keyOf, nameOf, namespaceOf } from '../read-object.ts'
import { podFindings } from './pods.ts'
import { isRolloutStuck } from './rollout.ts'
import {
  hasFailed,
  newestJobs,
  type Owners,
  ownersIn,
  type Workload,
  workloadKey,
  workloadsIn,
} from './workload.ts'

export function workloadIssues(observation: Observation, options: RuleOptions): readonly Finding[] {
  const { now, lists } = observation
  const events = lists.events && eventsByObject(lists.events)
  const owners = ownersIn(observation)
  const workloads = workloadsIn(observation, owners)
  const lastJobs = newestJobs(lists.jobs ?? [])
  for (const workload of workloads) {
    for (const pod of workload.pods) {
      workload.findings.push(...podFindings(pod, events, { now, options }))
    }
    workload.findings.push(...failedJob(workload, lastJobs))
  }
  const flagged = workloads.filter(isFlagged)
  const refused = events && refusedPods(events, owners)
  return flagged.flatMap((workload) => {
    const own = workload.isWhole ? laterFindings(workload, refused, now) : []
    return [...workload.findings, ...own]
  })
}

function isFlagged({ findings, ready, desired, status }: Workload): boolean {
  return findings.length > 0 || ready < desired || status === 'Failed'
}

function failedJob(workload: Workload, lastJobs: ReadonlyMap<string, Fields>): readonly Finding[] {
  const { kind, object, namespace, name } = workload
  if (!object || (kind !== 'Job' && kind !== 'CronJob')) return []
  const job = kind === 'Job' ? object : lastJobs.get(keyOf(namespace, name))
  return job && hasFailed(job)
    ? [issueOf(workload, 'JobFailed', `the Job ${nameOf(job)} has failed`)]
    : []
}

/** In this order: the second looks at what the first has found, the last at both. */
function laterFindings(
  workload: Workload,
  refused: ReadonlyMap<string, SweptEvent> | undefined,
  now: number,
): readonly Finding[] {
  const { findings, desired, ready, status, pods, kind, namespace, name } = workload
  const event = refused?.get(`${kind}/${namespace}/${name}`)
  if (event && pods.length < desired) return [issueOf(workload, 'FailedCreate', event.message)]
  if (findings.length > 0) return []
  if (isRolloutStuck(workload, now)) {
    return [issueOf(workload, 'RolloutStuck', `${ready} of ${desired} are ready, and it stopped`)]
  }
  if (ready < desired) {
    return [issueOf(workload, 'Degraded', `${ready} of ${desired} are ready`)]
  }
  return status === 'Failed' ? [issueOf(workload, 'Failed', 'its pods have failed')] : []
}

/** The newest FailedCreate event of each workload, by its key. */
function refusedPods(events: EventsByObject, owners: Owners): ReadonlyMap<string, SweptEvent> {
  const refused = new Map<string, SweptEvent>()
  const add = (key: string, of: readonly SweptEvent[] | undefined) => {
    const known = refused.get(key)
    const event = newest([...(known ? [known] : []), ...(of ?? []).filter(isRefusal)])
    if (event) refused.set(key, event)
  }
  for (const [key, of] of events) {
    if (key.startsWith('StatefulSet/') || key.startsWith('DaemonSet/')) add(key, of)
  }
  for (const replicaSet of owners.replicaSets.values()) {
    const own = { kind: 'ReplicaSet', name: nameOf(replicaSet) }
    const controller = controllerOf(replicaSet)
    const owner = controller?.kind === 'Deployment' ? controller : own
    const of = events.get(eventKey(own.kind, namespaceOf(replicaSet), own.name))
    if (of) add(workloadKey(replicaSet, owner), of)
  }
  return refused
}

function isRefusal({ reason }: SweptEvent): boolean {
  return reason === 'FailedCreate'
}

function issueOf({ kind, namespace, name }: Workload, issue: IssueName, reason: string): Finding {
  return { issue, kind, namespace, name, reason }
}
