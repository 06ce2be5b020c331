/**
 * Groups that kube-apiserver serves by itself, in any version since 1.9: what is in them is no
 * custom resource.
 *
 * In the order of their priority in discovery, with `extensions` behind the groups that its
 * resources moved to, and those that are gone from Kubernetes at the end.
 *
 * @see kubernetes/pkg/controlplane/apiserver/aggregator.go
 */
export const BUILT_IN_GROUPS: readonly string[] = [
  '',
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'extensions',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'resource.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'internal.apiserver.k8s.io',
  'storagemigration.k8s.io',
  'auditregistration.k8s.io',
  'settings.k8s.io',
]

const BUILT_IN: ReadonlySet<string> = new Set(BUILT_IN_GROUPS)

/** Where definitions cannot be read, the group is all that tells a custom resource. */
export function isBuiltInGroup(group: string): boolean {
  return BUILT_IN.has(group)
}
