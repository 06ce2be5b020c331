/** What documents about types may show to one reader. */
import type { AccessRule } from '../../kube/fleet-access.ts'
import type { CatalogCluster, ClusterResource } from '../catalog.ts'
import type { VisibleCluster } from './access.ts'
import { coversEveryNamespace, coversType, verbsOf } from './rule.ts'
import type { CoversCluster } from './scope.ts'

/** Clusters that any rule of the reader covers, with the types they may get or list there. */
export function visibleClusters(
  rules: readonly AccessRule[],
  clusters: readonly CatalogCluster[],
  covers: CoversCluster,
): readonly VisibleCluster[] {
  const visible: VisibleCluster[] = []
  for (const cluster of clusters) {
    const holding = rules.filter((rule) => covers(rule, cluster))
    if (holding.length === 0) continue
    const resources = cluster.resources.filter((resource) =>
      holding.some((rule) => showsType(rule, resource)),
    )
    visible.push({ cluster, resources })
  }
  return visible
}

function showsType(rule: AccessRule, resource: ClusterResource): boolean {
  if (!coversType(rule, resource)) return false
  if (!verbsOf(rule).some((verb) => verb === 'get' || verb === 'list')) return false
  return resource.namespaced ? rule.namespaces.length > 0 : coversEveryNamespace(rule)
}
