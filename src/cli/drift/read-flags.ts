/** How the flags of `fleetglass drift` are read; what is malformed is said in commander's words. */
import { InvalidArgumentError } from 'commander'

/** A flag that may be repeated. */
export function collect(text: string, before: readonly string[]): readonly string[] {
  return [...before, text]
}

/** Repeated, or names separated by commas. */
export function collectNames(text: string, before: readonly string[]): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.includes('')) throw new InvalidArgumentError('It must be names separated by commas.')
  return [...before, ...names]
}

/** `FROM=TO`, repeated. */
export function collectMirrors(
  text: string,
  before: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const [from, to, ...rest] = text.split('=').map((side) => side.trim().replace(/\/+$/, ''))
  if (!from || !to || rest.length > 0) {
    throw new InvalidArgumentError('It must be FROM=TO, such as eu.example.com=us.example.com.')
  }
  return new Map([...before, [from, to]])
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Milliseconds of `30s`, `5m`, `12h`, `7d`. */
export function readDuration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,7})([smhd])$/.exec(text) ?? []
  if (count === undefined)
    throw new InvalidArgumentError('It must be a time such as 30s, 5m or 12h.')
  return Number(count) * UNITS[unit]! * 1000
}
