/**
 * Tells the planner that a table has grown, when it has grown past what it knows.
 *
 * Autovacuum does so within a minute. In that minute after a first list, the planner would take a
 * cluster for one row, and join each row with each: a search would take a minute, too.
 */
import { sql } from 'kysely'
import type { Store } from './connect.ts'

const TABLES = ['object', 'object_status'] as const

/** Looks at the partitions of one cluster. Only the key's columns: their cost is bounded and small. */
export async function refreshStatistics(store: Store, clusterId: number): Promise<void> {
  for (const table of TABLES) {
    try {
      for (const partition of await outgrown(store, table, clusterId)) {
        await sql`analyze (skip_locked) ${sql.table(partition)}
          (cluster_id, type_id, namespace, name)`.execute(store.db)
      }
    } catch {
      // The list is stored; without this its searches are slow until autovacuum has come by.
    }
  }
}

/** Partitions with twice the pages that the planner knows of. */
async function outgrown(
  store: Store,
  table: (typeof TABLES)[number],
  clusterId: number,
): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c
    where c.oid = (select o.tableoid from ${sql.table(table)} o where o.cluster_id = ${clusterId} limit 1)
    and pg_relation_size(c.oid) / 8192 > 2 * c.relpages + 50`.execute(store.db)
  return rows.map(({ name }) => name)
}
