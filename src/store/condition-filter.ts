/** The SQL of one condition on rows `o` of table `object`. */
import { type RawBuilder, sql } from 'kysely'
import { fieldToken, typeSeed, wordPath } from '../kube/search-token.ts'
import { unreachable } from '../kube/unreachable.ts'
import { columnIn } from './column-filter.ts'
import { matchesField } from './field-filter.ts'
import { hasToken, matchesLabel } from './label-filter.ts'
import type { ListRequest, ObjectCondition } from './list-request.ts'
import { ownedBy } from './owner-filter.ts'
import { isStorable } from './sql-value.ts'

export type TypeName = ListRequest['type']

/** Of which the rows may be: tokens are made for each, and tell the types apart by themselves. */
export type TypeNames = readonly TypeName[]

/** All conditions, to be joined by `and`. */
export function matchesAll(
  conditions: readonly ObjectCondition[],
  types: TypeNames,
): readonly RawBuilder<boolean>[] {
  return conditions.map((condition) => matches(condition, types))
}

function matches(condition: ObjectCondition, types: TypeNames): RawBuilder<boolean> {
  switch (condition.on) {
    case 'namespace':
      return columnIn(sql`o.namespace`, condition)
    case 'name':
      return columnIn(sql`o.name`, condition)
    case 'fuzzy-name':
      return nameContains(condition.contains)
    case 'text':
      return hasWords(condition.words, types)
    case 'created':
      return createdWithin(condition)
    case 'owner':
      return ownedBy(condition.owners, types)
    case 'label':
      return matchesLabel(condition.requirement, types)
    case 'field':
      return matchesField(condition.requirement, types)
    default:
      return unreachable(condition)
  }
}

/** On the expression that object_name_trigrams indexes. `%` and `_` match themselves. */
function nameContains(texts: readonly string[]): RawBuilder<boolean> {
  if (!texts.every(isStorable)) return sql`false`
  if (texts.length === 0) return sql`true`
  const each = texts.map(
    (text) => sql`(o.name || '') like ${`%${text.replace(/[\\%_]/g, '\\$&')}%`}`,
  )
  return sql`(${sql.join(each, sql` and `)})`
}

/** For each word the token of one of the types, which must be the same for all words: that of the row. */
function hasWords(words: readonly string[], types: TypeNames): RawBuilder<boolean> {
  const paths = types.map((type) => wordPath(typeSeed(type)))
  const each = words.map((word) => hasToken(paths.map((path) => fieldToken(path, word))))
  return sql`(${sql.join(each, sql` and `)})`
}

function createdWithin({ since, before }: { since?: Date; before?: Date }): RawBuilder<boolean> {
  const bounds = [
    ...(since ? [sql`o.created_at >= ${since.toISOString()}::timestamptz`] : []),
    ...(before ? [sql`o.created_at < ${before.toISOString()}::timestamptz`] : []),
  ]
  return bounds.length === 0 ? sql`true` : sql`(${sql.join(bounds, sql` and `)})`
}
