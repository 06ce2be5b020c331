/**
 * No reader is shown a Ready cluster before this server knows its types: who has waited for Ready asks
 * for them at once.
 */
import type { JsonObject } from '../../kube/kube-object.ts'
import { isReady, type PediaCluster, type ResourceStatus } from '../../kube/pedia-cluster.ts'
import type { Catalog, CatalogCache } from '../catalog.ts'

/** @param clusters - PediaClusters that are about to be sent. */
export async function untilKnown(
  catalog: Pick<CatalogCache, 'current' | 'refresh'>,
  clusters: readonly JsonObject[],
): Promise<void> {
  const known = (cluster: JsonObject) =>
    isKnown(cluster as unknown as PediaCluster, catalog.current())
  if (!clusters.every(known)) await catalog.refresh()
}

function isKnown({ metadata, status }: PediaCluster, { clusters }: Catalog): boolean {
  if (!isReady({ status })) return true
  const found = clusters.find(({ registrationUid }) => registrationUid === metadata.uid)
  if (!found) return false
  const types = new Set(found.resources.map(({ group, resource }) => `${group}/${resource}`))
  return (status?.syncResources ?? []).every(({ group, resources }) =>
    resources.every((each) => !isSynced(each) || types.has(`${group}/${each.name}`)),
  )
}

function isSynced({ syncConditions }: ResourceStatus): boolean {
  return syncConditions.some(({ status }) => status === 'Syncing')
}
