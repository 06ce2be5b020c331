/** The life script repeats every minute; what the scripts share to say where they are in it. */
import { event, type Happening } from '../event.ts'
import { MINUTE_SECONDS, type Placed, type Setting } from '../placed.ts'

export interface Moment {
  /** How many minutes have passed whole. */
  readonly cycle: number
  /** Seconds into this minute. */
  readonly second: number
  /** Seconds after the start. */
  readonly now: number
}

export function momentAt(now: number): Moment {
  const cycle = Math.floor(now / MINUTE_SECONDS)
  return { cycle, second: now - cycle * MINUTE_SECONDS, now }
}

/** Real clusters keep events for an hour; a demo that repeats itself needs fewer. */
const EVENTS_KEPT_CYCLES = 3

/** The events of this minute so far and of the ones before that are still kept. */
export function eventsUntil(
  setting: Setting,
  { cycle, now }: Moment,
  ofCycle: (cycle: number) => readonly Happening[],
): Placed[] {
  const first = Math.max(0, cycle - EVENTS_KEPT_CYCLES + 1)
  const cycles = Array.from({ length: cycle - first + 1 }, (_, i) => first + i)
  return cycles
    .flatMap(ofCycle)
    .filter(({ at }) => at <= now)
    .map((happening) => event(setting, happening))
}

/** What a cluster's living objects look like so many seconds after the start. */
export type Life = (setting: Setting, now: number) => Placed[]
