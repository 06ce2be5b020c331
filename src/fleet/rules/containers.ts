/**
 * What the statuses of a pod's main containers say. Each check finds at most one thing per pod: the
 * first container, in the order of the status, that it applies to.
 *
 * Reasons are compared exactly, as the kubelet writes them.
 */
import { count, type Fields, fields, text, timeOf } from '../../printers/read-field.ts'
import type { IssueName } from '../issue.ts'
import { MINUTE, type RuleOptions, SECOND } from '../observation.ts'
import { ageOf, containerStatuses } from '../read-object.ts'

/** What a check of one pod found. */
export interface PodFinding {
  readonly issue: IssueName
  readonly reason: string
}

export interface PodContext {
  readonly now: number
  readonly options: RuleOptions
}

/** This many restarts are a loop, and more than a rollout explains. */
export const RESTART_THRESHOLD = 3
const RESTART_LOOP_WITHIN = 10 * MINUTE
const START_ERROR_PATIENCE = 60 * SECOND

const START_ERRORS: ReadonlySet<string> = new Set([
  'RunContainerError',
  'CreateContainerError',
  'PreStartHookError',
  'PostStartHookError',
  'StartError',
])

export function waitingReason(status: Fields): string {
  return text(fields(fields(status.state).waiting).reason)
}

export function terminatedIn(state: unknown): Fields | undefined {
  const { terminated } = fields(state)
  return typeof terminated === 'object' && terminated !== null ? fields(terminated) : undefined
}

/** The container as it is, or as it was before its last restart, was killed for its memory. */
export function wasOomKilled(status: Fields, { now, options }: PodContext): boolean {
  const { oomKilledWithinMilliseconds: within } = options
  return [terminatedIn(status.state), terminatedIn(status.lastState)].some((terminated) => {
    if (terminated?.reason !== 'OOMKilled') return false
    const at = timeOf(terminated.finishedAt)
    return within === undefined || at === undefined || now - at <= within
  })
}

function says(status: Fields, what: string): string {
  const message = text(fields(fields(status.state).waiting).message)
  return `container ${text(status.name)} ${what}${message === '' ? '' : `: ${message}`}`
}

export function crashLoop(pod: Fields): PodFinding | undefined {
  const status = containerStatuses(pod).find((one) => waitingReason(one) === 'CrashLoopBackOff')
  return status && { issue: 'CrashLoopBackOff', reason: says(status, 'keeps crashing') }
}

export function imagePull(pod: Fields): PodFinding | undefined {
  for (const status of containerStatuses(pod)) {
    const reason = waitingReason(status)
    if (reason === 'ImagePullBackOff' || reason === 'ErrImagePull') {
      return { issue: reason, reason: says(status, 'cannot get its image') }
    }
  }
  return undefined
}

export function oomKilled(pod: Fields, context: PodContext): PodFinding | undefined {
  const status = containerStatuses(pod).find((one) => wasOomKilled(one, context))
  return status && { issue: 'OOMKilled', reason: says(status, 'was killed for its memory') }
}

export function configError(pod: Fields): PodFinding | undefined {
  const status = containerStatuses(pod).find(
    (one) => waitingReason(one) === 'CreateContainerConfigError',
  )
  return (
    status && { issue: 'CreateContainerConfigError', reason: says(status, 'cannot be configured') }
  )
}

export function startError(pod: Fields, { now }: PodContext): PodFinding | undefined {
  const isOld = ageOf(pod, now) >= START_ERROR_PATIENCE
  const status = containerStatuses(pod).find(
    (one) => START_ERRORS.has(waitingReason(one)) && (isOld || count(one.restartCount) > 0),
  )
  return status && { issue: 'ContainerStartError', reason: says(status, 'cannot be started') }
}

/** Running again just now, after it failed several times: between two crashes of a loop. */
export function restartLoop(pod: Fields, { now }: PodContext): PodFinding | undefined {
  const status = containerStatuses(pod).find((one) => {
    const startedAt = timeOf(fields(fields(one.state).running).startedAt)
    const last = terminatedIn(one.lastState)
    return (
      startedAt !== undefined &&
      now - startedAt <= RESTART_LOOP_WITHIN &&
      count(one.restartCount) >= RESTART_THRESHOLD &&
      last !== undefined &&
      count(last.exitCode) !== 0 &&
      last.reason !== 'OOMKilled'
    )
  })
  if (!status) return undefined
  return {
    issue: 'RestartLoop',
    reason: says(status, `was restarted ${count(status.restartCount)} times`),
  }
}
