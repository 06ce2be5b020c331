/** Events by the object they are about, in the shape of either group that serves them. */
import { type Fields, fields, text, timeOf } from '../printers/read-field.ts'
import { keyOf, metaOf } from './read-object.ts'

export interface SweptEvent {
  readonly reason: string
  readonly message: string
  /** Milliseconds since 1970; -Infinity when it has no time. */
  readonly at: number
  /** `spec.containers{web}`. */
  readonly fieldPath: string
}

export type EventsByObject = ReadonlyMap<string, readonly SweptEvent[]>

export function eventKey(kind: string, namespace: string, name: string): string {
  return `${kind}/${keyOf(namespace, name)}`
}

export function eventsByObject(events: readonly Fields[]): EventsByObject {
  const byObject = new Map<string, SweptEvent[]>()
  for (const event of events) {
    const about = fields(event.involvedObject ?? event.regarding)
    const namespace = text(about.namespace) || text(metaOf(event).namespace)
    const key = eventKey(text(about.kind), namespace, text(about.name))
    const seen = {
      reason: text(event.reason),
      message: text(event.message ?? event.note),
      at: timeOfEvent(event) ?? Number.NEGATIVE_INFINITY,
      fieldPath: text(about.fieldPath),
    }
    const known = byObject.get(key)
    if (known) known.push(seen)
    else byObject.set(key, [seen])
  }
  return byObject
}

/** When it was last seen; undefined when it does not say. */
export function timeOfEvent(event: Fields): number | undefined {
  const series = fields(event.series)
  return (
    timeOf(event.lastTimestamp) ??
    timeOf(series.lastObservedTime) ??
    timeOf(event.deprecatedLastTimestamp) ??
    timeOf(event.eventTime) ??
    timeOf(metaOf(event).creationTimestamp)
  )
}

/** The newest; of two at one time the first that was listed. */
export function newest(events: readonly SweptEvent[]): SweptEvent | undefined {
  return events.reduce<SweptEvent | undefined>(
    (best, event) => (best === undefined || event.at > best.at ? event : best),
    undefined,
  )
}
