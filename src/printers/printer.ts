/**
 * What turns an object into the cells of a Table row, when the object arrives.
 *
 * Cells hold no time that passes: an age is a {@link TimeSince} inside a cell, and is rendered
 * when the row is read (printers/cell.ts).
 */
import type { KubeObject } from '../kube/kube-object.ts'
import type { ColumnDefinition } from '../kube/table.ts'

/** "How long ago", to be rendered as kubectl renders an age when the row is read. */
export class TimeSince {
  /** Milliseconds since 1970. */
  readonly at: number

  constructor(at: number) {
    this.at = at
  }
}

/** Text with ages in it, such as `3 (5m ago)`. */
export class TextWithTimes {
  readonly parts: ReadonlyArray<string | TimeSince>

  constructor(...parts: ReadonlyArray<string | TimeSince>) {
    this.parts = parts
  }
}

/** A bigint keeps the digits of an integer beyond 2^53. `null` is sent as JSON null. */
export type Cell = string | number | bigint | boolean | null | TimeSince | TextWithTimes

/** What a row says of its object as a whole; a TableRowCondition of meta.k8s.io. */
export interface RowCondition {
  readonly type: 'Completed'
  readonly status: 'True'
  readonly reason: string
  readonly message: string
}

export interface Printer {
  /** Without the `Cluster` column, which belongs to the answer and not to the object. */
  readonly columns: readonly ColumnDefinition[]
  /**
   * One cell per column; only ipaddresses have an age after the last column, as kube-apiserver
   * sends it. Never throws: what is missing or odd prints as kubectl prints it.
   */
  readonly cells: (object: KubeObject) => readonly Cell[]
  /** Left out: there is never one. */
  readonly conditions?: (object: KubeObject) => readonly RowCondition[]
}

/** The cells of one kind, in the order of its columns in columns.json. */
export type PrintCells = (object: KubeObject) => readonly Cell[]

/** Printers by qualified resource: `deployments.apps`, `pods`. */
export type PrintersByResource = Readonly<Record<string, PrintCells>>
