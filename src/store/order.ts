/**
 * The order of a list, and the exact condition for "after this row".
 *
 * Every order ends with the row's key (cluster name, namespace, name), so it is total. Text is
 * compared byte by byte (COLLATE "C", on the columns), and what has no value comes last in both
 * directions.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Position } from '../kube/continue-token.ts'
import type { FieldPath } from '../kube/field-selector.ts'
import { StatusError } from '../kube/status-error.ts'
import type { OrderKey } from './list-request.ts'
import type { ReadScope } from './read-scope.ts'
import { intArray, isStorable } from './sql-value.ts'
import { valuesAt } from './values-at-path.ts'

type Sql = RawBuilder<unknown>

/** One expression that is compared. */
interface Term {
  readonly expression: Sql
  readonly descending: boolean
  readonly nullable: boolean
  /** A column of the key index, which is compared together with those that follow it. */
  readonly isKeyColumn?: true
}

/** One key of the order: what it compares, and how its value travels in a position. */
interface Key {
  readonly terms: readonly Term[]
  /** What a value is worked out by, once for a row. */
  readonly from?: Sql
  /** The value as text, selected with each row; undefined when the row's key has it already. */
  readonly text?: Sql
  /** One bound value per term; null where the row had none. */
  readonly bind: (value: string) => ReadonlyArray<Sql | null>
}

export interface Order {
  /** Joined to rows `o`: what is compared and selected, each worked out once for a row. */
  readonly joins: Sql
  /** `order by` list. */
  readonly by: Sql
  /** The same among rows that have a value for the first key, in the direction of its index. */
  readonly byPresent: Sql
  /** What positions need of each row besides its key, in the order of `keys`. */
  readonly selected: readonly Sql[]
  /** @throws StatusError 400 when the position cannot be one of this order. */
  readonly after: (position: Position) => RawBuilder<boolean>
  /** Makes the `values` of a position: `selected` as read, and the row's key. */
  readonly valuesOf: (selected: ReadonlyArray<string | null>, key: RowKey) => Array<string | null>
}

export interface RowKey {
  readonly cluster: string
  readonly namespace: string
  readonly name: string
}

type Column = 'cluster' | 'namespace' | 'name'
const ROW_KEY: readonly Column[] = ['cluster', 'namespace', 'name']

export function orderOf(keys: readonly OrderKey[], scope: ReadScope): Order {
  const wanted = keys.map((key, i) => orderKey(key, scope, `f${i}`))
  const ties = ROW_KEY.filter((column) => !keys.some(({ by }) => by === column)).map((by) => ({
    by,
    key: orderKey({ by, descending: false }, scope, ''),
  }))
  const all = [...wanted, ...ties.map(({ key }) => key)]
  const terms = all.flatMap((key) => key.terms)
  return {
    joins: sql.join(
      wanted.flatMap(({ from }) => from ?? []),
      sql``,
    ),
    by: sql.join(terms.map(orderBy)),
    byPresent: sql.join([
      sql`${terms[0]!.expression} ${terms[0]!.descending ? sql`desc nulls last` : sql`nulls first`}`,
      ...terms.slice(1).map(orderBy),
    ]),
    selected: wanted.flatMap(({ text }) => text ?? []),
    after: (position) => {
      if (position.values.length !== keys.length) throw malformed()
      const values = [
        ...wanted.flatMap((key, i) => bindAll(key, position.values[i]!)),
        ...ties.flatMap(({ by, key }) => bindAll(key, position[by])),
      ]
      return beyond(terms, values)
    },
    valuesOf: (selected, key) => {
      const read = selected.values()
      return keys.map(({ by }) => (isColumn(by) ? key[by] : (read.next().value ?? null)))
    },
  }
}

function isColumn(by: OrderKey['by']): by is Column {
  return ROW_KEY.some((column) => column === by)
}

function orderBy({ expression, descending, nullable }: Term): Sql {
  const direction = descending ? sql` desc` : sql``
  return sql`${expression}${direction}${nullable ? sql` nulls last` : sql``}`
}

function bindAll({ terms, bind }: Key, value: string | null): ReadonlyArray<Sql | null> {
  return value === null ? terms.map(() => null) : bind(value)
}

/** Lexicographic: beyond in the first term, or equal in it and beyond in the rest. */
function beyond(
  [term, ...rest]: readonly Term[],
  [value, ...restValues]: ReadonlyArray<Sql | null>,
): RawBuilder<boolean> {
  if (!term || value === undefined) return sql`false`
  if ([term, ...rest].every(({ isKeyColumn, descending }) => isKeyColumn && !descending)) {
    // As one comparison of rows, where an index can start.
    const expressions = [term, ...rest].map(({ expression }) => expression)
    return sql`(${sql.join(expressions)}) > (${sql.join([value, ...restValues])})`
  }
  const here = isBeyond(term, value)
  if (rest.length === 0) return here
  const equal =
    value === null ? sql`${term.expression} is null` : sql`${term.expression} = ${value}`
  return sql`(${here} or (${equal} and ${beyond(rest, restValues)}))`
}

/** Nothing comes after a missing value but other missing ones. */
function isBeyond(
  { expression, descending, nullable }: Term,
  value: Sql | null,
): RawBuilder<boolean> {
  if (value === null) return sql`false`
  const further = descending ? sql`${expression} < ${value}` : sql`${expression} > ${value}`
  return nullable ? sql`(${further} or ${expression} is null)` : sql`${further}`
}

function orderKey({ by, descending }: OrderKey, scope: ReadScope, alias: string): Key {
  switch (by) {
    case 'cluster':
      return clusterKey(scope, descending)
    case 'namespace':
      return textKey(sql`o.namespace`, descending)
    case 'name':
      return textKey(sql`o.name`, descending)
    case 'created_at':
      return createdKey(descending)
    case 'resource_version':
      return resourceVersionKey(descending)
    case 'type':
      return typeKey(descending)
    default:
      return fieldKey(by, descending, alias)
  }
}

/**
 * Rows know their cluster by number; its place in the scope, which is sorted by name, is its rank.
 * Of a single cluster it is a constant, which no index order is lost to.
 */
function clusterKey(scope: ReadScope, descending: boolean): Key {
  const rank =
    scope.length === 1
      ? sql`1::int4`
      : sql`array_position(${intArray(scope.map(({ id }) => id))}, o.cluster_id)`
  return {
    terms: [{ expression: rank, descending, nullable: false }],
    // A cluster that has left the scope since lies between two ranks.
    bind: (name) => [sql`${rankOf(name, scope)}::float8`],
  }
}

function rankOf(name: string, scope: ReadScope): number {
  const bytes = Buffer.from(name)
  const before = scope.filter((cluster) => Buffer.compare(Buffer.from(cluster.name), bytes) < 0)
  return scope.some((cluster) => cluster.name === name) ? before.length + 1 : before.length + 0.5
}

function textKey(expression: Sql, descending: boolean): Key {
  return {
    terms: [{ expression, descending, nullable: false, isKeyColumn: true }],
    bind: (value) => [sql`${storable(value)}::text`],
  }
}

function createdKey(descending: boolean): Key {
  return {
    terms: [{ expression: sql`o.created_at`, descending, nullable: true }],
    // Microseconds since 1970: exact, and the same whatever the session's time zone and style.
    text: sql`(extract(epoch from o.created_at) * 1000000)::int8`,
    bind: (value) => {
      if (!/^-?\d{1,18}$/.test(value)) throw malformed()
      return [sql`(timestamptz 'epoch' + ${value}::int8 * interval '1 microsecond')`]
    },
  }
}

/** Numbers of any length: the longer is the greater, once leading zeros are gone. */
function resourceVersionKey(descending: boolean): Key {
  const digits = sql`ltrim(o.resource_version, '0')`
  return {
    terms: [
      { expression: sql`length(${digits})`, descending, nullable: false },
      { expression: digits, descending, nullable: false },
    ],
    text: sql`o.resource_version`,
    bind: (value) => {
      const bare = sql`ltrim(${storable(value)}::text, '0')`
      return [sql`length(${bare})`, bare]
    },
  }
}

function typeKey(descending: boolean): Key {
  return {
    terms: [{ expression: sql`o.type_id`, descending, nullable: false }],
    text: sql`o.type_id`,
    bind: (value) => {
      if (!/^\d{1,9}$/.test(value)) throw malformed()
      return [sql`${value}::int4`]
    },
  }
}

/** The first value at the path. Numbers by size, before all other values, which are compared as text. */
function fieldKey(path: FieldPath, descending: boolean, alias: string): Key {
  const value = sql`${sql.id(alias)}.value`
  return {
    // `offset 0` keeps the planner from writing it out wherever it is used.
    from: sql` cross join lateral
      (select (${valuesAt(path)})[1] collate "C" as value offset 0) ${sql.id(alias)}`,
    terms: [
      { expression: asNumber(value), descending, nullable: true },
      { expression: value, descending, nullable: true },
    ],
    text: value,
    bind: (text) => {
      const bound = sql`(${storable(text)}::text)`
      return [isNumber(text) ? asNumber(bound) : null, bound]
    },
  }
}

const NUMBER = '^-?[0-9]{1,60}([.][0-9]{1,60})?([eE][+-]?[0-9]{1,2})?$'

function isNumber(text: string): boolean {
  return new RegExp(NUMBER).test(text)
}

function asNumber(text: Sql): Sql {
  return sql`case when ${text} ~ ${sql.lit(NUMBER)} then (${text})::numeric end`
}

function storable(text: string): string {
  if (!isStorable(text)) throw malformed()
  return text
}

/** As a real API server says it of a token that it cannot read. */
function malformed(): StatusError {
  return new StatusError('BadRequest', 'continue key is not valid: unexpected content')
}
