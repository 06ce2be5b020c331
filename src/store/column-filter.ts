/** Conditions on text columns that are never null. */
import { type RawBuilder, sql } from 'kysely'
import { isStorable, textArray } from './sql-value.ts'

/** `NotIn` is exactly the reverse of `In`; the column is never null. */
export function columnIn(
  column: RawBuilder<unknown>,
  { operator, values }: { operator: 'In' | 'NotIn'; values: readonly string[] },
): RawBuilder<boolean> {
  const list = textArray(values.filter(isStorable))
  return operator === 'In' ? sql`${column} = any (${list})` : sql`${column} <> all (${list})`
}
