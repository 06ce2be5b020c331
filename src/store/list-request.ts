/** What may be asked of the store: the vocabulary between selectors (kube/, apiserver/) and SQL. */
import type { Position } from '../kube/continue-token.ts'
import type { FieldPath } from '../kube/field-selector.ts'
import type { GroupResource } from '../kube/group-resource.ts'
import type { SearchCondition } from '../kube/search.ts'
import type { ReadScope } from './read-scope.ts'

/** An object that may own others: store/owners.ts. */
export interface Owner {
  readonly clusterId: number
  /** `''` when it is cluster-scoped. */
  readonly namespace: string
  readonly uid: string
}

/**
 * All must hold: a search whose owners were looked up. Conditions on clusters are not here: they
 * narrow the scope.
 */
export type ObjectCondition =
  | Exclude<SearchCondition, { readonly on: 'owner' }>
  /** One of these owns the object, which is in the owner's namespace or the owner in none. */
  | { readonly on: 'owner'; readonly owners: readonly Owner[] }

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
