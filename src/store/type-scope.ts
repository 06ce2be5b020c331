/** What a reader may see of several types. */
import { type RawBuilder, sql } from 'kysely'
import type { TypeName } from './condition-filter.ts'
import type { ReadScope } from './read-scope.ts'
import { inScope, visibleClusters } from './scope-filter.ts'
import { intArray } from './sql-value.ts'

/** Types of which the reader may see the same clusters and namespaces. */
export interface TypeScope {
  readonly types: readonly TypeName[]
  readonly scope: ReadScope
}

/** The condition on rows `o` of table `object`; undefined when nothing is visible. */
export function inTypeScopes(scopes: readonly TypeScope[]): RawBuilder<boolean> | undefined {
  const visible = scopes.flatMap(({ types, scope }) => {
    const clusters = visibleClusters(scope)
    if (clusters.length === 0 || types.length === 0) return []
    const ids = intArray(types.map(({ id }) => id))
    return [sql<boolean>`(o.type_id = any (${ids}) and ${inScope(clusters)})`]
  })
  return visible.length === 0 ? undefined : sql`(${sql.join(visible, sql` or `)})`
}

export function typesOf(scopes: readonly TypeScope[]): readonly TypeName[] {
  return scopes.flatMap(({ types }) => types)
}
