/** `PediaCluster` and `ClusterSyncResources`, cluster.clusterpedia.io/v1alpha2. Their fields: crds/. */
import type { ClusterSyncResourcesSpec, PediaClusterSpec, PediaClusterStatus } from './crd-types.ts'
import type { KubeObject, ObjectMeta } from './kube-object.ts'

export const CLUSTER_GROUP = 'cluster.clusterpedia.io'
export const CLUSTER_VERSION = 'v1alpha2'
export const CLUSTER_API_VERSION = `${CLUSTER_GROUP}/${CLUSTER_VERSION}`

export type {
  Condition,
  PediaClusterSpec,
  PediaClusterStatus,
  ResourceStatus,
  SyncCondition,
  SyncGroupResources,
} from './crd-types.ts'

/** What a SyncCondition's status is, as we write it. */
export type SyncStatus = 'Pending' | 'Syncing' | 'Stop' | 'Unknown' | 'Error'

export interface PediaCluster extends KubeObject {
  readonly metadata: ObjectMeta & { readonly name: string; readonly uid: string }
  readonly spec: PediaClusterSpec
  readonly status?: PediaClusterStatus
}

export interface ClusterSyncResources extends KubeObject {
  readonly metadata: ObjectMeta & { readonly name: string }
  readonly spec: ClusterSyncResourcesSpec
}

/**
 * A registration as its reader takes it: the schemas let a spec be left out, and one such object
 * must not end who reads them all.
 */
export function withSpec<T extends { readonly spec?: unknown }>(object: T): T {
  return object.spec ? object : { ...object, spec: {} }
}

/** Set to `"true"` on a PediaCluster: its mirror is kept and served as it is, and not updated. */
export const PAUSED_ANNOTATION = 'fleetglass.io/paused'
/** Only as stored here, of a management cluster's: why the Secrets that it names yield no credentials. */
export const UNRESOLVED_ANNOTATION = 'fleetglass.io/unresolved-credentials'
/** On registrations that `--import-kubeconfig` made: the context that they follow. */
export const IMPORTED_ANNOTATION = 'fleetglass.io/imported-context'

/**
 * Set to `"true"` on a PediaCluster: the certificate of its API server is not verified, and whoever
 * answers at the address gets the credentials.
 */
export const SKIP_VERIFY_ANNOTATION = 'fleetglass.io/insecure-skip-tls-verify'

/** Whether everything that is wanted of the cluster is mirrored, and in step. */
export function isReady({ status }: { readonly status?: PediaClusterStatus | undefined }): boolean {
  return status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false
}

export function skipsVerify({ annotations }: ObjectMeta): boolean {
  return annotations?.[SKIP_VERIFY_ANNOTATION] === 'true'
}
