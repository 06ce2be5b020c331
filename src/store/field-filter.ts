/**
 * The SQL of one field requirement, on rows `o` of table `object`.
 *
 * Most are answered by tokens. A few paths are columns, and what tokens cannot say (whether a path
 * exists, which element of a list) is read from the stored text.
 */
import { type RawBuilder, sql } from 'kysely'
import { parseComparable } from '../kube/comparable.ts'
import type { FieldComparison, FieldPath, FieldRequirement } from '../kube/field-selector.ts'
import { childPath, elementPath, fieldToken, type Hash64, typeSeed } from '../kube/search-token.ts'
import { unreachable } from '../kube/unreachable.ts'
import { columnIn } from './column-filter.ts'
import type { TypeNames } from './condition-filter.ts'
import { hasToken } from './label-filter.ts'
import { bigintArray, textArray } from './sql-value.ts'
import { escapeForStore, existsAt, nodesAt, valuesAt } from './values-at-path.ts'

export function matchesField(requirement: FieldRequirement, types: TypeNames): RawBuilder<boolean> {
  switch (requirement.operator) {
    case 'In':
      return hasValue(requirement, types)
    case 'NotIn':
      return sql`not ${hasValue(requirement, types)}`
    case 'Exists':
      return existsAt(requirement.path)
    case 'DoesNotExist':
      return sql`not ${existsAt(requirement.path)}`
    case 'Gt':
    case 'Gte':
    case 'Lt':
    case 'Lte':
      return compares(requirement)
    default:
      return unreachable(requirement)
  }
}

const SYMBOLS = { Gt: sql`>`, Gte: sql`>=`, Lt: sql`<`, Lte: sql`<=` } as const

/** A scan of all that the other conditions leave: no index knows the order of every path. */
function compares({ path, operator, value }: FieldComparison): RawBuilder<boolean> {
  const size = parseComparable(value)?.kind === 'time' ? sql`time_in` : sql`number_in`
  return sql`exists (select from unnest(${nodesAt(path)}) node
    where ${size}(node #>> '{}') ${SYMBOLS[operator]} ${size}(${value}::text))`
}

interface PathValues {
  readonly path: FieldPath
  readonly values: readonly string[]
}

/**
 * Never null, so that `not` in front of it is its exact reverse. The empty value stands for a
 * missing field, too (kube/field-selector.ts).
 */
function hasValue(wanted: PathValues, types: TypeNames): RawBuilder<boolean> {
  const found = isPresent(wanted, types)
  if (!wanted.values.includes('')) return found
  return sql`(${found} or not ${existsAt(wanted.path)})`
}

function isPresent(wanted: PathValues, types: TypeNames): RawBuilder<boolean> {
  const column = COLUMNS.get(keysOf(wanted.path))
  if (column) return column(wanted)
  const found = hasPathToken(wanted, types)
  return wanted.path.some((step) => 'index' in step)
    ? sql`(${found} and ${hasTextValue(wanted)})`
    : found
}

function hasPathToken(wanted: PathValues, types: TypeNames): RawBuilder<boolean> {
  const tokens = pathTokens(wanted, types)
  return isUnderStatus(wanted.path) ? hasStatusToken(tokens) : hasToken(tokens)
}

/** True when each object that meets it has one of its tokens. */
export function isFoundByToken(requirement: FieldRequirement): boolean {
  if (requirement.operator !== 'In' || requirement.values.includes('')) return false
  return !COLUMNS.has(keysOf(requirement.path))
}

/** With list indexes collapsed, as in the stored tokens. */
function pathTokens({ path, values }: PathValues, types: TypeNames): readonly bigint[] {
  return types.flatMap((type) => {
    const hash = path.reduce<Hash64>(
      (parent, step) => ('key' in step ? childPath(parent, step.key) : elementPath(parent)),
      typeSeed(type),
    )
    return values.map((value) => fieldToken(hash, value))
  })
}

/** The status tokens of which an object must have one; undefined when these do not decide alone. */
export function statusTokens(
  requirement: FieldRequirement,
  types: TypeNames,
): readonly bigint[] | undefined {
  if (requirement.operator !== 'In' || requirement.values.includes('')) return undefined
  const { path } = requirement
  if (!isUnderStatus(path) || path.some((step) => 'index' in step)) return undefined
  return pathTokens(requirement, types)
}

function isUnderStatus(path: FieldPath): boolean {
  const first = path[0]
  return first !== undefined && 'key' in first && first.key === 'status'
}

/** A semi-join, which the planner starts from either side. */
function hasStatusToken(tokens: readonly bigint[]): RawBuilder<boolean> {
  return sql`exists (select from object_status s
    where s.cluster_id = o.cluster_id and s.type_id = o.type_id and s.namespace = o.namespace
    and s.name = o.name and s.tokens && ${bigintArray(tokens)})`
}

function hasTextValue({ path, values }: PathValues): RawBuilder<boolean> {
  return sql`coalesce(${valuesAt(path)} && ${textArray(values.map(escapeForStore))}, false)`
}

/** Paths that have no token, because they are columns. A map: a path may be `constructor`. */
const COLUMNS: ReadonlyMap<string, (wanted: PathValues) => RawBuilder<boolean>> = new Map([
  ['apiVersion', textColumn(sql`o.api_version`)],
  ['kind', kindColumn],
  ['metadata.name', textColumn(sql`o.name`)],
  ['metadata.namespace', textColumn(sql`o.namespace`)],
  ['metadata.uid', textColumn(sql`o.uid`)],
  ['metadata.resourceVersion', textColumn(sql`o.resource_version`)],
  ['metadata.creationTimestamp', createdAt],
])

function kindColumn({ values }: PathValues): RawBuilder<boolean> {
  return sql`exists (select from cluster_resource r
    where r.cluster_id = o.cluster_id and r.type_id = o.type_id
    and ${columnIn(sql`r.kind`, { operator: 'In', values })})`
}

function textColumn(column: RawBuilder<string>) {
  return ({ values }: PathValues) => columnIn(column, { operator: 'In', values })
}

/** The column finds the few rows; what the member wrote decides. */
function createdAt(wanted: PathValues): RawBuilder<boolean> {
  const times = wanted.values
    .map((value) => Date.parse(value))
    .filter((time) => !Number.isNaN(time))
    .map((time) => new Date(time).toISOString())
  const inText = sql`coalesce(values_at_path(o.metadata, ${textArray(['.creationTimestamp'])}) && ${textArray(wanted.values.map(escapeForStore))}, false)`
  return sql`((o.created_at is null or o.created_at = any (${textArray(times)}::timestamptz[])) and ${inText})`
}

function keysOf(path: FieldPath): string {
  return path.every((step) => 'key' in step && !step.key.includes('.'))
    ? path.map((step) => ('key' in step ? step.key : '')).join('.')
    : ''
}
