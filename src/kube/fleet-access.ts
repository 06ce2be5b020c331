/** `FleetAccess`, fleetglass.io/v1alpha1: who may read what. Its fields: crds/. */
import type { FleetAccessSpec } from './crd-types.ts'
import type { KubeObject, ObjectMeta } from './kube-object.ts'

export const ACCESS_GROUP = 'fleetglass.io'
export const ACCESS_VERSION = 'v1alpha1'

export type { AccessRule, AccessSubject } from './crd-types.ts'

export interface FleetAccess extends KubeObject {
  readonly metadata: ObjectMeta & { readonly name: string }
  readonly spec: FleetAccessSpec
}
