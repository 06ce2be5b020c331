/**
 * One type of one cluster: what its discovery says, how its sync goes and how far it is.
 *
 * The sync position itself moves in put-objects.ts, with what it covers.
 */
import { sql } from 'kysely'
import type { GroupResource } from '../kube/group-resource.ts'
import type { SyncStatus } from '../kube/pedia-cluster.ts'
import type { Store } from './connect.ts'
import { type FencedTransaction, FLUSHED, type Lease, StoreWentBack, underLease } from './leases.ts'
import { notifyCatalogChangeBy } from './notifications.ts'

export interface ClusterResource {
  readonly typeId: number
  readonly kind: string
  readonly listKind: string
  readonly singularName: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  /** The one it is listed in. */
  readonly apiVersion: string
  /** Every apiVersion the member serves it in, best first. */
  readonly servedVersions: readonly string[]
  /** Of the newest rows. */
  readonly columnsId?: number
  /** What of the member the rows hold; equal texts hold the same. Left out: all, as it comes. */
  readonly covers?: string
}

/** Where a watch goes on, and which control plane the resourceVersion belongs to. */
export interface SyncPosition {
  readonly resourceVersion: string
  readonly controlPlaneUid: string
}

/** As it is in the store, with the type's name. */
export interface StoredClusterResource extends ClusterResource, GroupResource {
  readonly clusterId: number
  readonly status: SyncStatus
  readonly reason: string
  readonly message: string
  readonly changedAt: Date
  /** Undefined: no list was completed, a watch cannot start. */
  readonly position?: SyncPosition
  /** Some rows are not of `columnsId` yet. */
  readonly remake?: boolean
}

/**
 * Stores what discovery says. Another version, or another part of the member, forgets the position:
 * rows are to be listed anew. Other columns alone do not: rows are made again from their bytes
 * (remake-rows.ts).
 */
export async function putClusterResource(
  store: Store,
  lease: Lease,
  resource: ClusterResource,
): Promise<void> {
  await underLease(store, lease, async ({ client, clusterId }) => {
    const { rowCount } = await client.query(PUT_CLUSTER_RESOURCE, [
      clusterId,
      resource.typeId,
      resource.kind,
      resource.listKind,
      resource.singularName,
      resource.shortNames,
      resource.categories,
      resource.namespaced,
      resource.apiVersion,
      resource.servedVersions,
      resource.columnsId ?? null,
      resource.covers ?? '',
    ])
    if (rowCount) await notifyCatalogChangeBy(client)
  })
}

export const PUT_CLUSTER_RESOURCE = `
insert into cluster_resource as r (cluster_id, type_id, kind, list_kind, singular_name, short_names,
  categories, namespaced, api_version, served_versions, columns_id, covers)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
on conflict (cluster_id, type_id) do update set
  kind = excluded.kind, list_kind = excluded.list_kind, singular_name = excluded.singular_name,
  short_names = excluded.short_names, categories = excluded.categories,
  namespaced = excluded.namespaced, api_version = excluded.api_version,
  served_versions = excluded.served_versions, covers = excluded.covers,
  columns_id = coalesce(excluded.columns_id, r.columns_id),
  remake = r.remake
    or r.columns_id is distinct from coalesce(excluded.columns_id, r.columns_id),
  resource_version = case
    when (r.api_version, r.covers) = (excluded.api_version, excluded.covers)
    then r.resource_version end
where (r.kind, r.list_kind, r.singular_name, r.short_names, r.categories, r.namespaced,
       r.api_version, r.served_versions, r.columns_id, r.covers)
  is distinct from
      (excluded.kind, excluded.list_kind, excluded.singular_name, excluded.short_names,
       excluded.categories, excluded.namespaced, excluded.api_version, excluded.served_versions,
       coalesce(excluded.columns_id, r.columns_id), excluded.covers)
returning ${FLUSHED}`

export interface TypeStatus {
  readonly typeId: number
  readonly status: SyncStatus
  readonly reason: string
  readonly message: string
  /** Until when it was in step, where that is not now. */
  readonly since?: Date
}

/** How the sync of a type goes. `changedAt` moves only when `status` does. */
export async function setSyncStatus(
  store: Store,
  lease: Lease,
  { typeId, status, reason, message, since }: TypeStatus,
): Promise<void> {
  await underLease(store, lease, async ({ client, clusterId }) => {
    const { rowCount } = await client.query(
      `update cluster_resource set status = $3, reason = $4, message = $5,
         changed_at = case when status = $3 then changed_at
           else coalesce($6::timestamptz, clock_timestamp()) end
       where cluster_id = $1 and type_id = $2
       and (status, reason, message) is distinct from ($3, $4, $5)
       returning ${FLUSHED}`,
      [clusterId, typeId, status, reason, message, since ?? null],
    )
    if (rowCount) await notifyCatalogChangeBy(client)
  })
}

/** The types of one cluster, by group and resource. */
export async function listClusterResources(
  store: Store,
  clusterId: number,
): Promise<readonly StoredClusterResource[]> {
  return selectClusterResources(store, [clusterId])
}

/** The types of several clusters, by cluster id, group and resource. */
export async function selectClusterResources(
  store: Store,
  clusterIds: readonly number[],
): Promise<readonly StoredClusterResource[]> {
  const rows = await store.db
    .selectFrom('cluster_resource as r')
    .innerJoin('resource_type as t', 't.id', 'r.type_id')
    .selectAll('r')
    .select(['t.api_group', 't.resource'])
    .where(sql<boolean>`r.cluster_id = any (${clusterIds}::int4[])`)
    .orderBy('r.cluster_id')
    .orderBy('t.api_group')
    .orderBy('t.resource')
    .execute()
  return rows.map((row) => ({
    clusterId: row.cluster_id,
    typeId: row.type_id,
    group: row.api_group,
    resource: row.resource,
    kind: row.kind,
    listKind: row.list_kind,
    singularName: row.singular_name,
    shortNames: row.short_names,
    categories: row.categories,
    namespaced: row.namespaced,
    apiVersion: row.api_version,
    servedVersions: row.served_versions,
    ...(row.columns_id !== null && { columnsId: row.columns_id }),
    covers: row.covers,
    remake: row.remake,
    status: row.status as SyncStatus,
    reason: row.reason,
    message: row.message,
    changedAt: row.changed_at,
    ...(row.resource_version !== null && {
      position: {
        resourceVersion: row.resource_version,
        controlPlaneUid: row.control_plane_uid ?? '',
      },
    }),
  }))
}

/**
 * Moves the position, or forgets it, in the transaction that stores what it covers.
 *
 * @throws StoreWentBack
 */
export async function movePosition(
  { client, lease, clusterId }: FencedTransaction,
  typeId: number,
  position: SyncPosition | undefined,
): Promise<void> {
  const { rowCount } = await client.query(
    `update cluster_resource set resource_version = $3, control_plane_uid = $4
     where cluster_id = $1 and type_id = $2`,
    [clusterId, typeId, position?.resourceVersion ?? null, position?.controlPlaneUid ?? null],
  )
  // It was registered before anything of it was written.
  if (rowCount !== 1) throw new StoreWentBack(lease)
}
