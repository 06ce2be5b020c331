/**
 * An object without what differs between clusters by nature, so that what is left can be compared.
 *
 * Owns     what a server fills in, defaults that are spelled in several ways, the order of keys.
 * The order of lists stays: of containers, arguments and rules it has a meaning.
 */
import { createHash } from 'node:crypto'
import { compareBytes } from '../kube/byte-order.ts'
import { CLUSTER_ANNOTATION, LAST_APPLIED_ANNOTATION } from '../kube/kube-object.ts'
import { type Fields, fieldsIn } from './field.ts'
import { canonicalQuantity } from './quantity.ts'

const SERVER_METADATA = [
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'generation',
  'managedFields',
  'selfLink',
  'ownerReferences',
]
const SERVER_ANNOTATIONS = [
  CLUSTER_ANNOTATION,
  LAST_APPLIED_ANNOTATION,
  'deployment.kubernetes.io/revision',
]
/** Given out by the cluster. */
const SERVER_SPEC: Readonly<Record<string, readonly string[]>> = {
  Service: ['clusterIP', 'clusterIPs', 'healthCheckNodePort'],
}

/** A copy whose JSON text is the same for objects that mean the same. */
export function normalised(object: Fields): Fields {
  const { status: _, metadata, spec, ...rest } = object
  const annotations = without(fieldsIn(fieldsIn(metadata).annotations), SERVER_ANNOTATIONS)
  const kept = without(fieldsIn(metadata), [...SERVER_METADATA, 'annotations'])
  const ownSpec = SERVER_SPEC[String(object.kind)] ?? []
  return canonical({
    ...rest,
    metadata: { ...kept, ...(Object.keys(annotations).length > 0 && { annotations }) },
    ...(spec !== undefined && {
      spec: ownSpec.length > 0 ? without(fieldsIn(spec), ownSpec) : spec,
    }),
  }) as Fields
}

/** Equal for values that mean the same. */
export function digestOf(value: unknown): string {
  const text = JSON.stringify(canonical(value)) ?? ''
  return createHash('sha256').update(text).digest('hex')
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
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
