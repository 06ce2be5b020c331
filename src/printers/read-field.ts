/**
 * Reading a parsed object the way kube-apiserver does: what is missing, null or of another type
 * reads as the zero value of the type that is expected, so that no printer ever throws.
 */
import type { KubeObject } from '../kube/kube-object.ts'
import { UNKNOWN_TIME } from './cell.ts'
import { TimeSince } from './printer.ts'

export type Fields = Readonly<Record<string, unknown>>

const NO_FIELDS: Fields = Object.freeze({})
const NO_ITEMS: readonly unknown[] = Object.freeze([])

export const NONE = '<none>'
export const UNSET = '<unset>'

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function fields(value: unknown): Fields {
  return isRecord(value) ? value : NO_FIELDS
}

export function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NO_ITEMS
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A bigint keeps the digits of an integer beyond 2^53. A fraction is no integer, and reads as 0. */
export function integer(value: unknown): number | bigint {
  if (typeof value === 'bigint') return value
  return typeof value === 'number' && Number.isInteger(value) ? value : 0
}

/** For sums and comparisons of counts, none of which comes near 2^53 in earnest. */
export function count(value: unknown): number {
  return Number(integer(value))
}

/** True for `true` alone. */
export function truth(value: unknown): boolean {
  return value === true
}

export function texts(value: unknown): string[] {
  const found: string[] = []
  for (const item of items(value)) if (typeof item === 'string') found.push(item)
  return found
}

/** Whether a field is there at all: what a pointer in Go's types tells apart from zero. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}

export function nameOf(object: KubeObject): string {
  return text(fields(object.metadata).name)
}

/** The AGE column: time since creation. */
export function ageOf(object: KubeObject): TimeSince | string {
  return since(fields(object.metadata).creationTimestamp)
}

/** Time since an RFC 3339 timestamp; `<unknown>` when there is none. */
export function since(timestamp: unknown): TimeSince | string {
  const at = timeOf(timestamp)
  return at === undefined ? UNKNOWN_TIME : new TimeSince(at)
}

/** Go's zero time: what "no time" looks like once something has written it out. */
export const ZERO_TIMESTAMP = '0001-01-01T00:00:00Z'
const ZERO_TIME = Date.parse(ZERO_TIMESTAMP)
const RFC3339 = /^\d{4}-(\d\d)-(\d\d)T(?!24)\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

/** Milliseconds since 1970 of an RFC 3339 timestamp; undefined when it is none, or Go's zero time. */
export function timeOf(timestamp: unknown): number | undefined {
  if (typeof timestamp !== 'string') return undefined
  const parts = RFC3339.exec(timestamp)
  if (parts === null) return undefined
  // Date.parse takes 30 February for 2 March and hour 24 for the next day; Go refuses both.
  if (parts[2]! > '28' && Number(parts[2]) > daysIn(Number(timestamp.slice(0, 4)), parts[1]!)) {
    return undefined
  }
  const at = Date.parse(timestamp)
  return Number.isNaN(at) || at === ZERO_TIME ? undefined : at
}

function daysIn(year: number, month: string): number {
  return new Date(Date.UTC(year, Number(month), 0)).getUTCDate()
}

/** A text that need not be there: `<unset>` when it is not. */
export function textOrUnset(value: unknown): string {
  return isSet(value) ? text(value) : UNSET
}
