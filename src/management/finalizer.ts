/**
 * Our finalizer on PediaClusters: a deleted one stays until its rows are gone from answers, so that
 * whoever waits for the deletion knows that nobody reads them any more.
 */
import type { JsonObject } from '../kube/kube-object.ts'
import { metadataOf, nameOf } from '../registration/lifecycle.ts'
import { finalizersOf } from '../registration/validate-metadata.ts'
import { APPLY_PATCH, type ManagementClient, MERGE_PATCH, type RequestOptions } from './client.ts'
import { hasStatus } from './management-error.ts'
import { FIELD_MANAGER, PEDIA_CLUSTER_TYPE, PEDIA_CLUSTERS } from './pedia-clusters.ts'

export const FINALIZER = 'fleetglass.io/mirror'

export function isBeingDeleted(object: JsonObject): boolean {
  return metadataOf(object).deletionTimestamp !== undefined
}

/**
 * Puts the finalizer on a PediaCluster that lives, and takes it from one that is being deleted: to be
 * called when the store no longer shows it.
 *
 * @throws ManagementError, unless the object has changed meanwhile: then it comes again by the watch.
 */
export async function keepFinalizer(
  client: ManagementClient,
  cluster: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  const isThere = finalizersOf(metadataOf(cluster)).includes(FINALIZER)
  // Kubernetes lets none be added to what is being deleted.
  if (isThere !== isBeingDeleted(cluster)) return
  const patch = isThere ? without(cluster) : withFinalizer(cluster)
  try {
    await client.request('PATCH', `${PEDIA_CLUSTERS}/${nameOf(cluster)}`, { ...patch, signal })
  } catch (error) {
    if (!hasStatus(error, 404) && !hasStatus(error, 409)) throw error
  }
}

/**
 * Applied, so that an administrator can take it away by applying nothing as the same manager; with
 * the uid, so that nothing is created.
 */
function withFinalizer(cluster: JsonObject): RequestOptions {
  const { name, uid } = metadataOf(cluster)
  return {
    body: {
      ...PEDIA_CLUSTER_TYPE,
      metadata: { name, uid, finalizers: [FINALIZER] },
    },
    contentType: APPLY_PATCH,
    query: { fieldManager: FIELD_MANAGER, force: 'true' },
  }
}

/** Not applied: who else applied it, with a manifest that was exported, would keep it there. */
function without(cluster: JsonObject): RequestOptions {
  const { uid, resourceVersion, ...metadata } = metadataOf(cluster)
  const finalizers = finalizersOf(metadata).filter((one) => one !== FINALIZER)
  return {
    body: { metadata: { uid, resourceVersion, finalizers } },
    contentType: MERGE_PATCH,
    query: { fieldManager: FIELD_MANAGER },
  }
}
