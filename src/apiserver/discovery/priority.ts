/**
 * The order of groups in discovery: kubectl takes the first that fits a name.
 *
 * Kubernetes' own come in the order of their priority; all others follow by name, as custom
 * resources do.
 */
import { BUILT_IN_GROUPS } from '../../kube/built-in-groups.ts'
import { compareBytes } from '../../kube/byte-order.ts'

export function compareGroups(a: string, b: string): number {
  return rankOf(a) - rankOf(b) || compareBytes(a, b)
}

function rankOf(group: string): number {
  const at = BUILT_IN_GROUPS.indexOf(group)
  return at < 0 ? BUILT_IN_GROUPS.length : at
}
