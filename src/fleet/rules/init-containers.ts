/** What the statuses of a pod's init containers say: the first that has something wrong is it. */
import { count, type Fields, text } from '../../printers/read-field.ts'
import type { IssueName } from '../issue.ts'
import { recordsIn, statusOf } from '../read-object.ts'
import {
  type PodContext,
  type PodFinding,
  terminatedIn,
  waitingReason,
  wasOomKilled,
} from './containers.ts'

export function initContainer(pod: Fields, context: PodContext): PodFinding | undefined {
  for (const status of recordsIn(statusOf(pod).initContainerStatuses)) {
    const issue = issueOf(status, context)
    if (issue) return { issue, reason: `init container ${text(status.name)} does not finish` }
  }
  return undefined
}

function issueOf(status: Fields, context: PodContext): IssueName | undefined {
  const waiting = waitingReason(status)
  if (waiting === 'ImagePullBackOff' || waiting === 'ErrImagePull') return `Init:${waiting}`
  if (wasOomKilled(status, context)) return 'Init:OOMKilled'
  if (waiting === 'CreateContainerConfigError') return 'Init:CreateContainerConfigError'
  if (waiting === 'CrashLoopBackOff' || hasFailedAgain(status)) return 'Init:CrashLoopBackOff'
  return undefined
}

/** Between two attempts; what was before the last restart does not count. */
function hasFailedAgain(status: Fields): boolean {
  const terminated = terminatedIn(status.state)
  return (
    terminated !== undefined &&
    count(terminated.exitCode) !== 0 &&
    terminated.reason !== 'OOMKilled' &&
    count(status.restartCount) >= 1
  )
}
