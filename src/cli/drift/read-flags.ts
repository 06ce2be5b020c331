/** How the flags of `fleetglass drift` are read; what is malformed is said in commander's words. */
import { InvalidArgumentError } from 'commander'
import { isNamespaceName } from '../../kube/namespace-name.ts'
import { readDuration } from '../duration.ts'

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

/** Names of namespaces: they become part of a selector. */
export function collectNamespaces(text: string, before: readonly string[]): readonly string[] {
  const all = collectNames(text, before)
  const odd = all.find((name) => !isNamespaceName(name))
  if (odd === undefined) return all
  throw new InvalidArgumentError(`${JSON.stringify(odd)} is no name of a namespace.`)
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
  const other = before.get(from)
  if (other !== undefined && other !== to) {
    throw new InvalidArgumentError(`${from} is a mirror of ${other} already.`)
  }
  return new Map([...before, [from, to]])
}

/** Milliseconds. */
export function readStaleness(text: string): number {
  const milliseconds = readDuration(text)
  if (milliseconds >= 0) return milliseconds
  throw new InvalidArgumentError('It must not be negative.')
}
