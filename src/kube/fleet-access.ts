/** `FleetAccess`, fleetglass.io/v1alpha1: who may read what. crds/ has the schema. */
import type { KubeObject, ObjectMeta } from './kube-object.ts'

export const ACCESS_GROUP = 'fleetglass.io'
export const ACCESS_VERSION = 'v1alpha1'

export interface AccessSubject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  readonly name: string
  /** Of a ServiceAccount. */
  readonly namespace?: string
}

/** Every list must be given; `['*']` spells "all", an empty list grants nothing. */
export interface AccessRule {
  /** Names or globs (`prod-*`); exactly one of `clusters` and `clusterSelector` is given. */
  readonly clusters?: readonly string[]
  /** A selector over the labels of PediaClusters. */
  readonly clusterSelector?: {
    readonly matchLabels?: Readonly<Record<string, string>>
    readonly matchExpressions?: ReadonlyArray<{
      readonly key: string
      readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
      readonly values?: readonly string[]
    }>
  }
  /** Names, or `*`: only `*` covers cluster-scoped resources. */
  readonly namespaces: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  /** `get`, `list`, `watch`, or `*` for these three. */
  readonly verbs?: readonly string[]
}

export interface FleetAccess extends KubeObject {
  readonly metadata: ObjectMeta & { readonly name: string }
  readonly spec: {
    readonly subjects: readonly AccessSubject[]
    readonly rules: readonly AccessRule[]
  }
}
