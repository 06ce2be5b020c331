/** Lists as bound values: PostgreSQL's text form of an array, which every driver passes as it is. */
import { type RawBuilder, sql } from 'kysely'

/** `$n::text[]`. */
export function textArray(values: readonly string[]): RawBuilder<string[]> {
  return sql`${arrayText(values.map(quoted))}::text[]`
}

/** `$n::int4[]`. */
export function intArray(values: readonly number[]): RawBuilder<number[]> {
  return sql`${arrayText(values.map(String))}::int4[]`
}

/** `$n::int8[]`. */
export function bigintArray(values: readonly bigint[]): RawBuilder<string[]> {
  return sql`${arrayText(values.map(String))}::int8[]`
}

function arrayText(values: readonly string[]): string {
  return `{${values.join(',')}}`
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/** True when a text column can hold it: PostgreSQL knows no NUL character. */
export function isStorable(text: string): boolean {
  return !text.includes('\0')
}

/** `limit $n offset $m`, as far as given. */
export function limits({
  limit,
  offset,
}: {
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}): RawBuilder<unknown> {
  const first = limit === undefined ? sql`` : sql` limit ${limit}::int8`
  return offset ? sql`${first} offset ${offset}::int8` : first
}
