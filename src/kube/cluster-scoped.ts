/** Built-in types that are in no namespace, for what is decided without a cluster to ask. */
import type { GroupResource } from './group-resource.ts'

/** By group; `*` is every type of the group. */
const CLUSTER_SCOPED: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['', new Set(['componentstatuses', 'namespaces', 'nodes', 'persistentvolumes'])],
  ['admissionregistration.k8s.io', new Set(['*'])],
  ['apiextensions.k8s.io', new Set(['*'])],
  ['apiregistration.k8s.io', new Set(['*'])],
  ['certificates.k8s.io', new Set(['*'])],
  ['flowcontrol.apiserver.k8s.io', new Set(['*'])],
  ['metrics.k8s.io', new Set(['nodes'])],
  ['networking.k8s.io', new Set(['ingressclasses', 'ipaddresses', 'servicecidrs'])],
  ['node.k8s.io', new Set(['*'])],
  ['policy', new Set(['podsecuritypolicies'])],
  ['rbac.authorization.k8s.io', new Set(['clusterroles', 'clusterrolebindings'])],
  ['resource.k8s.io', new Set(['deviceclasses', 'resourceslices', 'devicetaintrules'])],
  ['scheduling.k8s.io', new Set(['*'])],
  [
    'storage.k8s.io',
    new Set([
      'csidrivers',
      'csinodes',
      'storageclasses',
      'volumeattachments',
      'volumeattributesclasses',
    ]),
  ],
  ['storagemigration.k8s.io', new Set(['*'])],
])

/** False for custom types: only their cluster knows. */
export function isClusterScoped({ group, resource }: GroupResource): boolean {
  const types = CLUSTER_SCOPED.get(group)
  return types?.has('*') === true || types?.has(resource) === true
}
