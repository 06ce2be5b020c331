/**
 * When each type of a cluster was last compared with its member, who asked for it again, and what is
 * compared: keys, uids and versions.
 */
import { sql } from 'kysely'
import type { GroupResource } from '../kube/group-resource.ts'
import type { Store } from './connect.ts'
import { type Lease, underLease } from './leases.ts'
import { listen } from './listen.ts'
import type { ObjectKey } from './object-row.ts'

const RESYNC_CHANNEL = 'fleetglass_resync'
const POLL_SECONDS = 30

export interface StoredVersion extends ObjectKey {
  readonly uid: string
  readonly resourceVersion: string
}

export interface ReconcileState {
  readonly typeId: number
  /** Undefined: never; a complete list is a comparison, too. */
  readonly reconciledAt: Date | undefined
  /** Somebody asked, and it was not done since. */
  readonly isWanted: boolean
}

export async function listReconciles(
  store: Store,
  clusterId: number,
): Promise<readonly ReconcileState[]> {
  const { rows } = await sql<{ type_id: number; reconciled_at: Date | null; wanted: boolean }>`
    select type_id, reconciled_at,
      reconcile_wanted_at > coalesce(reconciled_at, '-infinity') is true as wanted
    from cluster_resource where cluster_id = ${clusterId}`.execute(store.db)
  return rows.map(({ type_id, reconciled_at, wanted }) => ({
    typeId: type_id,
    reconciledAt: reconciled_at ?? undefined,
    isWanted: wanted,
  }))
}

/** The database's time: what `recordReconcile` is given to say when a comparison began. */
export async function databaseTime(store: Store): Promise<string> {
  const { rows } = await sql<{ now: string }>`select clock_timestamp()::text as now`.execute(
    store.db,
  )
  return rows[0]!.now
}

/** @param since - when it began: what was asked for later is not done yet. */
export async function recordReconcile(
  store: Store,
  lease: Lease,
  { typeId, since }: { readonly typeId: number; readonly since: string },
): Promise<void> {
  await underLease(store, lease, async ({ client, clusterId }) => {
    await client.query(
      `update cluster_resource set reconciled_at = $3::timestamptz
       where cluster_id = $1 and type_id = $2`,
      [clusterId, typeId, since],
    )
  })
}

/**
 * Asks the syncers to compare a cluster, or one type of it, with its member now.
 *
 * @param type - a resource in one group, or in any when `group` is left out; left out: all types.
 * @returns the types; empty when there is no such cluster or type.
 */
export async function requestReconcile(
  store: Store,
  cluster: string,
  type?: { readonly resource: string; readonly group?: string },
): Promise<readonly GroupResource[]> {
  const { rows } = await store.pool.query<GroupResource>(
    `with wanted as (
       update cluster_resource r set reconcile_wanted_at = clock_timestamp()
       from cluster c, resource_type t
       where c.id = r.cluster_id and t.id = r.type_id and c.name = $1 and c.removed_at is null
         and ($2::text is null or t.resource = $2) and ($3::text is null or t.api_group = $3)
       returning t.api_group, t.resource
     ), told as (select pg_notify('${RESYNC_CHANNEL}', '') where exists (select 1 from wanted))
     select api_group as "group", resource from wanted left join told on true
     order by api_group, resource`,
    [cluster, type?.resource ?? null, type?.group ?? null],
  )
  return rows
}

/** How many types of the cluster somebody asked for that were not compared since. */
export async function countWantedReconciles(store: Store, cluster: string): Promise<number> {
  const { rows } = await sql<{ left: number }>`
    select count(*)::int as left from cluster_resource r join cluster c on c.id = r.cluster_id
    where c.name = ${cluster} and c.removed_at is null
      and r.reconcile_wanted_at > coalesce(r.reconciled_at, '-infinity')`.execute(store.db)
  return rows[0]!.left
}

/** Also called now and then, in case a notification was lost. @returns what stops it. */
export async function onReconcileRequest(
  store: Store,
  listener: () => void,
): Promise<() => Promise<void>> {
  return listen(store, { channel: RESYNC_CHANNEL, pollSeconds: POLL_SECONDS, listener })
}

const PAGE_ROWS = 5_000

/** All rows of a type, by key. */
export async function* storedVersions(
  store: Store,
  of: { readonly clusterId: number; readonly typeId: number },
): AsyncGenerator<readonly StoredVersion[]> {
  let after: ObjectKey | undefined
  do {
    const { rows } = await store.pool.query<StoredVersion>(
      `select namespace, name, uid, resource_version as "resourceVersion" from object
       where cluster_id = $1 and type_id = $2 and (namespace, name) > ($3, $4)
       order by namespace, name limit $5`,
      [of.clusterId, of.typeId, after?.namespace ?? '', after?.name ?? '', PAGE_ROWS],
    )
    yield rows
    after = rows.length === PAGE_ROWS ? rows.at(-1) : undefined
  } while (after)
}
