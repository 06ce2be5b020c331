/**
 * The objects of our own API groups: registrations and rights, as they are served, and what changed.
 *
 * Every write locks the one row of registration_revision, so that resourceVersions are given in the
 * order of commits and a watcher that has seen N has seen everything up to N.
 * What an object may look like is not known here: registration/.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { GroupResource } from '../kube/group-resource.ts'
import type { Store } from './connect.ts'
import { fromPostgres } from './pg-error.ts'
import type { Database } from './schema.ts'
import { int8Text, isStorable } from './sql-value.ts'
import { keepRevisionsUnique } from './timeline.ts'

export interface RegistrationKey extends GroupResource {
  readonly name: string
}

export interface StoredRegistration {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  /** JSON as served. */
  readonly object: string
  /** Sealed; null when the object has none. */
  readonly credentials: Buffer | null
}

export interface RegistrationEvent {
  readonly resourceVersion: string
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly name: string
  /** After the change; of DELETED, the last state with the resourceVersion of the deletion. */
  readonly object: string
  /** Before it; null when there was none. */
  readonly previous: string | null
}

/** Channel on which every committed write is told. */
export const REGISTRATION_CHANNEL = 'fleetglass_registrations'

/** How much of the past a watch can be resumed from, and how often the rest is cleared away. */
const KEPT_EVENTS = 4_000
const KEPT_HOURS = 24
const WRITES_PER_CLEARING = 64n

/** @returns undefined when there is none: the 404 is the caller's. */
export async function readRegistration(
  store: Store,
  key: RegistrationKey,
): Promise<StoredRegistration | undefined> {
  return translated(() => selectOne(store.db, key))
}

async function selectOne(
  db: Kysely<Database>,
  { group, resource, name }: RegistrationKey,
): Promise<StoredRegistration | undefined> {
  if (!isStorable(name)) return undefined
  const row = await db
    .selectFrom('registration')
    .select(['name', 'uid', 'resource_version', 'object', 'credentials'])
    .where('api_group', '=', group)
    .where('resource', '=', resource)
    .where('name', '=', name)
    .executeTakeFirst()
  return row && { ...row, resourceVersion: row.resource_version }
}

export interface RegistrationListRequest {
  /** The state as it was at this revision; left out, the newest. */
  readonly at?: string
  /** Only names after this one. */
  readonly after?: string
  readonly limit?: number
}

export interface RegistrationListPage {
  /** Of the state that is listed. */
  readonly resourceVersion: string
  /** Below it no state can be told any more. */
  readonly floor: string
  readonly latest: string
  /** Sorted by name. Empty when the state is not known any more, or not yet. */
  readonly objects: ReadonlyArray<{ readonly name: string; readonly object: string }>
}

/**
 * Lists the state at one revision: today's rows, with every later change taken back.
 *
 * One statement, so that rows and revision belong together.
 */
export async function listRegistrations(
  { db }: Pick<Store, 'db'>,
  of: GroupResource,
  { at, after = '', limit }: RegistrationListRequest = {},
): Promise<RegistrationListPage> {
  const { rows } = await translated(() =>
    sql<{ latest: string; floor: string; name: string | null; object: string | null }>`
      with revision as (select latest, floor, coalesce(${at === undefined ? null : int8Text(at)}::int8, latest) as at
                        from registration_revision),
      later as (select distinct on (e.name) e.name, e.previous
                from registration_event e, revision
                where e.api_group = ${of.group} and e.resource = ${of.resource}
                  and e.resource_version > revision.at and e.name > ${after}
                order by e.name, e.resource_version),
      state as (select r.name, r.object from registration r
                where r.api_group = ${of.group} and r.resource = ${of.resource}
                  and r.name > ${after}
                  and not exists (select from later where later.name = r.name)
                union all
                select name, previous from later where previous is not null)
      select revision.latest, revision.floor, state.name, state.object
      from revision left join (select * from state order by name limit ${limit ?? null}) state
        on revision.at between revision.floor and revision.latest
      order by state.name`.execute(db),
  )
  const { latest, floor } = rows[0]!
  const objects = rows.flatMap(({ name, object }) =>
    name === null || object === null ? [] : [{ name, object }],
  )
  return { resourceVersion: at ?? latest, floor, latest, objects }
}

/** Everything as it is, sealed credentials included. */
export async function allRegistrations(
  store: Store,
): Promise<ReadonlyArray<StoredRegistration & GroupResource>> {
  const rows = await translated(() =>
    store.db
      .selectFrom('registration')
      .selectAll()
      .orderBy('api_group')
      .orderBy('resource')
      .orderBy('name')
      .execute(),
  )
  return rows.map(({ api_group, resource_version, ...row }) => ({
    ...row,
    group: api_group,
    resourceVersion: resource_version,
  }))
}

export interface RegistrationEvents {
  readonly floor: string
  readonly latest: string
  /** In order; at most as many as asked for. */
  readonly events: readonly RegistrationEvent[]
}

/** What happened to one kind after a revision. Below the floor it is not known: the caller's 410. */
export async function readRegistrationEvents(
  store: Store,
  of: GroupResource,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<RegistrationEvents> {
  const { rows } = await translated(() =>
    sql<{ latest: string; floor: string } & { [K in keyof RegistrationEvent]: string | null }>`
      select r.latest, r.floor, e.resource_version as "resourceVersion", e.type, e.name, e.object,
             e.previous
      from registration_revision r
      left join (select * from registration_event
                 where api_group = ${of.group} and resource = ${of.resource}
                   and resource_version > ${int8Text(after)}::int8
                 order by resource_version limit ${limit}) e on true
      order by e.resource_version`.execute(store.db),
  )
  const { latest, floor } = rows[0]!
  const events = rows.filter((row) => row.resourceVersion !== null)
  return { floor, latest, events: events as unknown as readonly RegistrationEvent[] }
}

/** One writing transaction. Nothing else writes registrations while it runs. */
export interface RegistrationWriter {
  readonly transaction: Transaction<Database>
  readonly read: (key: RegistrationKey) => Promise<StoredRegistration | undefined>
  /** What was there when the transaction began. */
  readonly list: (of: GroupResource) => Promise<RegistrationListPage>
  /** The resourceVersion that the next write of this transaction gets. */
  readonly nextRevision: () => string
  readonly write: (key: RegistrationKey, change: RegistrationChange) => Promise<void>
}

export interface RegistrationChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly uid: string
  /** With `nextRevision()` in it as resourceVersion. */
  readonly object: string
  readonly previous: string | null
  readonly credentials: Buffer | null
}

/** Runs `work` as the only writer; what it throws undoes everything. */
export async function writeRegistrations<T>(
  store: Store,
  work: (writer: RegistrationWriter) => Promise<T>,
): Promise<T> {
  return translated(() =>
    store.db.transaction().execute(async (transaction) => {
      await sql.raw(keepRevisionsUnique('registration_revision')).execute(transaction)
      const { latest } = await transaction
        .selectFrom('registration_revision')
        .select('latest')
        .forUpdate()
        .executeTakeFirstOrThrow()
      const writer = writerOf(transaction, BigInt(latest))
      const result = await work(writer)
      await finish(transaction, { from: BigInt(latest), to: BigInt(writer.nextRevision()) - 1n })
      return result
    }),
  )
}

function writerOf(transaction: Transaction<Database>, latest: bigint): RegistrationWriter {
  let next = latest + 1n
  return {
    transaction,
    read: (key) => selectOne(transaction, key),
    list: (of) => listRegistrations({ db: transaction }, of),
    nextRevision: () => next.toString(),
    write: async (key, change) => {
      await storeChange(transaction, { key, change, revision: next.toString() })
      next += 1n
    },
  }
}

interface NumberedChange {
  readonly key: RegistrationKey
  readonly change: RegistrationChange
  readonly revision: string
}

async function storeChange(
  transaction: Transaction<Database>,
  { key, change, revision }: NumberedChange,
): Promise<void> {
  const { type, uid, object, previous, credentials } = change
  const id = { api_group: key.group, resource: key.resource, name: key.name }
  if (type === 'DELETED') {
    await transaction
      .deleteFrom('registration')
      .where('api_group', '=', key.group)
      .where('resource', '=', key.resource)
      .where('name', '=', key.name)
      .execute()
  } else {
    const row = { uid, resource_version: revision, object, credentials }
    await transaction
      .insertInto('registration')
      .values({ ...id, ...row })
      .onConflict((conflict) =>
        conflict.columns(['api_group', 'resource', 'name']).doUpdateSet(row),
      )
      .execute()
  }
  await transaction
    .insertInto('registration_event')
    .values({ ...id, resource_version: revision, type, object, previous })
    .execute()
}

async function finish(
  transaction: Transaction<Database>,
  { from, to }: { readonly from: bigint; readonly to: bigint },
): Promise<void> {
  if (to === from) return
  await transaction.updateTable('registration_revision').set({ latest: to.toString() }).execute()
  if (from / WRITES_PER_CLEARING !== to / WRITES_PER_CLEARING) await clearEvents(transaction, to)
  await sql`select pg_notify(${REGISTRATION_CHANNEL}, ${to.toString()})`.execute(transaction)
}

async function clearEvents(transaction: Transaction<Database>, latest: bigint): Promise<void> {
  await sql`
    with cleared as (
      delete from registration_event
      where resource_version <= ${(latest - BigInt(KEPT_EVENTS)).toString()}::int8
         or at < now() - make_interval(hours => ${KEPT_HOURS}::int)
      returning resource_version)
    update registration_revision
    set floor = greatest(floor, (select max(resource_version) from cleared))`.execute(transaction)
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw fromPostgres(error)
  }
}
