/**
 * The rights that a sync list needs on a member, and no others. Pure.
 *
 * Reading versions, discovery and OpenAPI needs none: every authenticated user has those.
 */
import { isBuiltInGroup } from '../kube/built-in-groups.ts'
import type { GroupResource } from '../kube/group-resource.ts'
import { storedAs } from '../kube/moved-resources.ts'

/** A rule of a ClusterRole or Role. */
export interface PolicyRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

export interface MemberRights {
  /** To be given in the whole cluster. */
  readonly cluster: readonly PolicyRule[]
  /** To be given in each mirrored namespace; empty when all namespaces are mirrored. */
  readonly namespaced: readonly PolicyRule[]
}

const FOLLOW = ['get', 'list', 'watch']

/** Tells one control plane from another that answers at the same address. */
const IDENTITY: PolicyRule = {
  ...{ apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] },
}
/** Columns of custom resources, and news of types that come and go. */
const DEFINITIONS: readonly PolicyRule[] = [
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: FOLLOW },
  { apiGroups: ['apiregistration.k8s.io'], resources: ['apiservices'], verbs: FOLLOW },
]

/**
 * @param types - `*` as a group or a resource means all.
 * @param isClusterScoped - of a type: it cannot be given in a namespace.
 */
export function memberRights(
  types: readonly GroupResource[],
  {
    byNamespace,
    isClusterScoped,
  }: {
    readonly byNamespace: boolean
    readonly isClusterScoped: (type: GroupResource) => boolean
  },
): MemberRights {
  const stored = types.map(storedAs)
  const everywhere = stored.filter((type) => !byNamespace || isClusterScoped(type))
  const inNamespaces = stored.filter((type) => byNamespace && !isClusterScoped(type))
  const custom = stored.some(({ group }) => group === '*' || !isBuiltInGroup(group))
  const seesNamespaces = covers(everywhere, { group: '', resource: 'namespaces' })
  return {
    cluster: [
      ...rulesFor(everywhere),
      ...(seesNamespaces ? [] : [IDENTITY]),
      ...(custom && !covers(everywhere, { group: '*', resource: '*' }) ? DEFINITIONS : []),
    ],
    namespaced: rulesFor(inNamespaces),
  }
}

function covers(types: readonly GroupResource[], { group, resource }: GroupResource): boolean {
  return types.some(
    (type) =>
      (type.group === '*' || type.group === group) &&
      (type.resource === '*' || type.resource === resource),
  )
}

/** One rule for each group; what `*` covers is not named again. */
function rulesFor(types: readonly GroupResource[]): PolicyRule[] {
  const byGroup = new Map<string, Set<string>>()
  for (const { group, resource } of types) {
    byGroup.set(group, (byGroup.get(group) ?? new Set()).add(resource))
  }
  return [...byGroup]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, resources]) => ({
      apiGroups: [group],
      resources: resources.has('*') ? ['*'] : [...resources].sort(),
      verbs: FOLLOW,
    }))
}
