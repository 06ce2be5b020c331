/** API servers forget events after an hour; a mirror keeps them longer, so a sweep of one must. */
import type { Fields } from '../printers/read-field.ts'
import { timeOfEvent } from './event.ts'
import { MINUTE, type Observation } from './observation.ts'

const EVENT_WINDOW = 60 * MINUTE

/** An event without a time may be of now. */
export function recentEvents(events: readonly Fields[], now: number): readonly Fields[] {
  return events.filter((event) => (timeOfEvent(event) ?? now) >= now - EVENT_WINDOW)
}

export function withoutOldEvents(observation: Observation): Observation {
  const { lists, now } = observation
  if (!lists.events) return observation
  return { ...observation, lists: { ...lists, events: recentEvents(lists.events, now) } }
}
