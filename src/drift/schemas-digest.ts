/**
 * The schemas of a CustomResourceDefinition as one text: equal for schemas that say the same.
 *
 * Keys have no order, lists have: of what is required, allowed or printed first.
 */
import { createHash } from 'node:crypto'
import { compareBytes } from '../kube/byte-order.ts'
import type { KubeObject } from '../kube/kube-object.ts'
import { at, listAt, textAt } from './field.ts'
import { sortedBy } from './order.ts'
import { canonicalQuantity } from './quantity.ts'

/** Twelve hexadecimal digits: enough to tell a few dozen variants apart, short enough to read. */
const SHOWN_DIGITS = 12

export function schemasDigest(crd: KubeObject): string {
  const shared = at(crd, 'spec', 'validation', 'openAPIV3Schema') ?? null
  const versions = sortedBy(
    listAt(crd, 'spec', 'versions'),
    (version) => textAt(version, 'name') ?? '',
  )
  // v1beta1 had one schema for all versions; v1 repeats it in each.
  const schemas = versions.map((version) => [
    textAt(version, 'name') ?? '',
    at(version, 'schema', 'openAPIV3Schema') ?? shared,
  ])
  return digestOf(schemas.length > 0 ? schemas : shared).slice(0, SHOWN_DIGITS)
}

/** Equal for values that mean the same. */
function digestOf(value: unknown): string {
  const text = JSON.stringify(canonical(value)) ?? ''
  return createHash('sha256').update(text).digest('hex')
}

/** Fields that hold quantities by resource name. */
const QUANTITIES = new Set(['requests', 'limits', 'capacity', 'allocatable', 'hard', 'overhead'])

/** Keys sorted, nulls left out, quantities in one spelling. */
function canonical(value: unknown, field = ''): unknown {
  if (Array.isArray(value)) return value.map((element) => canonical(element))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
    .filter(([, child]) => child !== null && child !== undefined)
    .sort(([a], [b]) => compareBytes(a, b))
  const isQuantities = QUANTITIES.has(field)
  // A field named __proto__ is a field like any other.
  return Object.fromEntries(
    entries.map(([key, child]) => [
      key,
      isQuantities && isScalar(child) ? canonicalQuantity(String(child)) : canonical(child, key),
    ]),
  )
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number'
}
