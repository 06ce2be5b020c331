/**
 * A list in the order of its keys, read from the key index without sorting.
 *
 * The scope becomes segments of the index: (cluster, first key exclusive, last namespace). One
 * nested loop goes through them in the order of cluster names. `offset 0` keeps the planner from
 * turning it into another kind of join, which would lose the order.
 */
import { type RawBuilder, sql } from 'kysely'
import { compareBytes } from '../kube/byte-order.ts'
import type { Position } from '../kube/continue-token.ts'
import { matchesAll } from './condition-filter.ts'
import type { ListRequest } from './list-request.ts'
import type { ScopedCluster } from './read-scope.ts'
import { intArray, isStorable, limits, textArray } from './sql-value.ts'
import { withWholeRows } from './whole-rows.ts'
import type { WideColumn } from './wide-columns.ts'

interface Segment {
  readonly clusterId: number
  /** Keys after (namespace, name) … */
  readonly namespace: string
  readonly name: string
  /** … up to and with this namespace. */
  readonly lastNamespace: string
}

/** After every namespace there can be: the greatest character, longer than any name. */
export const BEYOND_ALL = '\u{10ffff}'.repeat(64)

export function walkSegments(
  request: ListRequest,
  columns: readonly WideColumn[],
): RawBuilder<unknown> {
  const segments = segmentsOfAll(request)
  const [only, ...others] = request.scope
  const conditions = [
    sql`o.cluster_id = s.cluster_id and o.type_id = ${request.type.id}`,
    // Said again, it spares the planner all partitions but one.
    ...(only && others.length === 0 ? [sql`o.cluster_id = ${only.id}`] : []),
    sql`(o.namespace, o.name) > (s.namespace, s.name) and o.namespace <= s.last_namespace`,
    ...matchesAll(request.conditions, [request.type]),
  ]
  const most = request.limit === undefined ? undefined : request.limit + (request.offset ?? 0)
  const walk = (row: RawBuilder<unknown>) => sql`select o.* from unnest(
    ${intArray(segments.map(({ clusterId }) => clusterId))},
    ${textArray(segments.map(({ namespace }) => namespace))},
    ${textArray(segments.map(({ name }) => name))},
    ${textArray(segments.map(({ lastNamespace }) => lastNamespace))}
  ) as s (cluster_id, namespace, name, last_namespace)
  cross join lateral (
    select ${row} from object o where ${sql.join(conditions, sql` and `)}
    order by o.namespace, o.name ${most === undefined ? sql`offset 0` : sql`limit ${most}::int8`}
  ) o
  where (select c.removed_at is null from cluster c where c.id = s.cluster_id)${limits(request)}`
  if (!request.offset) {
    return walk(sql.join([ROW, ...columns.map((column) => sql`o.${sql.id(column)}`)]))
  }
  // What is passed over is read from the index alone.
  const keys = walk(sql`o.cluster_id, o.namespace, o.name`)
  const wide = columns.map((column) => sql`w.${sql.id(column)}`)
  const row = sql`k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name`
  return sql`select ${sql.join([row, ...wide])} from (${keys}) k ${withWholeRows(request)}`
}

const ROW = sql`o.cluster_id, o.api_version, o.columns_id, o.namespace, o.name`

/** So many stretches take about half a second, whether anything is in them or not. */
const SEGMENTS_MOST = 500

/** False where sorting what is found costs less than going through every namespace by itself. */
export function isWorthWalking({ scope, conditions }: ListRequest): boolean {
  const wanted = wantedNamespaces(conditions)
  let segments = 0
  for (const { namespaces } of scope) {
    const asked = asVisible(namespaces, wanted)
    segments += asked === 'every-namespace' ? 1 : asked.size
    if (segments > SEGMENTS_MOST) return segments <= scope.length
  }
  return true
}

function segmentsOfAll({ scope, conditions, after }: ListRequest): Segment[] {
  const wanted = wantedNamespaces(conditions)
  return scope.flatMap((cluster) =>
    segmentsOf(cluster, asVisible(cluster.namespaces, wanted), after),
  )
}

/** Nothing of a cluster that lies before the position; of its own cluster what lies behind. */
function segmentsOf(
  cluster: ScopedCluster,
  asked: 'every-namespace' | ReadonlySet<string>,
  after: Position | undefined,
): Segment[] {
  const place = after ? comparedWith(cluster.name, after) : 1
  if (place < 0) return []
  const from = place === 0 && after ? after : { namespace: '', name: '' }
  const clusterId = cluster.id
  if (asked === 'every-namespace') {
    return [{ clusterId, namespace: from.namespace, name: from.name, lastNamespace: BEYOND_ALL }]
  }
  return [...asked]
    .filter((namespace) => isStorable(namespace) && compareBytes(namespace, from.namespace) >= 0)
    .sort(compareBytes)
    .map((namespace) => ({
      clusterId,
      namespace,
      name: namespace === from.namespace ? from.name : '',
      lastNamespace: namespace,
    }))
}

/** The namespaces that every condition allows; `NotIn` is left to SQL. */
function wantedNamespaces(
  conditions: ListRequest['conditions'],
): 'every-namespace' | ReadonlySet<string> {
  const lists = conditions.flatMap((condition) =>
    condition.on === 'namespace' && condition.operator === 'In' ? [new Set(condition.values)] : [],
  )
  return lists.length === 0 ? 'every-namespace' : lists.reduce(common)
}

/** Those of them that the reader may see. */
function asVisible(
  visible: ScopedCluster['namespaces'],
  wanted: 'every-namespace' | ReadonlySet<string>,
): 'every-namespace' | ReadonlySet<string> {
  if (visible === 'every-namespace') return wanted
  const seen = new Set(visible)
  return wanted === 'every-namespace' ? seen : common(seen, wanted)
}

function common(some: ReadonlySet<string>, others: ReadonlySet<string>): Set<string> {
  return new Set([...some].filter((one) => others.has(one)))
}

function comparedWith(cluster: string, after: Position): number {
  return compareBytes(cluster, after.cluster)
}
