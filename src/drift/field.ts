/**
 * Reading fields of objects that may be anything: a member decides what it sends.
 *
 * What is missing, null or of another type is as if it were not there.
 */

export type Fields = Readonly<Record<string, unknown>>

const NONE: Fields = Object.freeze({})

export function fieldsIn(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : NONE
}

/** The field at this path. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let here = value
  for (const key of path) {
    const fields = fieldsIn(here)
    here = Object.hasOwn(fields, key) ? fields[key] : undefined
  }
  return here
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : undefined
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = at(value, ...path)
  return typeof found === 'number' ? found : undefined
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}
