/** What may be asked of the store: the vocabulary between selectors (kube/, apiserver/) and SQL. */
import type { FieldPath, FieldRequirement } from '../kube/field-selector.ts'
import type { GroupResource } from '../kube/group-resource.ts'
import type { LabelRequirement } from '../kube/label-selector.ts'
import type { ReadScope } from './read-scope.ts'

/** An object that may own others: store/owners.ts. */
export interface Owner {
  readonly clusterId: number
  /** `''` when it is cluster-scoped. */
  readonly namespace: string
  readonly uid: string
}

/** All must hold. Conditions on clusters are not here: they narrow the scope. */
export type ObjectCondition =
  | {
      readonly on: 'namespace' | 'name'
      readonly operator: 'In' | 'NotIn'
      readonly values: readonly string[]
    }
  /** The name contains every one of the texts, literally and with case. */
  | { readonly on: 'fuzzy-name'; readonly contains: readonly string[] }
  /** Created in `[since, before)`. */
  | { readonly on: 'created'; readonly since?: Date; readonly before?: Date }
  /** One of these owns the object, which is in the owner's namespace or the owner in none. */
  | { readonly on: 'owner'; readonly owners: readonly Owner[] }
  | { readonly on: 'label'; readonly requirement: LabelRequirement }
  | { readonly on: 'field'; readonly requirement: FieldRequirement }

export interface OrderKey {
  readonly by:
    | 'cluster'
    | 'namespace'
    | 'name'
    | 'created_at'
    | 'resource_version'
    /** By the number it has in the store: for what must be total over several types. */
    | 'type'
    | FieldPath
  readonly descending: boolean
}

/** The place of one row in an order: the values of the order's keys, then the row's own key. */
export interface Position {
  /** One text per {@link OrderKey}; null sorts last. */
  readonly values: ReadonlyArray<string | null>
  readonly cluster: string
  readonly namespace: string
  readonly name: string
}

/** What part of an answer is asked for, in which order. */
export interface PageRequest {
  readonly conditions: readonly ObjectCondition[]
  /** Empty: cluster, namespace, name. The row's key always breaks ties. */
  readonly order: readonly OrderKey[]
  readonly after?: Position
  readonly offset?: number
  /** Left out: all of them. */
  readonly limit?: number
  /** What is read of each row; the rest is not fetched. */
  readonly want: { readonly cells: boolean; readonly metadata: boolean; readonly body: boolean }
}

export interface ListRequest extends PageRequest {
  /** The stored type (kube/moved-resources.ts). */
  readonly type: GroupResource & { readonly id: number }
  readonly scope: ReadScope
}

/** One row as it lies in the store: slices of the buffer that PostgreSQL's answer arrived in. */
export interface RawRow {
  readonly clusterId: number
  readonly apiVersion: string
  readonly columnsId: number
  /** Undefined unless wanted. */
  readonly cells?: Buffer
  readonly head?: Buffer
  readonly metadata?: Buffer
  readonly tail?: Buffer
  /** Where a next page would go on after this row. */
  readonly position: () => Position
}
