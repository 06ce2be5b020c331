/** Values as Go writes them into a text column: fmt.Sprint for scalars, encoding/json for the rest. */
import { isRecord } from './read-field.ts'

/** What Go's templates print for null. */
const NO_VALUE = '<no value>'

export function goText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
      return Number.isInteger(value) && Math.abs(value) < 2 ** 63
        ? String(BigInt(value))
        : goFloat(value)
    case 'bigint':
    case 'boolean':
      return String(value)
    default:
      return value === null || value === undefined ? NO_VALUE : goJson(value)
  }
}

/** `%v` of a float64: shortest digits, with an exponent (of two digits) below 1e-4 and from 1e6 on. */
function goFloat(value: number): string {
  const magnitude = Math.abs(value)
  if (magnitude >= 1e-4 && magnitude < 1e6) return String(value)
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
}

const HTML: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

/** Keys sorted, no spaces, and what HTML could trip over escaped. */
function goJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`
  if (isRecord(value)) {
    const members = Object.keys(value)
      .sort()
      .map((key) => `${goJson(key)}:${goJson(value[key])}`)
    return `{${members.join(',')}}`
  }
  if (typeof value === 'bigint') return value.toString()
  return (JSON.stringify(value) ?? 'null').replace(
    /[<>&\u2028\u2029]/g,
    (character) => HTML[character]!,
  )
}
