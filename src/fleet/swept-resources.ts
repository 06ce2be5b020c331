/**
 * The resources that a sweep reads, by the names that blind spots are reported under.
 *
 * The list is closed on purpose: a blind spot in a report can only be one of these words.
 */
import type { GroupResource } from '../kube/group-resource.ts'

interface Swept {
  readonly group: string
  /** Best first; the first that a member serves is read. */
  readonly apiVersions: readonly string[]
  readonly namespaced: boolean
  /** Not read at all when the sweep is of one namespace. */
  readonly wholeClusterOnly?: true
  /** Always this namespace. */
  readonly fixedNamespace?: string
}

const core = (namespaced: boolean): Swept => ({ group: '', apiVersions: ['v1'], namespaced })
const inGroup = (group: string, versions: readonly string[], namespaced = true): Swept => ({
  group,
  apiVersions: versions.map((version) => `${group}/${version}`),
  namespaced,
})
const webhooks: Swept = {
  ...inGroup('admissionregistration.k8s.io', ['v1', 'v1beta1'], false),
  wholeClusterOnly: true,
}
const networking = inGroup('networking.k8s.io', ['v1', 'v1beta1'])

/** In the order in which they are read: the kinds that most checks need come first. */
export const SWEPT = {
  pods: core(true),
  deployments: inGroup('apps', ['v1']),
  replicasets: inGroup('apps', ['v1']),
  statefulsets: inGroup('apps', ['v1']),
  daemonsets: inGroup('apps', ['v1']),
  jobs: inGroup('batch', ['v1']),
  cronjobs: inGroup('batch', ['v1', 'v1beta1']),
  nodes: core(false),
  events: core(true),
  services: core(true),
  endpointslices: inGroup('discovery.k8s.io', ['v1', 'v1beta1']),
  ingresses: { ...networking, apiVersions: [...networking.apiVersions, 'extensions/v1beta1'] },
  persistentvolumeclaims: core(true),
  persistentvolumes: core(false),
  storageclasses: inGroup('storage.k8s.io', ['v1'], false),
  namespaces: core(false),
  poddisruptionbudgets: inGroup('policy', ['v1', 'v1beta1']),
  horizontalpodautoscalers: inGroup('autoscaling', ['v2', 'v2beta2']),
  validatingwebhookconfigurations: webhooks,
  mutatingwebhookconfigurations: webhooks,
  resourcequotas: core(true),
  networkpolicies: inGroup('networking.k8s.io', ['v1']),
  leases: {
    ...inGroup('coordination.k8s.io', ['v1', 'v1beta1']),
    fixedNamespace: 'kube-node-lease',
  },
} as const satisfies Readonly<Record<string, Swept>>

export type SweptResource = keyof typeof SWEPT

export const SWEPT_RESOURCES = Object.keys(SWEPT) as readonly SweptResource[]

export function sweptType(resource: SweptResource): Swept {
  return SWEPT[resource]
}

/** The stored type. */
export function groupResourceOf(resource: SweptResource): GroupResource {
  return { group: SWEPT[resource].group, resource }
}

/** What is read of a cluster, or of one namespace of it. */
export function resourcesAskedFor(namespace: string | undefined): readonly SweptResource[] {
  if (namespace === undefined) return SWEPT_RESOURCES
  return SWEPT_RESOURCES.filter((resource) => !sweptType(resource).wholeClusterOnly)
}
