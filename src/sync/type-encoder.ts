/**
 * How objects of one type become rows: as they come from the member, and again from stored bytes.
 *
 * Owns     the two texts by which the store knows rows that are to be made again or listed anew.
 */
import { createHash } from 'node:crypto'
import { type FieldPath, formatFieldPath } from '../kube/field-selector.ts'
import type { GroupResource, ResourceInfo } from '../kube/group-resource.ts'
import { TOKEN_VERSION } from '../kube/search-token.ts'
import type { Printer } from '../printers/printer.ts'
import { PRINTER_VERSION } from '../printers/printers.ts'
import { createObjectEncoder, type ObjectEncoder } from './encode-object.ts'
import type { InvolvedKind } from './involved-events.ts'
import { createPruner } from './prune-paths.ts'
import type { SyncServices } from './services.ts'

export interface TypeEncoders {
  readonly fresh: ObjectEncoder
  /** For bytes that a `fresh` one made: digests of Secret values are not digested again. */
  readonly again: ObjectEncoder
}

export interface TypeToEncode {
  readonly cluster: string
  readonly info: ResourceInfo
  readonly printer: Printer
}

type Settings = Pick<SyncServices, 'keyring' | 'secretValues' | 'prune'>

export function typeEncoders(
  { cluster, info, printer }: TypeToEncode,
  { keyring, secretValues, prune }: Settings,
): TypeEncoders {
  const pruned = createPruner(prune)
  const shared = { cluster, of: info, printer, keyring }
  const encoder = (values: 'digest' | 'store'): ObjectEncoder => {
    const encode = createObjectEncoder({ ...shared, secretValues: values })
    return prune.length === 0 ? encode : (bytes) => encode(pruned(bytes))
  }
  return { fresh: encoder(secretValues), again: encoder('store') }
}

/** What is missing from bytes: it cannot be had from the store again. `''` when nothing special is. */
export function bytesText(type: GroupResource, { secretValues, prune }: Settings): string {
  const isSecret = type.group === '' && type.resource === 'secrets'
  const kept = isSecret && secretValues === 'store'
  if (prune.length === 0 && !kept) return ''
  return JSON.stringify({ ...(kept && { secretValues }), prune: prunedText(prune) })
}

function prunedText(prune: readonly FieldPath[]): readonly string[] {
  return prune.map(formatFieldPath).toSorted()
}

/** Rows made by other code, or from other bytes, have other columns: see ensureColumnSet. */
export function makerText(bytes: string): string {
  const maker = `printers ${PRINTER_VERSION}, tokens ${TOKEN_VERSION}`
  return bytes === '' ? maker : `${maker}, bytes ${digest(bytes)}`
}

/** What of the member the rows hold; `''`: all of it, as it comes. */
export function coversText(of: {
  readonly bytes: string
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined
  /** Of events; undefined: all. */
  readonly involved: readonly InvolvedKind[] | undefined
}): string {
  const { bytes, namespaces, involved } = of
  if (bytes === '' && !namespaces && !involved) return ''
  const sorted = namespaces && [...new Set(namespaces)].toSorted()
  return digest(JSON.stringify([bytes, sorted, involved]))
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
