/**
 * Texts that have a size: numbers and quantities (`3`, `900m`, `1Gi`, `1e3`), and times
 * (`2024-01-01T12:00:00Z`, `2024-01-01 12:00:00`, `2024-01-01`; UTC unless they say otherwise).
 *
 * Only two of one kind have an order. Over stored objects the same is said in SQL (`number_in` and
 * `time_in` of the migrations): both must agree on what is one.
 */

export type Comparable =
  /** digits × 10^tens */
  | { readonly kind: 'number'; readonly digits: bigint; readonly tens: number }
  /** Microseconds since 1970; what is finer is cut off. */
  | { readonly kind: 'time'; readonly microseconds: bigint }

/** What a refusal says is allowed. */
export const COMPARABLE_FORMATS =
  'a number, a quantity (900m, 1Gi) or a time (2006-01-02, 2006-01-02 15:04:05, RFC 3339)'

/** Undefined when the text has no size. */
export function parseComparable(text: string): Comparable | undefined {
  return parseNumber(text) ?? parseTime(text)
}

/** Negative, zero or positive; undefined when they are of different kinds. */
export function compareComparables(a: Comparable, b: Comparable): number | undefined {
  if (a.kind === 'time' && b.kind === 'time') return sign(a.microseconds - b.microseconds)
  if (a.kind === 'time' || b.kind === 'time') return undefined
  const tens = Math.min(a.tens, b.tens)
  const scaled = ({ digits, tens: own }: typeof a) => digits * 10n ** BigInt(own - tens)
  return sign(scaled(a) - scaled(b))
}

function sign(difference: bigint): number {
  if (difference === 0n) return 0
  return difference < 0n ? -1 : 1
}

/** More characters than this are no number: nobody means one, and sizes of it cost memory. */
const LONGEST = 400

const NUMBER = /^([+-]?)(?:(\d+)\.?(\d*)|\.(\d+))(?:[eE]([+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i))?$/
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/** @see apimachinery/pkg/api/resource/quantity.go, ParseQuantity */
function parseNumber(text: string): Comparable | undefined {
  const match = text.length <= LONGEST ? NUMBER.exec(text) : null
  if (!match) return undefined
  const [, minus, whole = '', places = '', bare = '', exponent = '0', suffix = ''] = match
  const fraction = places + bare
  const unsigned = BigInt(whole + fraction)
  const isBinary = suffix.endsWith('i')
  const thousands = isBinary ? 0 : DECIMAL.indexOf(suffix) - DECIMAL.indexOf('')
  const digits = isBinary ? unsigned * 1024n ** BigInt(BINARY.indexOf(suffix)) : unsigned
  return {
    kind: 'number',
    digits: minus === '-' ? -digits : digits,
    tens: Number(exponent) + 3 * thousands - fraction.length,
  }
}

const TIME =
  /^((?!0000)\d{4}-(?:0[1-9]|1[0-2])-(\d\d))(?:[T ]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d{1,100}))?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)?)?$/

function parseTime(text: string): Comparable | undefined {
  const match = TIME.exec(text)
  if (!match) return undefined
  const [, date, day, time = '00:00:00', fraction = '', zone = 'Z'] = match
  // JavaScript makes 2 March of 30 February.
  if (new Date(`${date}T00:00:00Z`).getUTCDate() !== Number(day)) return undefined
  const seconds = BigInt(Date.parse(`${date}T${time}${zone}`)) / 1000n
  const microseconds = seconds * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'))
  return { kind: 'time', microseconds }
}
