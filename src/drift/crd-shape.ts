/** What of a CustomResourceDefinition is compared between clusters; v1 and v1beta1 alike. */
import type { KubeObject } from '../kube/kube-object.ts'
import { at, listAt, textAt } from './field.ts'
import { sortedTexts } from './order.ts'

export interface CrdShape {
  /** `<plural>.<group>`. */
  readonly name: string
  readonly scope: string
  /** In byte order. */
  readonly served: readonly string[]
  /** Undefined when none is marked. */
  readonly storage: string | undefined
  readonly established: boolean
  /** It is being deleted. */
  readonly terminating: boolean
  /** Of its schemas, normalised; undefined when they were not asked for. */
  readonly schemas?: string
}

/** Undefined for an object without a name. */
export function crdShape(crd: KubeObject): CrdShape | undefined {
  const name = textAt(crd, 'metadata', 'name')
  if (!name) return undefined
  const versions = listAt(crd, 'spec', 'versions')
  const only = textAt(crd, 'spec', 'version')
  // v1beta1 has one version beside the list, and the list may be left out.
  const single = versions.length === 0 && only !== undefined
  const served = versions.filter((version) => at(version, 'served') === true).map(nameOf)
  const stored = versions.find((version) => at(version, 'storage') === true)
  return {
    name,
    scope: textAt(crd, 'spec', 'scope') ?? '',
    served: single ? [only] : sortedTexts(new Set(served)),
    storage: single ? only : textAt(stored, 'name'),
    established: listAt(crd, 'status', 'conditions').some(isEstablished),
    terminating: textAt(crd, 'metadata', 'deletionTimestamp') !== undefined,
  }
}

function nameOf(version: unknown): string {
  return textAt(version, 'name') ?? ''
}

function isEstablished(condition: unknown): boolean {
  return textAt(condition, 'type') === 'Established' && textAt(condition, 'status') === 'True'
}
