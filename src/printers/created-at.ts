/** Kinds without columns of their own: NAME and CREATED AT, a time that never passes. */
import type { KubeObject } from '../kube/kube-object.ts'
import { timestamp } from '../kube/timestamp.ts'
import type { PrintersByResource } from './printer.ts'
import { fields, nameOf, timeOf, ZERO_TIMESTAMP } from './read-field.ts'

export const plainKinds: PrintersByResource = Object.fromEntries(
  [
    'limitranges',
    'roles.rbac.authorization.k8s.io',
    'clusterroles.rbac.authorization.k8s.io',
    'customresourcedefinitions.apiextensions.k8s.io',
  ].map((resource) => [resource, (object: KubeObject) => [nameOf(object), createdAtOf(object)]]),
)

/** Go's zero time when there is none. */
export function createdAtOf(object: KubeObject): string {
  const at = timeOf(fields(object.metadata).creationTimestamp)
  return at === undefined ? ZERO_TIMESTAMP : timestamp(at)
}
