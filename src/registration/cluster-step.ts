/**
 * Keeps the mirror's list of clusters in step with PediaClusters, in the transaction that writes one.
 *
 * So a reader never sees a cluster whose registration is gone, or a selector miss a new label.
 */
import type { JsonObject } from '../kube/kube-object.ts'
import {
  type ClusterTransaction,
  labelCluster,
  markClusterRemoved,
  registerClusterWithin,
} from '../store/clusters.ts'
import { field, isObject, sameJson } from './json-text.ts'
import type { RegistrationKind } from './kinds.ts'

export interface MetadataChange {
  /** Left out when the object is new. */
  readonly before?: JsonObject
  /** Left out when it was deleted. */
  readonly after?: JsonObject
}

export async function keepClusterInStep(
  transaction: ClusterTransaction,
  { resource }: RegistrationKind,
  { before, after }: MetadataChange,
): Promise<void> {
  if (resource !== 'pediaclusters') return
  if (!after) await markClusterRemoved(transaction, String(before?.uid))
  else if (!before) {
    await registerClusterWithin(transaction, {
      name: String(after.name),
      registrationUid: String(after.uid),
      labels: labelsOf(after),
    })
  } else if (!sameJson(before.labels, after.labels)) {
    await labelCluster(transaction, String(after.uid), labelsOf(after))
  }
}

function labelsOf(metadata: JsonObject): Readonly<Record<string, string>> {
  const labels = field(metadata, 'labels')
  if (!isObject(labels)) return {}
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, String(value)]))
}
