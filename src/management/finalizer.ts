/**
 * Our finalizer on PediaClusters: a deleted one stays until its rows are gone from answers, so that
 * whoever waits for the deletion knows that nobody reads them any more.
 */
import type { JsonObject } from '../kube/kube-object.ts'
import { metadataOf, nameOf } from '../registration/lifecycle.ts'
import { finalizersOf } from '../registration/validate-metadata.ts'
import { type ManagementClient, MERGE_PATCH } from './client.ts'
import { hasStatus } from './management-error.ts'

export const FINALIZER = 'fleetglass.io/mirror'
/** Who owns what we write to objects of the management cluster. */
export const FIELD_MANAGER = 'fleetglass'
export const PEDIA_CLUSTERS = '/apis/cluster.clusterpedia.io/v1alpha2/pediaclusters'

export function isBeingDeleted(object: JsonObject): boolean {
  return metadataOf(object).deletionTimestamp !== undefined
}

/** Undefined when the finalizer is as it should be. */
function wantedFinalizers(cluster: JsonObject): readonly string[] | undefined {
  const present = finalizersOf(metadataOf(cluster))
  const isThere = present.includes(FINALIZER)
  // Kubernetes lets none be added to what is being deleted.
  if (isBeingDeleted(cluster))
    return isThere ? present.filter((one) => one !== FINALIZER) : undefined
  return isThere ? undefined : [...present, FINALIZER]
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
  const finalizers = wantedFinalizers(cluster)
  if (!finalizers) return
  const { resourceVersion, uid } = metadataOf(cluster)
  try {
    await client.request('PATCH', `${PEDIA_CLUSTERS}/${nameOf(cluster)}`, {
      body: { metadata: { finalizers, resourceVersion, uid } },
      contentType: MERGE_PATCH,
      query: { fieldManager: FIELD_MANAGER },
      signal,
    })
  } catch (error) {
    if (!hasStatus(error, 404) && !hasStatus(error, 409)) throw error
  }
}
