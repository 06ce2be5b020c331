/** How the text of a setting becomes its value: for settings.ts alone. */
import { isIP } from 'node:net'
import type { FieldPath } from './kube/field-selector.ts'
import { messageOf } from './kube/message-of.ts'
import { parsePrunePaths } from './sync/prune-paths.ts'

/** The value, or what the text would have to be. */
export type Read<T> = { readonly value: T } | { readonly mustBe: string }

export const text = (given: string): Read<string> =>
  given === '' ? { mustBe: 'set to something' } : { value: given }

export const list = (given: string): Read<readonly string[]> => {
  const values = given.split(',').map((value) => value.trim())
  return values.includes('') ? { mustBe: 'names separated by commas' } : { value: values }
}

/** Of a certificate: `*` stands for one label. */
export const hostNames = (given: string): Read<readonly string[]> => {
  const names = given.split(',').map((name) => name.trim())
  const fits = names.every((name) => isIP(name) !== 0 || isHostName(name))
  return fits ? { value: names } : { mustBe: 'host names or addresses separated by commas' }
}

function isHostName(name: string): boolean {
  const labels = name.replace(/^\*\./, '').split('.')
  const fit = labels.every((label) => /^[a-z0-9]([-a-z0-9_]{0,61}[a-z0-9])?$/i.test(label))
  return fit && name.length <= 253
}

export const oneOf =
  <const T extends string>(...values: readonly T[]) =>
  (given: string): Read<T> => {
    const value = values.find((candidate) => candidate === given)
    return value === undefined ? { mustBe: `one of ${values.join(', ')}` } : { value }
  }

export const wholeNumber =
  (least: number, most: number) =>
  (given: string): Read<number> => {
    const value = Number(given)
    const fits = /^\d+$/.test(given) && value >= least && value <= most
    return fits ? { value } : { mustBe: `a whole number from ${least} to ${most}` }
  }

export interface ListenAddress {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
}

export function listenAddress(given: string): Read<ListenAddress> {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s/]*)):(\d{1,5})$/.exec(given)
  const port = Number(match?.[3])
  if (!match || port > 65_535) return { mustBe: 'HOST:PORT, such as 127.0.0.1:8443' }
  return { value: { host: match[1] ?? (match[2] || '0.0.0.0'), port } }
}

export function databaseUrl(given: string): Read<string> {
  const isPostgres = URL.canParse(given) && /^postgres(ql)?:$/.test(new URL(given).protocol)
  return isPostgres ? { value: given } : { mustBe: 'a URL, postgres://USER@HOST:PORT/DATABASE' }
}

/** Without a slash at its end. */
export function directUrl(given: string): Read<string> {
  const url = URL.canParse(given) ? new URL(given) : undefined
  const fits = url?.protocol === 'https:' && url.search === '' && url.hash === '' && !url.username
  return fits ? { value: given.replace(/\/+$/, '') } : { mustBe: 'a URL, https://HOST:PORT' }
}

export function prunePaths(given: string): Read<readonly FieldPath[]> {
  try {
    return { value: parsePrunePaths(given) }
  } catch (error) {
    const why = messageOf(error)
    return { mustBe: `paths of fields separated by commas (${why})` }
  }
}
