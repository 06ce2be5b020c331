/** Durations as Go writes them: `60s`, `1m30s`, `1.5h`, `0`. */

const UNIT_MILLISECONDS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}
const WHOLE = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+|0)$/
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)/g

/** Milliseconds; undefined for what is no duration. */
export function parseDuration(text: string): number | undefined {
  const [, sign, parts] = WHOLE.exec(text.trim()) ?? []
  if (parts === undefined) return undefined
  let milliseconds = 0
  for (const [, count, unit] of parts.matchAll(PART)) {
    milliseconds += Number(count) * UNIT_MILLISECONDS[unit!]!
  }
  return sign === '-' ? -milliseconds : milliseconds
}
