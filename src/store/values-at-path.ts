/**
 * Field values read from an object's stored text, for what tokens cannot answer.
 *
 * The work is done by the SQL function `values_at_path`, which PostgreSQL's JSON operators alone
 * could not: they refuse a whole document for one `\u0000` or lone surrogate in it. Such characters
 * are escaped there and, for comparison, here; the mapping is one to one, so answers stay exact.
 */
import { type RawBuilder, sql } from 'kysely'
import type { FieldPath } from '../kube/field-selector.ts'
import { textArray } from './sql-value.ts'

/** As much of the object as the path needs: most of the work is in reading it. */
function documentWith([first]: FieldPath): RawBuilder<string> {
  if (!first || !('key' in first)) return sql`(o.head || o.metadata || o.tail)`
  return first.key === 'metadata'
    ? sql`('{"metadata":' || o.metadata || '}')`
    : sql`(o.head || 'null' || o.tail)`
}

/** A text array: the scalars at the path, spelled as JSON spells them, strings without quotes. */
export function valuesAt(path: FieldPath): RawBuilder<string[]> {
  const steps = path.map(stepText)
  const name = isOdd(steps) ? sql`values_at_odd_path` : sql`values_at_path`
  return sql`${name}(${documentWith(path)}, ${textArray(steps)})`
}

/** A json array: all that is at the path, objects and lists, too. */
export function nodesAt(path: FieldPath): RawBuilder<unknown[]> {
  const steps = path.map(stepText)
  const name = isOdd(steps) ? sql`nodes_at_odd_path` : sql`nodes_at_path`
  return sql`${name}(${documentWith(path)}, ${textArray(steps)})`
}

/** True when there is anything at the path, a null included. */
export function existsAt(path: FieldPath): RawBuilder<boolean> {
  return sql`(cardinality(${nodesAt(path)}) > 0)`
}

/** What stands for an odd character here may stand for itself in a document that has none. */
function isOdd(steps: readonly string[]): boolean {
  return steps.some((step) => step.includes('\ue000'))
}

const LARGEST_INT4 = 2_147_483_647

function stepText(step: FieldPath[number]): string {
  if ('key' in step) return `.${escapeForStore(step.key)}`
  return 'every' in step ? '[]' : `[${Math.min(step.index, LARGEST_INT4)}]`
}

/** What PostgreSQL's text cannot hold becomes U+E000 and letters; so U+E000 itself must, too. */
export function escapeForStore(text: string): string {
  return text.replaceAll('\ue000', '\ue000e000').replaceAll('\0', '\ue0000000')
}

/** The reverse of {@link escapeForStore}, and of what the SQL function writes. */
export function unescapeFromStore(text: string): string {
  return text.replaceAll(/\ue000([0-9a-f]{4})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
}
