/**
 * The columns of every built-in resource, as kube-apiserver 1.36 declares them.
 *
 * The texts are data (columns.json): a string in a resource's list names one of the `shared`
 * columns, and what is empty or 0 is left out.
 * What fills the columns is in the file of each kind.
 */
import type { ColumnDefinition } from '../kube/table.ts'
import data from './columns.json' with { type: 'json' }

interface StoredColumn {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
}

type Resources = Readonly<Record<string, ReadonlyArray<string | StoredColumn>>>

const SHARED: Readonly<Record<string, ColumnDefinition>> = Object.fromEntries(
  Object.entries(data.shared).map(([name, column]) => [name, complete(column)]),
)

const OF_RESOURCE: ReadonlyMap<string, readonly ColumnDefinition[]> = new Map(
  Object.entries(data.resources as Resources).map(([resource, columns]) => [
    resource,
    columns.map((column) => (typeof column === 'string' ? SHARED[column]! : complete(column))),
  ]),
)

function complete(column: StoredColumn): ColumnDefinition {
  const { name, type, format = '', description = '', priority = 0 } = column
  return { name, type, format, description, priority }
}

export const NAME_COLUMN: ColumnDefinition = SHARED.Name!
export const AGE_COLUMN: ColumnDefinition = SHARED.Age!

/** @param resource - As `deployments.apps`. Undefined when it is no built-in resource. */
export function builtInColumns(resource: string): readonly ColumnDefinition[] | undefined {
  return OF_RESOURCE.get(resource)
}
