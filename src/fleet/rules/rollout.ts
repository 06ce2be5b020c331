/** Whether a rollout has come to a halt for no reason that its pods would show. */
import { count, type Fields } from '../../printers/read-field.ts'
import { SECOND } from '../observation.ts'
import {
  ageOf,
  conditionIs,
  conditionOf,
  countOr,
  isReady,
  restartsOf,
  specOf,
  statusOf,
} from '../read-object.ts'
import { RESTART_THRESHOLD } from './containers.ts'
import type { Workload } from './workload.ts'

/** A rollout may take this long before it counts as stuck. */
const GRACE = 600 * SECOND

export function isRolloutStuck({ kind, object, pods }: Workload, now: number): boolean {
  if (!object || pods.some((pod) => restartsOf(pod) >= RESTART_THRESHOLD)) return false
  switch (kind) {
    case 'Deployment':
      return isDeploymentStuck(object)
    case 'StatefulSet':
      return isStatefulSetStuck(object) && isPastGrace(object, pods, now)
    case 'DaemonSet':
      return isDaemonSetStuck(object) && isPastGrace(object, pods, now)
    default:
      return false
  }
}

function isDeploymentStuck(deployment: Fields): boolean {
  if (conditionIs(deployment, 'ReplicaFailure', 'True')) return true
  const progressing = conditionOf(deployment, 'Progressing')
  return progressing?.status === 'False' && progressing.reason === 'ProgressDeadlineExceeded'
}

function isStatefulSetStuck(statefulSet: Fields): boolean {
  const replicas = countOr(specOf(statefulSet).replicas, 1)
  const { updateRevision, currentRevision, updatedReplicas, readyReplicas } = statusOf(statefulSet)
  if (replicas === 0) return false
  const isUpdating = (updateRevision ?? '') !== (currentRevision ?? '')
  return count(isUpdating ? updatedReplicas : readyReplicas) < replicas
}

function isDaemonSetStuck(daemonSet: Fields): boolean {
  const { desiredNumberScheduled, numberReady } = statusOf(daemonSet)
  const desired = count(desiredNumberScheduled)
  return desired > 0 && count(numberReady) < desired
}

function isPastGrace(controller: Fields, pods: readonly Fields[], now: number): boolean {
  return (
    ageOf(controller, now) >= GRACE && pods.every((pod) => isReady(pod) || ageOf(pod, now) >= GRACE)
  )
}
