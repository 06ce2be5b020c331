/**
 * A Kubernetes object as parsed JSON, for code that needs to look into one.
 *
 * What is stored and sent never passes through this: see sync/scan-object.ts.
 */

export type Json = string | number | bigint | boolean | null | readonly Json[] | JsonObject

export interface JsonObject {
  readonly [key: string]: Json | undefined
}

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
}

export interface ObjectMeta {
  readonly name?: string
  readonly generateName?: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly finalizers?: readonly string[]
}

export interface KubeObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: ObjectMeta
  readonly [field: string]: unknown
}

/** Where the name of the member cluster stands on every object that leaves this server. */
export const CLUSTER_ANNOTATION = 'shadow.clusterpedia.io/cluster-name'
/** What client-side `kubectl apply` leaves behind: dropped from what is mirrored. */
export const LAST_APPLIED_ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration'
