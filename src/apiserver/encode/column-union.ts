/**
 * The columns of a table over clusters that may print one type differently.
 *
 * The first cluster's columns keep their order, what others have besides follows: stable, because
 * clusters are sorted by name. Cells of a row are moved to where its columns stand in the union.
 */
import type { ColumnDefinition } from '../../kube/table.ts'

export const CLUSTER_COLUMN: ColumnDefinition = {
  name: 'Cluster',
  type: 'string',
  format: '',
  description: 'Name of the member cluster that the object is in.',
  priority: 0,
}

export interface ColumnUnion {
  /** Without the `Cluster` column. */
  readonly columns: readonly ColumnDefinition[]
  /**
   * For each column of the union, which cell of a row made with these columns belongs there;
   * undefined where the row has none. `'as-they-are'` when nothing has to be moved.
   */
  readonly placesOf: (columns: readonly ColumnDefinition[]) => Places
}

export type Places = 'as-they-are' | ReadonlyArray<number | undefined>

/** @param sets - one per cluster, in the order of clusters; equal ones may repeat. */
export function uniteColumns(sets: ReadonlyArray<readonly ColumnDefinition[]>): ColumnUnion {
  const union = new Map<string, ColumnDefinition>()
  for (const set of new Set(sets)) {
    for (const [key, column] of keyed(set)) if (!union.has(key)) union.set(key, column)
  }
  const keys = [...union.keys()]
  return {
    columns: [...union.values()],
    placesOf: (columns) => {
      const places = new Map(keyed(columns).map(([key], index) => [key, index]))
      const found = keys.map((key) => places.get(key))
      const same = found.length === columns.length && found.every((place, i) => place === i)
      return same ? 'as-they-are' : found
    },
  }
}

/** By name, and counted: nothing keeps a custom resource from having two columns of one name. */
function keyed(columns: readonly ColumnDefinition[]): Array<readonly [string, ColumnDefinition]> {
  const seen = new Map<string, number>()
  return columns.map((column) => {
    const times = seen.get(column.name) ?? 0
    seen.set(column.name, times + 1)
    return [`${times} ${column.name}`, column] as const
  })
}
