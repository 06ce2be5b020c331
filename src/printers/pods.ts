/**
 * `kubectl get pods`: what a pod says of itself in READY, STATUS and RESTARTS.
 *
 * STATUS starts as the phase and is overruled, in this order, by the pod's own reason, its
 * scheduling gates, its init containers, its containers, and its deletion.
 *
 * @see kubernetes pkg/printers/internalversion/printers.go, printPod: the rule this follows.
 */
import type { KubeObject } from '../kube/kube-object.ts'
import {
  type Cell,
  type PrintersByResource,
  type RowCondition,
  TextWithTimes,
  TimeSince,
} from './printer.ts'
import {
  ageOf,
  count,
  type Fields,
  fields,
  isSet,
  items,
  NONE,
  nameOf,
  text,
  timeOf,
  truth,
} from './read-field.ts'

export const pods: PrintersByResource = { pods: podCells }

const COMPLETED_PHASES: Readonly<Record<string, string>> = {
  Succeeded: 'The pod has completed successfully.',
  Failed: 'The pod failed.',
}

/** A pod that has ended says so; its cells tell how. */
export function podConditions({ status }: KubeObject): readonly RowCondition[] {
  const reason = text(fields(status).phase)
  if (!Object.hasOwn(COMPLETED_PHASES, reason)) return []
  const message = COMPLETED_PHASES[reason]!
  return [{ type: 'Completed', status: 'True', reason, message }]
}

/** The node controller's reason when a node cannot be reached: its pods' state is not known. */
const NODE_UNREACHABLE = 'NodeLost'
const COMPLETED = 'Completed'

interface Pod {
  readonly spec: Fields
  readonly status: Fields
  readonly deleted: boolean
  /** Names of the init containers that keep running (`restartPolicy: Always`). */
  readonly sidecars: ReadonlySet<string>
}

/** What the container statuses add up to. Changed while they are read. */
interface Summary {
  status: string
  ready: number
  restarts: number
  /** When the container that restarted last ended; -Infinity when none did. */
  lastRestartAt: number
}

function podCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  const status = fields(object.status)
  const deleted = isSet(fields(object.metadata).deletionTimestamp)
  const pod: Pod = { spec, status, deleted, sidecars: sidecarNames(spec) }
  const summary = summarize(pod)
  return [
    nameOf(object),
    `${summary.ready}/${items(spec.containers).length + pod.sidecars.size}`,
    summary.status,
    restartsCell(summary),
    ageOf(object),
    text(status.podIP) || text(fields(items(status.podIPs)[0]).ip) || NONE,
    text(spec.nodeName) || NONE,
    text(status.nominatedNodeName) || NONE,
    readinessGates(pod),
  ]
}

const NO_SIDECARS: ReadonlySet<string> = new Set()

function sidecarNames(spec: Fields): ReadonlySet<string> {
  let names: Set<string> | undefined
  for (const item of items(spec.initContainers)) {
    const container = fields(item)
    if (container.restartPolicy === 'Always') names = (names ?? new Set()).add(text(container.name))
  }
  return names ?? NO_SIDECARS
}

function summarize(pod: Pod): Summary {
  const summary: Summary = {
    status: ownStatus(pod.status),
    ready: 0,
    restarts: 0,
    lastRestartAt: Number.NEGATIVE_INFINITY,
  }
  const sidecars: Summary = { ...summary }
  const initializing = readInitContainers(pod, summary, sidecars)
  if (!initializing || hasCondition(pod.status, 'Initialized')) {
    // From here on, restarts of init containers that have run are history.
    summary.restarts = sidecars.restarts
    summary.lastRestartAt = sidecars.lastRestartAt
    readContainers(pod.status, summary)
  }
  if (pod.deleted) summary.status = statusOfDeleted(pod.status, summary.status)
  return summary
}

function ownStatus(status: Fields): string {
  for (const item of items(status.conditions)) {
    const { type, reason } = fields(item)
    if (type === 'PodScheduled' && reason === 'SchedulingGated') return reason
  }
  return text(status.reason) || text(status.phase)
}

function statusOfDeleted(status: Fields, otherwise: string): string {
  if (status.reason === NODE_UNREACHABLE) return 'Unknown'
  return status.phase === 'Failed' || status.phase === 'Succeeded' ? otherwise : 'Terminating'
}

/** @returns Whether an init container still stands between the pod and its start. */
function readInitContainers(pod: Pod, summary: Summary, sidecars: Summary): boolean {
  for (const [i, item] of items(pod.status.initContainerStatuses).entries()) {
    const container = fields(item)
    const isSidecar = pod.sidecars.has(text(container.name))
    addRestarts(summary, container)
    if (isSidecar) addRestarts(sidecars, container)

    const { terminated, waiting } = fields(container.state)
    if (isSet(terminated) && count(fields(terminated).exitCode) === 0) continue
    if (isSidecar && truth(container.started)) {
      if (truth(container.ready)) summary.ready++
      continue
    }
    summary.status = `Init:${initStatus(terminated, waiting) || progress(pod, i)}`
    return true
  }
  return false
}

function initStatus(terminated: unknown, waiting: unknown): string {
  if (isSet(terminated)) return terminatedStatus(fields(terminated))
  const reason = text(fields(waiting).reason)
  return reason === 'PodInitializing' ? '' : reason
}

function progress(pod: Pod, done: number): string {
  return `${done}/${items(pod.spec.initContainers).length}`
}

/** Containers are read from the last to the first, so the first that has a reason decides. */
function readContainers(status: Fields, summary: Summary): void {
  const statuses = items(status.containerStatuses)
  let running = false
  let failure = ''
  for (let i = statuses.length - 1; i >= 0; i--) {
    const container = fields(statuses[i])
    addRestarts(summary, container)
    const { waiting, terminated, running: runningState } = fields(container.state)
    const waitingReason = text(fields(waiting).reason)
    if (waitingReason !== '') {
      summary.status = waitingReason
    } else if (isSet(terminated)) {
      summary.status = terminatedStatus(fields(terminated))
      if (count(fields(terminated).exitCode) !== 0) failure = summary.status
    } else if (truth(container.ready) && isSet(runningState)) {
      running = true
      summary.ready++
    }
  }
  if (summary.status === COMPLETED) summary.status = statusOfCompleted(status, { running, failure })
}

/** One container is done; the others decide what is said of the pod. */
function statusOfCompleted(status: Fields, others: { running: boolean; failure: string }): string {
  if (others.running && isReady(status)) return 'Running'
  if (others.failure !== '') return others.failure
  return others.running ? 'NotReady' : COMPLETED
}

function terminatedStatus(terminated: Fields): string {
  const reason = text(terminated.reason)
  if (reason !== '') return reason
  const signal = count(terminated.signal)
  return signal !== 0 ? `Signal:${signal}` : `ExitCode:${count(terminated.exitCode)}`
}

function addRestarts(summary: Summary, container: Fields): void {
  summary.restarts += count(container.restartCount)
  const { terminated } = fields(container.lastState)
  if (!isSet(terminated)) return
  const at = timeOf(fields(terminated).finishedAt)
  if (at !== undefined && at > summary.lastRestartAt) summary.lastRestartAt = at
}

function restartsCell({ restarts, lastRestartAt }: Summary): Cell {
  if (restarts === 0 || !Number.isFinite(lastRestartAt)) return String(restarts)
  return new TextWithTimes(`${restarts} (`, new TimeSince(lastRestartAt), ' ago)')
}

/** Any condition of that type counts; of the other types the first alone does. */
function isReady(status: Fields): boolean {
  return items(status.conditions)
    .map(fields)
    .some((condition) => condition.type === 'Ready' && condition.status === 'True')
}

function hasCondition(status: Fields, type: string): boolean {
  for (const item of items(status.conditions)) {
    const condition = fields(item)
    if (condition.type === type) return condition.status === 'True'
  }
  return false
}

function readinessGates({ spec, status }: Pod): string {
  const gates = items(spec.readinessGates)
  if (gates.length === 0) return NONE
  const conditions = items(status.conditions).map(fields)
  const open = gates.filter((gate) => {
    const { conditionType } = fields(gate)
    return conditions.find(({ type }) => type === conditionType)?.status === 'True'
  })
  return `${open.length}/${gates.length}`
}
