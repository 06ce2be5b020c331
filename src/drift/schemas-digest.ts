/** The schemas of a CustomResourceDefinition as one text: equal for schemas that say the same. */
import type { KubeObject } from '../kube/kube-object.ts'
import { at, listAt, textAt } from './field.ts'
import { digestOf } from './normalise.ts'
import { sortedBy } from './order.ts'

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
