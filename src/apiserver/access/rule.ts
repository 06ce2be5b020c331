/**
 * What one rule of a FleetAccess speaks of: which clusters, types, verbs and namespaces.
 *
 * Nothing means "all" by being empty: an empty list, an empty selector or an operator that is not
 * known grants nothing.
 */
import type { AccessRule } from '../../kube/fleet-access.ts'
import { matchesGlob } from '../../kube/glob.ts'
import type { GroupResource } from '../../kube/group-resource.ts'
import { storedAs } from '../../kube/moved-resources.ts'

/** All that anyone can do with a mirrored object. */
export const READ_VERBS: readonly string[] = ['get', 'list', 'watch']

/** What `*` in a rule's verbs, or leaving them out, stands for. Nothing else can be granted. */
export function verbsOf(rule: AccessRule): readonly string[] {
  const given = rule.verbs ?? READ_VERBS
  return given.includes('*') ? READ_VERBS : READ_VERBS.filter((verb) => given.includes(verb))
}

/**
 * Does the rule speak of this type? A type that Kubernetes moved is one type, whichever of its
 * groups the rule or the reader names: `extensions` grants the ingresses of `networking.k8s.io`.
 */
export function coversType(rule: AccessRule, type: GroupResource): boolean {
  const { resource } = type
  if (!rule.resources.includes('*') && !rule.resources.includes(resource)) return false
  const stored = storedAs(type)
  return rule.apiGroups.some(
    (group) => group === '*' || storedAs({ group, resource }).group === stored.group,
  )
}

export function coversEveryNamespace(rule: AccessRule): boolean {
  return rule.namespaces.includes('*')
}

export function coversNamespace(rule: AccessRule, namespace: string): boolean {
  return coversEveryNamespace(rule) || rule.namespaces.includes(namespace)
}

/** Would a cluster of this name be in the rule, whatever its labels, whether it exists or not? */
export function coversClusterName(rule: AccessRule, name: string): boolean {
  if (rule.clusterSelector !== undefined) return false
  return rule.clusters?.some((pattern) => matchesGlob(pattern, name)) ?? false
}

/** Could there be a cluster in the rule at all? */
export function mayCoverClusters({ clusters, clusterSelector }: AccessRule): boolean {
  if (clusters !== undefined && clusters.length === 0) return false
  if (clusterSelector === undefined) return clusters !== undefined
  const { matchLabels = {}, matchExpressions = [] } = clusterSelector
  return Object.keys(matchLabels).length + matchExpressions.length > 0
}

export function coversCluster(
  rule: AccessRule,
  cluster: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
): boolean {
  const { clusters, clusterSelector } = rule
  if (clusters === undefined && clusterSelector === undefined) return false
  if (clusters !== undefined && !clusters.some((glob) => matchesGlob(glob, cluster.name))) {
    return false
  }
  return clusterSelector === undefined || matchesSelector(clusterSelector, cluster.labels)
}

type ClusterSelector = NonNullable<AccessRule['clusterSelector']>
type Expression = NonNullable<ClusterSelector['matchExpressions']>[number]

function matchesSelector(
  { matchLabels = {}, matchExpressions = [] }: ClusterSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  const wanted = Object.entries(matchLabels)
  if (wanted.length === 0 && matchExpressions.length === 0) return false
  return (
    wanted.every(([key, value]) => labelOf(labels, key) === value) &&
    matchExpressions.every((expression) => matchesExpression(expression, labels))
  )
}

/** As Kubernetes does: `NotIn` also holds for a cluster that lacks the label. */
function matchesExpression(
  { key, operator, values = [] }: Expression,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labelOf(labels, key)
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      return false
  }
}

function labelOf(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined
}
