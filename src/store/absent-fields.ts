/**
 * Which fields none of a few objects has: what makes a misspelt path look like an answer.
 *
 * Tokens are made of a path and its value, so no index knows paths alone. A few objects of every
 * type and cluster are looked at instead, up to the first that has the field: of one that most have
 * that is a single object.
 */
import { type RawBuilder, sql } from 'kysely'
import type { FieldPath } from '../kube/field-selector.ts'
import type { Store } from './connect.ts'
import type { ReadScope } from './read-scope.ts'
import { readRows } from './readers.ts'
import { visibleClusters } from './scope-filter.ts'
import { intArray, isStorable, textArray } from './sql-value.ts'
import type { TypeScope } from './type-scope.ts'
import { existsAt } from './values-at-path.ts'
import { BEYOND_ALL } from './walk.ts'

export interface FieldQuestion {
  readonly scopes: readonly TypeScope[]
  readonly paths: readonly FieldPath[]
}

export interface AbsentFields {
  /** How many objects were looked at; 0: nothing can be said. */
  readonly looked: number
  /** Those of the paths that none of them has. */
  readonly absent: readonly FieldPath[]
}

const OBJECTS_MOST = 200
const PLACES_MOST = 100
/** As stored. A ConfigMap of a megabyte says no more than a small one. */
const BYTES_MOST = 32_768

/** @throws StatusError as the database fails. */
export async function findAbsentFields(
  store: Store,
  question: FieldQuestion,
): Promise<AbsentFields> {
  const query = absentFieldsQuery(question)?.compile(store.db)
  if (!query) return { looked: 0, absent: [] }
  const [row] = await readRows<Record<string, string | boolean>>(store.readers, query)
  const looked = Number(row?.looked ?? 0)
  const absent = looked === 0 ? [] : question.paths.filter((_, i) => row?.[`a${i}`] === true)
  return { looked, absent }
}

/** Undefined when there is nothing to look at, or for. */
export function absentFieldsQuery({
  scopes,
  paths,
}: FieldQuestion): RawBuilder<unknown> | undefined {
  const places = placesOf(scopes)
  if (places.length === 0 || paths.length === 0) return undefined
  const some = sample(places)
  const absent = paths.map(
    (path, i) =>
      sql`not exists (select from ${some} where ${existsAt(path)}) as ${sql.id(`a${i}`)}`,
  )
  return sql`select (select count(*) from ${some}) as looked, ${sql.join(absent)}`
}

/** A stretch of the key index. */
interface Place {
  readonly clusterId: number
  readonly typeId: number
  readonly firstNamespace: string
  readonly lastNamespace: string
}

/** Types by turns, so that none is left out because another is in many clusters. */
function placesOf(scopes: readonly TypeScope[]): readonly Place[] {
  const ofTypes = scopes.flatMap(({ types, scope }) => {
    const stretches = stretchesOf(visibleClusters(scope))
    return types.map(({ id: typeId }) => stretches.map((stretch) => ({ ...stretch, typeId })))
  })
  const places: Place[] = []
  for (let turn = 0; places.length < PLACES_MOST; turn++) {
    const next = ofTypes.flatMap((ofType) => ofType[turn] ?? [])
    if (next.length === 0) return places
    places.push(...next)
  }
  return places.slice(0, PLACES_MOST)
}

function stretchesOf(scope: ReadScope): ReadonlyArray<Omit<Place, 'typeId'>> {
  return scope.flatMap(({ id: clusterId, namespaces }) =>
    namespaces === 'every-namespace'
      ? [{ clusterId, firstNamespace: '', lastNamespace: BEYOND_ALL }]
      : namespaces.filter(isStorable).map((namespace) => ({
          ...{ clusterId, firstNamespace: namespace, lastNamespace: namespace },
        })),
  )
}

/** Rows `o`, at least one for each place that has any. */
function sample(places: readonly Place[]): RawBuilder<unknown> {
  const each = Math.ceil(OBJECTS_MOST / places.length)
  return sql`(select o.* from unnest(
    ${intArray(places.map(({ clusterId }) => clusterId))},
    ${intArray(places.map(({ typeId }) => typeId))},
    ${textArray(places.map(({ firstNamespace }) => firstNamespace))},
    ${textArray(places.map(({ lastNamespace }) => lastNamespace))}
  ) as s (cluster_id, type_id, first_namespace, last_namespace)
  cross join lateral (
    select o.head, o.metadata, o.tail from object o
    where o.cluster_id = s.cluster_id and o.type_id = s.type_id
    and o.namespace >= s.first_namespace and o.namespace <= s.last_namespace
    and pg_column_size(o.tail) <= ${sql.lit(BYTES_MOST)} limit ${sql.lit(each)}
  ) o
  where (select c.removed_at is null from cluster c where c.id = s.cluster_id)) o`
}
