/**
 * Quantities (`1500m`, `10Gi`, `12e6`) in the one spelling that Kubernetes prints.
 *
 * @see apimachinery/pkg/api/resource/quantity.go, CanonicalizeBytes: the rule this follows.
 */

/** What Go prints of a quantity that a pointer does not point to. */
export const NO_QUANTITY = '<nil>'

const NANO = 1_000_000_000n
const MAX_INT64 = 2n ** 63n - 1n
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']

const PARTS = /^([+-]?)(\d*)(?:\.(\d*))?(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d+))?$/

/**
 * The canonical spelling; `0` for what is missing. Text that is no quantity comes back as it is:
 * no API server would have accepted it.
 */
export function quantityText(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint')
    return '0'
  const text = String(value).trim()
  const parts = PARTS.exec(text)
  if (parts === null || (!parts[2] && !parts[3])) return text
  const [, sign, whole = '', fraction = '', suffix = '', exponent] = parts
  if (Math.abs(Number(exponent ?? 0)) > 400) return text // no use of memory for a joke
  const nanos = toNanos(whole, fraction, { suffix, exponent: Number(exponent ?? 0) })
  const minus = sign === '-' && nanos !== 0n ? '-' : ''
  return (
    minus + canonical(nanos, { binary: suffix.endsWith('i'), exponential: exponent !== undefined })
  )
}

/** In billionths, for comparisons; undefined for what is no quantity. */
export function quantityNanos(value: unknown): bigint | undefined {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') {
    return undefined
  }
  const parts = PARTS.exec(String(value).trim())
  if (parts === null || (!parts[2] && !parts[3])) return undefined
  const [, sign, whole = '', fraction = '', suffix = '', exponent] = parts
  if (Math.abs(Number(exponent ?? 0)) > 400) return undefined
  const nanos = toNanos(whole, fraction, { suffix, exponent: Number(exponent ?? 0) })
  return sign === '-' ? -nanos : nanos
}

/** In billionths, away from zero where that is not enough: some is never none. */
function toNanos(
  whole: string,
  fraction: string,
  scale: { readonly suffix: string; readonly exponent: number },
): bigint {
  let numerator = BigInt(whole + fraction || '0') * NANO
  let tens = scale.exponent - fraction.length
  if (scale.suffix.endsWith('i')) numerator *= 1024n ** BigInt(BINARY.indexOf(scale.suffix))
  else if (scale.suffix !== '') tens += 3 * (DECIMAL.indexOf(scale.suffix) - 3)
  const nanos =
    tens >= 0 ? numerator * 10n ** BigInt(tens) : divideUp(numerator, 10n ** BigInt(-tens))
  return nanos > MAX_INT64 * NANO ? MAX_INT64 * NANO : nanos
}

function divideUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator
}

function canonical(
  nanos: bigint,
  format: { readonly binary: boolean; readonly exponential: boolean },
): string {
  if (nanos === 0n) return '0'
  if (format.binary && nanos >= 1024n * NANO && nanos % NANO === 0n) {
    const [number, times] = withoutFactor(nanos / NANO, 1024n)
    return `${number}${BINARY[times]}`
  }
  const [number, times] = withoutFactor(nanos, 1000n)
  if (format.exponential) return times === 3 ? `${number}` : `${number}e${3 * (times - 3)}`
  return `${number}${DECIMAL[times]}` // the largest quantity there is ends in E
}

function withoutFactor(number: bigint, factor: bigint): [number: bigint, times: number] {
  let rest = number
  let times = 0
  while (rest % factor === 0n) {
    rest /= factor
    times++
  }
  return [rest, times]
}
