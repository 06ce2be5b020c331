/** How long something may take or last, as flags and variables say it. */
import { InvalidArgumentError } from 'commander'

const SECOND = 1000
const DAY = 86_400 * SECOND
const UNIT_MILLISECONDS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: SECOND,
  m: 60 * SECOND,
  h: 3600 * SECOND,
  d: DAY,
  w: 7 * DAY,
  y: 365 * DAY,
}
const WHOLE = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|[smhdwy]))+|0)$/
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|ms|[smhdwy])/g

/**
 * Reads durations as Go writes them (`60s`, `1m30s`, `1.5h`, `0`), and days, weeks and years.
 *
 * @returns milliseconds; undefined for what is no duration.
 */
export function parseDuration(text: string): number | undefined {
  const [, sign, parts] = WHOLE.exec(text.trim()) ?? []
  if (parts === undefined) return undefined
  let milliseconds = 0
  for (const [, count, unit] of parts.matchAll(PART)) {
    milliseconds += Number(count) * UNIT_MILLISECONDS[unit!]!
  }
  return sign === '-' ? -milliseconds : milliseconds
}

/**
 * The value of a flag, for commander.
 *
 * @returns milliseconds.
 * @throws InvalidArgumentError for what is no duration.
 */
export function readDuration(text: string): number {
  const milliseconds = parseDuration(text)
  if (milliseconds !== undefined) return milliseconds
  throw new InvalidArgumentError('It must be a time such as 30s, 5m, 12h or 7d.')
}
