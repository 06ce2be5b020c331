/** From objects to the cells a client reads, through the stored form. */
import type { KubeObject } from '../../src/kube/kube-object.ts'
import { encodeRow, renderCells } from '../../src/printers/cell.ts'
import type { Printer } from '../../src/printers/printer.ts'
import { printerFor } from '../../src/printers/printers.ts'

/** JSON with integers beyond 2^53 as bigint, so that a test sees every digit. */
export function parseExactly(text: string): unknown {
  // The third argument is ECMAScript's "JSON.parse source text access"; the types lack it.
  const reviver = (_key: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && /^-?\d{16,}$/.test(context?.source ?? '')
      ? BigInt(context!.source!)
      : value
  return JSON.parse(text, reviver)
}

export interface PrintedRow {
  readonly cells: readonly unknown[]
  readonly conditions?: unknown
}

/** A row as sent at a given time, in milliseconds since 1970. */
export function printedAt(now: number, printer: Printer, object: KubeObject): PrintedRow {
  return parseExactly(`{"cells":[${renderCells(encodeRow(printer, object), now)}]}`) as PrintedRow
}

/** What every test here takes for the present. */
export const NOW = Date.parse('2026-01-02T00:00:00Z')
/** Five minutes ago: prints as `5m`. */
export const FIVE_MINUTES_AGO = '2026-01-01T23:55:00Z'

/** Column name → cell, of a built-in resource such as `jobs.batch`. */
export function rowOf(resource: string, object: KubeObject): Record<string, unknown> {
  const dot = resource.indexOf('.')
  const printer = printerFor({
    group: dot < 0 ? '' : resource.slice(dot + 1),
    resource: dot < 0 ? resource : resource.slice(0, dot),
    version: 'v1',
    kind: '',
  })
  const { cells } = printedAt(NOW, printer, object)
  return Object.fromEntries(printer.columns.map(({ name }, i) => [name, cells[i]]))
}
