/** Rules and a request → the clusters and namespaces that a query may touch. */
import type { AccessRule } from '../../kube/fleet-access.ts'
import type { ReadScope, ScopedCluster } from '../../store/read-scope.ts'
import type { CatalogCluster, ClusterResource } from '../catalog.ts'
import type { ScopeRequest } from './access.ts'
import {
  coversClusterName,
  coversEveryNamespace,
  coversNamespace,
  mayCoverClusters,
} from './rule.ts'

/** Which rules hold for a cluster; create-access.ts remembers it for as long as a catalog lives. */
export type CoversCluster = (rule: AccessRule, cluster: CatalogCluster) => boolean

export interface Granted {
  /** Those that speak of the reader, the verb and the type. */
  readonly rules: readonly AccessRule[]
  readonly clusters: readonly CatalogCluster[]
  readonly covers: CoversCluster
  /** The type in one cluster, if it is mirrored there. */
  readonly typeIn: (cluster: CatalogCluster) => ClusterResource | undefined
}

/** The scope, or `refused` when no rule grants any of what was asked. */
export function compileScope(
  granted: Granted,
  request: Pick<ScopeRequest, 'clusters' | 'namespace'>,
): ReadScope | 'refused' {
  const asked = askedClusters(granted.clusters, request.clusters)
  const scope: ScopedCluster[] = []
  let clusterScopedSeen = false
  for (const cluster of asked) {
    const rules = granted.rules.filter((rule) => granted.covers(rule, cluster))
    // kubectl names a namespace when it asks about rights to nodes, too: it says nothing there.
    const isClusterScoped = granted.typeIn(cluster)?.namespaced === false
    const namespaces = namespacesOf(rules, isClusterScoped ? undefined : request.namespace)
    if (namespaces === undefined) continue
    if (isClusterScoped && namespaces !== 'every-namespace') {
      clusterScopedSeen = true
      continue
    }
    scope.push({ id: cluster.id, name: cluster.name, namespaces })
  }
  if (scope.length > 0) return scope
  return !clusterScopedSeen && mightGrant(granted.rules, request) ? scope : 'refused'
}

function askedClusters(
  live: readonly CatalogCluster[],
  asked: ScopeRequest['clusters'],
): readonly CatalogCluster[] {
  if (asked === 'every-cluster') return live
  const names = new Set(asked)
  return live.filter(({ name }) => names.has(name))
}

/** The union over the rules; undefined when they grant none of what was asked. */
function namespacesOf(
  rules: readonly AccessRule[],
  asked: string | undefined,
): ScopedCluster['namespaces'] | undefined {
  if (asked !== undefined) {
    return rules.some((rule) => coversNamespace(rule, asked)) ? [asked] : undefined
  }
  if (rules.some(coversEveryNamespace)) return 'every-namespace'
  const names = new Set(rules.flatMap((rule) => rule.namespaces))
  return names.size === 0 ? undefined : [...names].sort()
}

/**
 * Is there a rule by which the reader may ask this, though no such cluster is there now?
 *
 * It goes by names alone: a reader whose clusters are chosen by labels cannot be told that a
 * cluster does not exist, for it could be one with other labels.
 */
function mightGrant(
  rules: readonly AccessRule[],
  { clusters, namespace }: Pick<ScopeRequest, 'clusters' | 'namespace'>,
): boolean {
  return rules.some(
    (rule) =>
      (namespace === undefined ? rule.namespaces.length > 0 : coversNamespace(rule, namespace)) &&
      (clusters === 'every-cluster'
        ? mayCoverClusters(rule)
        : clusters.some((name) => coversClusterName(rule, name))),
  )
}
