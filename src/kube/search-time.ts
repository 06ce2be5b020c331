/** The times that `since` and `before` take. */

const FORMATS: readonly RegExp[] = [
  /^\d{4}-\d\d-\d\d$/,
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/,
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
]

/** What a refusal says is allowed. */
export const SEARCH_TIME_FORMATS =
  '10 digits (seconds), 13 digits (milliseconds), 2006-01-02, 2006-01-02 15:04:05 (UTC), or RFC 3339'

/** Undefined when the text is in none of the formats, or is no day that exists. */
export function parseSearchTime(text: string): Date | undefined {
  if (/^\d{10}$/.test(text)) return new Date(Number(text) * 1000)
  if (/^\d{13}$/.test(text)) return new Date(Number(text))
  if (!FORMATS.some((format) => format.test(text))) return undefined
  const day = text.slice(0, 10)
  if (!isDay(day)) return undefined
  const time = new Date(day === text ? `${text}T00:00:00Z` : asRfc3339(text))
  return Number.isNaN(time.getTime()) ? undefined : time
}

function asRfc3339(text: string): string {
  return text.includes(' ') ? `${text.replace(' ', 'T')}Z` : text
}

/** JavaScript makes 2 March of 30 February. */
function isDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}
