/**
 * Which clusters there are and what each serves: small enough for a server to hold all of it.
 *
 * Only live registrations are in it. `onCatalogChange` tells when to load it again.
 */
import type { GroupResource } from '../kube/group-resource.ts'
import type { ColumnDefinition } from '../kube/table.ts'
import { type StoredClusterResource, selectClusterResources } from './cluster-resources.ts'
import type { Store } from './connect.ts'
import { listen } from './listen.ts'
import { CATALOG_CHANNEL } from './notifications.ts'
import { fromPostgres } from './pg-error.ts'

export interface CatalogCluster {
  readonly id: number
  readonly name: string
  readonly registrationUid: string
  readonly labels: Readonly<Record<string, string>>
  /** The member's /version document, as it sent it. */
  readonly version: string | null
  /** Null: the mirror is in step. */
  readonly staleReason: string | null
  readonly staleSince: Date | null
  /** Until when its syncer said it would be at work; past when it has died. Null: never synced. */
  readonly syncerSeenAt: Date | null
  readonly resources: readonly StoredClusterResource[]
}

export interface Catalog {
  /** By name, in byte order. */
  readonly clusters: readonly CatalogCluster[]
  /** By id. */
  readonly columnSets: ReadonlyMap<number, readonly ColumnDefinition[]>
  /** Stored types by id. */
  readonly types: ReadonlyMap<number, GroupResource>
}

/** @throws StatusError when the database does not answer. */
export async function loadCatalog(store: Store): Promise<Catalog> {
  try {
    return await load(store)
  } catch (error) {
    throw fromPostgres(error)
  }
}

async function load(store: Store): Promise<Catalog> {
  const [clusters, columnSets, types] = await Promise.all([
    selectClusters(store),
    store.db.selectFrom('column_set').selectAll().execute(),
    store.db.selectFrom('resource_type').selectAll().execute(),
  ])
  const resources = await selectClusterResources(
    store,
    clusters.map(({ id }) => id),
  )
  const resourcesOf = Map.groupBy(resources, ({ clusterId }) => clusterId)
  return {
    clusters: clusters.map((cluster) => ({
      ...cluster,
      resources: resourcesOf.get(cluster.id) ?? [],
    })),
    columnSets: new Map(columnSets.map(({ id, columns }) => [id, JSON.parse(columns)])),
    types: new Map(
      types.map(({ id, api_group, resource }) => [id, { group: api_group, resource }]),
    ),
  }
}

async function selectClusters(store: Store) {
  const rows = await store.db
    .selectFrom('cluster as c')
    .leftJoin('cluster_lease as l', 'l.cluster_id', 'c.id')
    .selectAll('c')
    .select('l.expires_at')
    .where('c.removed_at', 'is', null)
    .orderBy('c.name')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    registrationUid: row.registration_uid,
    labels: JSON.parse(row.labels) as Record<string, string>,
    version: row.version,
    staleReason: row.stale_reason,
    staleSince: row.stale_since,
    syncerSeenAt: row.expires_at,
  }))
}

/** A lost notification costs this long: leases, which nobody is notified of, show up as late. */
const POLL_SECONDS = 10

/** A catalog may be as old as two polls: `syncerSeenAt` must be past by more, or a syncer is there. */
export const SYNCER_GRACE_MILLISECONDS = 2 * POLL_SECONDS * 1000

/**
 * Calls `listener` after every change of the catalog, and every few seconds besides.
 *
 * @returns what stops it.
 */
export async function onCatalogChange(
  store: Store,
  listener: () => void,
  pollSeconds = POLL_SECONDS,
): Promise<() => Promise<void>> {
  return listen(store, { channel: CATALOG_CHANNEL, pollSeconds, listener })
}
