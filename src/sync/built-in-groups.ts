/** Groups that kube-apiserver serves by itself, in any version since 1.9: no custom resources. */
const BUILT_IN: ReadonlySet<string> = new Set([
  '',
  'apps',
  'autoscaling',
  'batch',
  'extensions',
  'policy',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'auditregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'internal.apiserver.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'rbac.authorization.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
  'settings.k8s.io',
  'storage.k8s.io',
  'storagemigration.k8s.io',
])

/** Where definitions cannot be read, the group is all that tells a custom resource. */
export function isBuiltInGroup(group: string): boolean {
  return BUILT_IN.has(group)
}
