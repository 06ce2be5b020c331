/**
 * What is mirrored, as requests see it: which clusters there are, and which types each has.
 *
 * Kept in memory and made anew after every change (store/catalog.ts tells), so that no request
 * asks the database for it. One value never changes: what is derived from it can be kept beside it.
 */
import type { GroupVersionResource } from '../kube/group-resource.ts'
import type { ColumnDefinition } from '../kube/table.ts'

/** One type of one cluster: what its discovery says. */
export interface ClusterResource {
  /** As it is stored (kube/moved-resources.ts). */
  readonly typeId: number
  readonly group: string
  readonly resource: string
  readonly kind: string
  readonly listKind: string
  readonly singularName: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  /** The one it is listed in: `networking.k8s.io/v1beta1`. */
  readonly apiVersion: string
  /** Every apiVersion the member serves it in, best first. */
  readonly servedVersions: readonly string[]
  readonly columnsId: number | null
}

export interface CatalogCluster {
  readonly id: number
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** The member's /version document, as it sent it. */
  readonly version: string | null
  readonly staleReason: string | null
  readonly staleSince: Date | null
  readonly resources: readonly ClusterResource[]
}

export interface Catalog {
  /** Live ones, sorted by name. */
  readonly clusters: readonly CatalogCluster[]
  readonly columnSets: ReadonlyMap<number, readonly ColumnDefinition[]>
}

/** A type as one cluster has it. */
export interface ServedResource {
  readonly cluster: CatalogCluster
  readonly resource: ClusterResource
  /** False when this member does not serve the version that was asked for. */
  readonly servesVersion: boolean
}

/** The type that a request asks for, and where it is. */
export interface FoundType {
  /** As it is stored: a moved type has the group it is known by here (kube/moved-resources.ts). */
  readonly id: number
  readonly group: string
  readonly resource: string
  readonly namespaced: boolean
  readonly kind: string
  readonly listKind: string
  /** Every asked cluster that has the type, in whatever version, sorted by name; at least one. */
  readonly served: readonly ServedResource[]
}

/**
 * `group-unknown` is answered with the text `404 page not found`, `resource-unknown` with a
 * Status: so does kube-apiserver.
 */
export type Resolution =
  | { readonly found: FoundType }
  | { readonly found: undefined; readonly because: 'group-unknown' | 'resource-unknown' }

export interface CatalogCache {
  /** The same object until something changes. */
  current(): Catalog
  /**
   * Looks a type up as a path names it, among the clusters given: those that the reader may see.
   *
   * Found when at least one of them serves it in that group and version.
   */
  resolve(wanted: GroupVersionResource, among: ReadonlyArray<{ readonly id: number }>): Resolution
  /** Stops listening to changes. */
  close(): Promise<void>
}
