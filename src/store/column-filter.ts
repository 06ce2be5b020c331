/** Conditions on text columns that are never null. */
import { type RawBuilder, sql } from 'kysely'
import { isStorable, textArray } from './sql-value.ts'

/** So many are looked up in a hash table; fewer may be looked up in an index, one by one. */
const HASHED_FROM = 100

/** `NotIn` is exactly the reverse of `In`; the column is never null. */
export function columnIn(
  column: RawBuilder<unknown>,
  { operator, values }: { operator: 'In' | 'NotIn'; values: readonly string[] },
): RawBuilder<boolean> {
  const list = textArray(values.filter(isStorable))
  if (values.length >= HASHED_FROM) {
    // `is true` keeps it a filter whose list is hashed once: as an index condition, PostgreSQL 18 would
    // look for each of ten thousand names in each namespace.
    const among = sql`${column} in (select unnest(${list}))`
    return operator === 'In' ? sql`(${among}) is true` : sql`(${among}) is not true`
  }
  return operator === 'In' ? sql`${column} = any (${list})` : sql`${column} <> all (${list})`
}
