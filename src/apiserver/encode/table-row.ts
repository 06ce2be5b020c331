/** Rows of a meta.k8s.io Table: the cluster, the stored cells with ages as of now, the object. */
import type { ColumnDefinition } from '../../kube/table.ts'
import { renderCells, splitRow } from '../../printers/cell.ts'
import type { RawRow } from '../../store/list-request.ts'
import { CLUSTER_COLUMN, type ColumnUnion, type Places } from './column-union.ts'
import type { RowJson } from './row-json.ts'

export interface TableRows {
  /** JSON of the column definitions. */
  readonly columnDefinitions: string
  readonly row: RowJson
}

export interface TableOptions {
  readonly union: ColumnUnion
  /** Undefined for rows made with columns that nobody knows any more: they show their name. */
  readonly columnSet: (id: number) => readonly ColumnDefinition[] | undefined
  readonly clusterName: (id: number) => string
  /** `null` for `includeObject=None`. */
  readonly object: RowJson | null
  /** One time for all rows of an answer. */
  readonly nowMilliseconds: number
}

const START = '{"cells":['
const BEFORE_OBJECT = Buffer.from('],"object":')
const END = Buffer.from('}')
const NO_OBJECT = Buffer.from('null')
const NULL = Buffer.from('null')
const COMMA = Buffer.from(',')

export function tableRows(options: TableOptions): TableRows {
  const { union, nowMilliseconds, object } = options
  const placesOf = remember((id) => {
    const columns = options.columnSet(id)
    return columns && union.placesOf(columns)
  })
  const startOf = remember((id) =>
    Buffer.from(`${START}${JSON.stringify(options.clusterName(id))},`),
  )
  return {
    columnDefinitions: JSON.stringify([CLUSTER_COLUMN, ...union.columns]),
    row: (row) => {
      const places = placesOf(row.columnsId)
      const cells = places ? renderCells(row.cells!, nowMilliseconds) : undefined
      return [
        startOf(row.clusterId),
        ...(places && cells ? placed(cells, places) : nameOnly(row, union)),
        BEFORE_OBJECT,
        ...(object ? object(row) : [NO_OBJECT]),
        END,
      ]
    },
  }
}

function placed(cells: Buffer, places: Places): readonly Buffer[] {
  if (places === 'as-they-are') return [cells]
  const own = splitRow(cells)
  const moved = places.map((place) => (place === undefined ? NULL : (own.cells[place] ?? NULL)))
  return [...joined(moved), own.rest]
}

/** A moment's state: the columns of a CRD changed, and this catalog is older than the row. */
function nameOnly(row: RawRow, { columns }: ColumnUnion): readonly Buffer[] {
  const name = Buffer.from(JSON.stringify(row.position().name))
  return joined(columns.map(({ format }) => (format === 'name' ? name : NULL)))
}

function joined(cells: readonly Buffer[]): readonly Buffer[] {
  return cells.flatMap((cell, index) => (index === 0 ? [cell] : [COMMA, cell]))
}

function remember<T>(make: (id: number) => T): (id: number) => T {
  const made = new Map<number, T>()
  return (id) => {
    const known = made.get(id)
    if (known !== undefined) return known
    const value = make(id)
    made.set(id, value)
    return value
  }
}
