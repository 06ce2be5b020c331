/** Quantities in one spelling: `1000m`, `1` and `1e0` are the same. */

const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3})|(n|u|m|k|M|G|T|P|E|[KMGTPE]i))?$/

const DECIMAL: Readonly<Record<string, number>> = {
  ...{ n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 },
}
const BINARY: Readonly<Record<string, bigint>> = {
  ...{ Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n },
}

/** Exact: a decimal fraction without trailing zeros. What is no quantity comes back as it is. */
export function canonicalQuantity(text: string): string {
  const match = QUANTITY.exec(text)
  const [, sign, whole = '', fraction = '', exponent, suffix = ''] = match ?? []
  if (!match || whole + fraction === '') return text
  const scale = DECIMAL[suffix] ?? Number(exponent ?? 0)
  const digits = BigInt(whole + fraction) << (BINARY[suffix] ?? 0n)
  const places = fraction.length - scale
  const shown = places <= 0 ? String(digits * 10n ** BigInt(-places)) : shift(digits, places)
  return sign === '-' && digits !== 0n ? `-${shown}` : shown
}

function shift(digits: bigint, places: number): string {
  const padded = String(digits).padStart(places + 1, '0')
  const fraction = padded.slice(-places).replace(/0+$/, '')
  return padded.slice(0, -places) + (fraction === '' ? '' : `.${fraction}`)
}
