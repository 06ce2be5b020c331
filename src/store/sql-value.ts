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

const INT8_MOST = 2n ** 63n - 1n

/** A whole number as an int8 can hold it: what is more is as good as the most. */
export function int8Text(wanted: string): string {
  return BigInt(wanted) > INT8_MOST ? INT8_MOST.toString() : wanted
}

/** `limit $n offset $m`, as far as given. */
export function limits({
  limit,
  offset,
}: {
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}): RawBuilder<unknown> {
  const first = limit === undefined ? sql`` : sql` limit ${countText(limit)}::int8`
  return offset ? sql`${first} offset ${countText(offset)}::int8` : first
}

/** Beyond 2^53 a number is written with an exponent, or with more than an int8 holds. */
function countText(count: number): string {
  return String(Math.min(count, Number.MAX_SAFE_INTEGER))
}
