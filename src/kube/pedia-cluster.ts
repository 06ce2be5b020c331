/** `PediaCluster` and `ClusterSyncResources`, cluster.clusterpedia.io/v1alpha2: crds/ has the schema. */
import type { KubeObject, ObjectMeta } from './kube-object.ts'

export const CLUSTER_GROUP = 'cluster.clusterpedia.io'
export const CLUSTER_VERSION = 'v1alpha2'

/** Which resources to mirror. `*` in `resources` is all of the group; `*` in `group` all groups. */
export interface SyncGroupResources {
  readonly group: string
  /** Versions to choose from; left out, the choice is ours. */
  readonly versions?: readonly string[]
  readonly resources: readonly string[]
  /** Events about these resources of the group are mirrored, even if events as such are not. */
  readonly eventsInvolvedResources?: readonly string[]
}

/** One value of a Secret in the server's own namespace of the management cluster. */
export interface SecretKey {
  readonly name: string
  readonly key: string
}

/** In place of the fields of the same meaning. */
export interface AuthenticationFrom {
  readonly kubeconfig?: SecretKey
  readonly ca?: SecretKey
  readonly token?: SecretKey
  readonly cert?: SecretKey
  readonly key?: SecretKey
}

export interface PediaClusterSpec {
  /** base64 of a kubeconfig. It may hold credentials inline only, no paths and no `exec`. */
  readonly kubeconfig?: string
  /** URL of the member's API server, http or https; a path is kept. */
  readonly apiserver?: string
  readonly caData?: string
  readonly tokenData?: string
  readonly certData?: string
  readonly keyData?: string
  readonly authenticationFrom?: AuthenticationFrom
  readonly syncResources?: readonly SyncGroupResources[]
  readonly syncAllCustomResources?: boolean
  /** Name of a ClusterSyncResources whose list is added to `syncResources`. */
  readonly syncResourcesRefName?: string
  readonly excludeResources?: readonly SyncGroupResources[]
  /** Namespaces to mirror; left out, all. */
  readonly namespaces?: readonly string[]
  readonly shardingName?: string
}

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  /** RFC 3339, seconds: moves only when `status` does. */
  readonly lastTransitionTime: string
}

export type SyncStatus = 'Pending' | 'Syncing' | 'Stop' | 'Unknown' | 'Error'

export interface SyncCondition {
  readonly version: string
  readonly syncVersion?: string
  readonly syncResource?: string
  readonly storageVersion?: string
  readonly storageResource?: string
  readonly status: SyncStatus
  readonly reason?: string
  readonly message?: string
  readonly initialListPhase?: boolean
  readonly lastTransitionTime: string
}

export interface ResourceStatus {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly syncConditions: readonly SyncCondition[]
}

export interface PediaClusterStatus {
  readonly apiserver?: string
  readonly version?: string
  readonly shardingName?: string
  readonly conditions?: readonly Condition[]
  readonly syncResources?: ReadonlyArray<{
    readonly group: string
    readonly resources: readonly ResourceStatus[]
  }>
}

export interface PediaCluster extends KubeObject {
  readonly metadata: ObjectMeta & { readonly name: string; readonly uid: string }
  readonly spec: PediaClusterSpec
  readonly status?: PediaClusterStatus
}

export interface ClusterSyncResources extends KubeObject {
  readonly metadata: ObjectMeta & { readonly name: string }
  readonly spec: { readonly syncResources: readonly SyncGroupResources[] }
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

export function skipsVerify({ annotations }: ObjectMeta): boolean {
  return annotations?.[SKIP_VERIFY_ANNOTATION] === 'true'
}
