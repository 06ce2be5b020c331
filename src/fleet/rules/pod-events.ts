/** What a pod's conditions and its events say together. */
import { type Fields, fields, isRecord } from '../../printers/read-field.ts'
import { type EventsByObject, eventKey, newest, type SweptEvent } from '../event.ts'
import type { IssueName } from '../issue.ts'
import { MINUTE } from '../observation.ts'
import {
  conditionOf,
  containerStatuses,
  isReady,
  nameOf,
  namespaceOf,
  statusOf,
} from '../read-object.ts'
import { type PodFinding, waitingReason } from './containers.ts'

export function unschedulable(pod: Fields): PodFinding | undefined {
  if (statusOf(pod).phase !== 'Pending') return undefined
  const scheduled = conditionOf(pod, 'PodScheduled')
  if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') return undefined
  return { issue: 'Unschedulable', reason: String(scheduled.message ?? 'no node fits') }
}

export function volumeError(
  pod: Fields,
  events: EventsByObject,
  of: { readonly issue: IssueName; readonly eventReason: string },
): PodFinding | undefined {
  if (isReady(pod) || !isBeingCreated(pod)) return undefined
  const event = newest(eventsOf(pod, events).filter(({ reason }) => reason === of.eventReason))
  return event && { issue: of.issue, reason: event.message }
}

function isBeingCreated(pod: Fields): boolean {
  const statuses = containerStatuses(pod)
  return statuses.length === 0 || statuses.some((one) => waitingReason(one) === 'ContainerCreating')
}

function eventsOf(pod: Fields, events: EventsByObject): readonly SweptEvent[] {
  return events.get(eventKey('Pod', namespaceOf(pod), nameOf(pod))) ?? []
}

/** Failures within this time of the newest one are of one spell. */
const SPELL = 2 * MINUTE
/** The worst first: a failing liveness probe restarts the container. */
const PROBES = ['Liveness', 'Startup', 'Readiness'].map((probe) => `${probe} probe failed`)

export function probeFailure(pod: Fields, events: EventsByObject): PodFinding | undefined {
  if (isReady(pod)) return undefined
  const unhealthy = eventsOf(pod, events).filter(({ reason }) => reason === 'Unhealthy')
  const last = newest(unhealthy)
  if (!last) return undefined
  const candidates = unhealthy.filter(
    (event) => (event === last || event.at >= last.at - SPELL) && isOfRunning(pod, event),
  )
  for (const probe of PROBES) {
    const found = newest(candidates.filter(({ message }) => message.startsWith(probe)))
    if (found) return { issue: 'ProbeFailure', reason: found.message }
  }
  return undefined
}

function isOfRunning(pod: Fields, { fieldPath }: SweptEvent): boolean {
  const container = /\{([^}]*)\}/.exec(fieldPath)?.[1]
  if (!container) return statusOf(pod).phase === 'Running'
  const status = containerStatuses(pod).find(({ name }) => name === container)
  return status !== undefined && isRecord(fields(status.state).running)
}
