/**
 * How processes on one database tell each other to look again, when a transaction commits.
 *
 * Not here listening (listen.ts), and registrations, which tell their revision (registrations.ts).
 */
import { type Kysely, sql } from 'kysely'
import type pg from 'pg'
import type { Database } from './schema.ts'

/** Clusters or their types changed: every API server holds them in memory. */
export const CATALOG_CHANNEL = 'fleetglass_catalog'
/** There are changes without a revision: for the sequencer. */
export const CHANGE_CHANNEL = 'fleetglass_change'

/** On {@link CATALOG_CHANNEL}. */
export async function notifyCatalogChange(db: Kysely<Database>): Promise<void> {
  await sql`select pg_notify(${CATALOG_CHANNEL}, '')`.execute(db)
}

/** {@link notifyCatalogChange} in a transaction under a lease, which is the driver's own. */
export async function notifyCatalogChangeBy(client: Pick<pg.PoolClient, 'query'>): Promise<void> {
  await client.query('select pg_notify($1, $2)', [CATALOG_CHANNEL, ''])
}
