/** Types and column sets: small tables of names that rows refer to by number, kept for ever. */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { GroupResource } from '../kube/group-resource.ts'
import type { ColumnDefinition } from '../kube/table.ts'
import type { Store } from './connect.ts'

/** The number of a stored type (kube/moved-resources.ts says which one a resource is). */
export async function ensureType(
  store: Store,
  { group, resource }: GroupResource,
): Promise<number> {
  // Reading first: an insert that conflicts would use up a number each time.
  const { rows } = await sql<{ id: number }>`
    select id from resource_type where api_group = ${group} and resource = ${resource}`.execute(
    store.db,
  )
  if (rows[0]) return rows[0].id
  const made = await sql<{ id: number }>`
    insert into resource_type (api_group, resource) values (${group}, ${resource})
    on conflict (api_group, resource) do update set resource = excluded.resource
    returning id`.execute(store.db)
  return made.rows[0]!.id
}

/**
 * The number of these columns: equal columns have the same one.
 *
 * @param maker - Version of the code that makes rows: rows made by another have another number,
 *   and are written again when they are seen again.
 */
export async function ensureColumnSet(
  store: Store,
  columns: readonly ColumnDefinition[],
  maker = '',
): Promise<number> {
  const text = JSON.stringify(columns.map(canonicalColumn))
  const digest = createHash('sha256').update(maker).update(text).digest('hex')
  const { rows } = await sql<{ id: number }>`
    select id from column_set where digest = ${digest}`.execute(store.db)
  if (rows[0]) return rows[0].id
  const made = await sql<{ id: number }>`
    insert into column_set (digest, columns) values (${digest}, ${text})
    on conflict (digest) do update set digest = excluded.digest
    returning id`.execute(store.db)
  return made.rows[0]!.id
}

/** Fixed order of fields, so that equal columns have equal text. */
function canonicalColumn(column: ColumnDefinition): ColumnDefinition {
  const { name, type, format, description, priority } = column
  return { name, type, format, description, priority }
}
