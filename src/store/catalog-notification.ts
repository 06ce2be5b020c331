/** Tells every API server that clusters or their types changed. Delivered when the transaction commits. */
import { type Kysely, sql } from 'kysely'
import type { Database } from './schema.ts'

export const CATALOG_CHANNEL = 'fleetglass_catalog'

export async function notifyCatalogChange(db: Kysely<Database>): Promise<void> {
  await sql`select pg_notify(${CATALOG_CHANNEL}, '')`.execute(db)
}
