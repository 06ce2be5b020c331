/**
 * `45s`, `5m30s`, `3d4h`: how kubectl writes a duration, and so an age.
 *
 * Not here: where an age starts (printers/read-field.ts), when it is rendered (printers/cell.ts).
 */

const SECOND = 1
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY

/** Go's time.Duration ends here, so an age never exceeds 292 years. */
const LONGEST_SECONDS = 9_223_372_036

/** Below `under` seconds, print whole `major` units, then `minor` units if there are any. */
const BANDS: ReadonlyArray<{
  readonly under: number
  readonly major: number
  readonly letter: string
  readonly minor?: number
  readonly minorLetter?: string
}> = [
  { under: 2 * MINUTE, major: SECOND, letter: 's' },
  { under: 10 * MINUTE, major: MINUTE, letter: 'm', minor: SECOND, minorLetter: 's' },
  { under: 3 * HOUR, major: MINUTE, letter: 'm' },
  { under: 8 * HOUR, major: HOUR, letter: 'h', minor: MINUTE, minorLetter: 'm' },
  { under: 2 * DAY, major: HOUR, letter: 'h' },
  { under: 8 * DAY, major: DAY, letter: 'd', minor: HOUR, minorLetter: 'h' },
  { under: 2 * YEAR, major: DAY, letter: 'd' },
  { under: 8 * YEAR, major: YEAR, letter: 'y', minor: DAY, minorLetter: 'd' },
  { under: Number.POSITIVE_INFINITY, major: YEAR, letter: 'y' },
]

/**
 * Renders a duration the way the AGE column of kubectl does.
 *
 * Clusters and this server do not share a clock, so an age of -1 s is printed
 * as `0s` and anything older than that in the future as `<invalid>`.
 *
 * @param ageSeconds - Age in seconds; a fraction is cut off, not rounded.
 * @returns At most two units, without spaces. Never throws.
 * @see apimachinery/pkg/util/duration/duration.go, HumanDuration: the rule this follows.
 */
export function formatAge(ageSeconds: number): string {
  const age = Math.min(Math.trunc(ageSeconds), LONGEST_SECONDS)
  if (!(age >= -1)) return '<invalid>' // NaN too
  if (age < 0) return '0s'
  const band = BANDS.find(({ under }) => age < under)!
  const whole = `${Math.floor(age / band.major)}${band.letter}`
  const rest = band.minor === undefined ? 0 : Math.floor((age % band.major) / band.minor)
  return rest > 0 ? `${whole}${rest}${band.minorLetter}` : whole
}
