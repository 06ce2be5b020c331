/** What registrations ask to be mirrored: so that "not served" is not taken for "not asked for". */
import type { MirrorWishes } from '../../fleet/mirrored-cluster.ts'
import {
  CLUSTER_GROUP,
  type ClusterSyncResources,
  type PediaCluster,
  withSpec,
} from '../../kube/pedia-cluster.ts'
import type { Store } from '../../store/connect.ts'
import { allRegistrations } from '../../store/registrations.ts'
import { wantsType } from '../../sync/sync-list.ts'

type WishesByCluster = (cluster: string) => MirrorWishes | undefined

export async function storedWishes(store: Store): Promise<WishesByCluster> {
  const all = await allRegistrations(store)
  const ofKind = (resource: string) =>
    all
      .filter((one) => one.group === CLUSTER_GROUP && one.resource === resource)
      .map(({ object }) => JSON.parse(object))
  return wishesIn(ofKind('pediaclusters'), ofKind('clustersyncresources'))
}

function wishesIn(
  clusters: readonly PediaCluster[],
  templates: readonly ClusterSyncResources[],
): WishesByCluster {
  const templateOf = new Map(
    templates.map(withSpec).map(({ metadata, spec }) => [metadata.name, spec.syncResources]),
  )
  const wishes = new Map(
    clusters.map(withSpec).map(({ metadata, spec }) => [metadata.name, wishesOf(spec, templateOf)]),
  )
  return (cluster) => wishes.get(cluster)
}

function wishesOf(
  spec: PediaCluster['spec'],
  templates: ReadonlyMap<string, ClusterSyncResources['spec']['syncResources']>,
): MirrorWishes {
  const list = {
    wanted: [
      ...(spec.syncResources ?? []),
      ...(templates.get(spec.syncResourcesRefName ?? '') ?? []),
    ],
    excluded: spec.excludeResources ?? [],
    allCustomResources: spec.syncAllCustomResources ?? false,
  }
  return {
    wants: (type) => wantsType(list, type),
    namespaces: spec.namespaces?.length ? spec.namespaces : undefined,
  }
}
