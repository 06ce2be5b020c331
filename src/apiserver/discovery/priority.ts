/**
 * The order of groups and versions in discovery: kubectl takes the first that fits a name.
 *
 * Kubernetes' own groups come in the order of their priority, with `extensions` behind the groups
 * that its resources moved to; all others follow by name, as custom resources do.
 *
 * @see kubernetes/pkg/controlplane/apiserver/aggregator.go, apimachinery/pkg/version/helpers.go
 */

const BUILT_IN_GROUPS: readonly string[] = [
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
]

/** Is it one that kube-apiserver serves itself, the core group among them? */
export function isBuiltInGroup(group: string): boolean {
  return group === '' || BUILT_IN_GROUPS.includes(group)
}

export function compareGroups(a: string, b: string): number {
  return rankOf(a) - rankOf(b) || compareText(a, b)
}

function rankOf(group: string): number {
  const at = BUILT_IN_GROUPS.indexOf(group)
  return at < 0 ? BUILT_IN_GROUPS.length : at
}

/** GA before beta before alpha, then the higher number first; what is none of these last, by name. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)]
  if (!left || !right) return Number(!left) - Number(!right) || compareText(a, b)
  return right.stability - left.stability || right.major - left.major || right.minor - left.minor
}

const STABILITY: Readonly<Record<string, number>> = { alpha: 0, beta: 1, '': 2 }

function parse(version: string) {
  const match = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version)
  if (!match) return undefined
  const [, major, stage = '', minor = '0'] = match
  return { stability: STABILITY[stage]!, major: Number(major), minor: Number(minor) }
}

/** Byte order, for names that are ASCII. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
