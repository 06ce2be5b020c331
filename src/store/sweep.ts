/**
 * Reads what a sweep's rules look at, of several clusters at once: SQL does the selecting.
 *
 * Most pods of most clusters are well, and of those only the metadata is fetched, from which it can
 * be told whom they belong to. Which they are must be said carefully: a pod counts as well only
 * when every sign of the contrary is absent.
 */
import { type RawBuilder, sql } from 'kysely'
import { childPath, elementPath, fieldToken, type Hash64, typeSeed } from '../kube/search-token.ts'
import type { Store } from './connect.ts'
import { readRows } from './readers.ts'
import { bigintArray, intArray } from './sql-value.ts'

export interface SweepRead {
  readonly clusterIds: readonly number[]
  readonly typeIds: readonly number[]
  /** Left out: all of them. */
  readonly namespace?: string
}

export interface SweptRow {
  readonly clusterId: number
  readonly typeId: number
  /** Undefined: it is well, and `metadata` is all there is to know. */
  readonly object: string | undefined
  readonly metadata: string | undefined
}

/** Which rows of a type a sweep needs, and how much of them. */
export type SweepPart =
  | { readonly kind: 'whole' }
  | { readonly kind: 'metadata' }
  | { readonly kind: 'pods' }
  | { readonly kind: 'deleted' }
  /** Those with one of these values at a path of theirs. */
  | { readonly kind: 'values'; readonly any: readonly PathValue[]; readonly orDeleted?: boolean }

export interface PathValue {
  /** The stored type. */
  readonly group: string
  readonly resource: string
  /** A step `[]` is any element. */
  readonly path: readonly string[]
  readonly values: readonly string[]
}

interface SweptColumns {
  readonly id: number
  readonly type: number
  readonly object: string | null
  readonly metadata: string | null
}

/** @throws StatusError when the database does not answer. */
export async function readSwept(
  store: Store,
  read: SweepRead,
  part: SweepPart,
): Promise<readonly SweptRow[]> {
  const { clusterIds, typeIds, namespace } = read
  const within = sql`o.type_id = any (${intArray(typeIds)}) and o.cluster_id = any (${intArray(clusterIds)})
    ${namespace === undefined ? sql`` : sql`and o.namespace = ${namespace}`}`
  const query = sql`${selectionOf(part, within)}`
  const rows = await readRows<SweptColumns>(store.readers, query.compile(store.db))
  return rows.map(({ id, type, object, metadata }) => ({
    clusterId: id,
    typeId: type,
    object: object ?? undefined,
    metadata: metadata ?? undefined,
  }))
}

const WHOLE = sql`o.head || o.metadata || o.tail`
const IS_DELETED = sql`strpos(o.metadata, '"deletionTimestamp"') > 0`

function selectionOf(part: SweepPart, within: RawBuilder<unknown>): RawBuilder<unknown> {
  switch (part.kind) {
    case 'whole':
      return sql`select o.cluster_id as id, o.type_id as type, ${WHOLE} as object, null as metadata
        from object o where ${within}`
    case 'metadata':
      return sql`select o.cluster_id as id, o.type_id as type, null as object, o.metadata from object o where ${within}`
    case 'deleted':
      return sql`select o.cluster_id as id, o.type_id as type, ${WHOLE} as object, null as metadata
        from object o where ${within} and ${IS_DELETED}`
    case 'values':
      return valuesSelection(part, within)
    case 'pods':
      return podSelection(within)
  }
}

function valuesSelection(
  { any, orDeleted = false }: Extract<SweepPart, { kind: 'values' }>,
  within: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const inStatus = any.filter(({ path }) => path[0] === 'status')
  const found = sql.join(
    [
      hasAny(
        sql`o.tokens`,
        any.filter(({ path }) => path[0] !== 'status'),
      ),
      hasAny(sql`s.tokens`, inStatus),
      ...(orDeleted ? [IS_DELETED] : []),
    ].filter((condition) => condition !== undefined),
    sql` or `,
  )
  return sql`select o.cluster_id as id, o.type_id as type, ${WHOLE} as object, null as metadata
    from object o ${inStatus.length > 0 ? JOIN_STATUS : sql``} where ${within} and (${found})`
}

const JOIN_STATUS = sql`left join object_status s on s.cluster_id = o.cluster_id
  and s.type_id = o.type_id and s.namespace = o.namespace and s.name = o.name`

function hasAny(tokens: RawBuilder<unknown>, any: readonly PathValue[]) {
  const wanted = tokensOf(any)
  return wanted.length > 0 ? sql`${tokens} && ${bigintArray(wanted)}` : undefined
}

function tokensOf(any: readonly PathValue[]): readonly bigint[] {
  return any.flatMap(({ path, values, ...type }) => {
    const at = path.reduce<Hash64>(
      (parent, step) => (step === '[]' ? elementPath(parent) : childPath(parent, step)),
      typeSeed(type),
    )
    return values.map((value) => fieldToken(at, value))
  })
}

function ofPods(path: string, ...values: readonly string[]): PathValue {
  return { group: '', resource: 'pods', path: path.split('.'), values }
}

const CONTAINERS = ['containerStatuses', 'initContainerStatuses'].map((name) => `status.${name}.[]`)

/** What every pod has that is well. */
const SIGNS_OF_HEALTH = tokensOf([
  ofPods('status.phase', 'Running'),
  ofPods('status.conditions.[].type', 'Ready'),
  ofPods('status.containerStatuses.[].ready', 'true'),
])

/** What no pod has that is well. */
const SIGNS_OF_TROUBLE = tokensOf([
  ofPods('status.conditions.[].status', 'False', 'Unknown'),
  ...CONTAINERS.flatMap((container) => [
    ofPods(`${container}.ready`, 'false'),
    ofPods(`${container}.state.terminated.reason`, 'OOMKilled'),
    ofPods(`${container}.lastState.terminated.reason`, 'OOMKilled'),
    ofPods(`${container}.state.waiting.reason`, ...waitingReasons()),
  ]),
])

function waitingReasons(): readonly string[] {
  return [
    ...['CrashLoopBackOff', 'ImagePullBackOff', 'ErrImagePull', 'CreateContainerConfigError'],
    ...['RunContainerError', 'CreateContainerError', 'PreStartHookError', 'PostStartHookError'],
    ...['StartError', 'ContainerCreating', 'PodInitializing'],
  ]
}

/**
 * Numbers cannot be compared by tokens; the column RESTARTS has what is needed of them. A row that
 * was printed in any other way is looked at in full.
 */
const NEVER_RESTARTED = sql`o.cells ~ '^"[^"]*","[0-9]+/[0-9]+","Running","?0"?,'`

/** The keys are a set made once for the query; a join would look each of them up. */
function podSelection(within: RawBuilder<unknown>): RawBuilder<unknown> {
  const isWell = sql`(o.cluster_id, o.namespace, o.name) in (
      select o.cluster_id, o.namespace, o.name from object_status o
      where ${within} and o.tokens @> ${bigintArray(SIGNS_OF_HEALTH)}
        and not o.tokens && ${bigintArray(SIGNS_OF_TROUBLE)})
    and ${NEVER_RESTARTED} and not ${IS_DELETED}`
  return sql`select id, type, case when is_well then null else head || metadata || tail end as object,
      case when is_well then metadata end as metadata
    from (
      select o.cluster_id as id, o.type_id as type, o.head, o.metadata, o.tail, ${isWell} as is_well
      from object o where ${within} offset 0
    ) pods`
}
