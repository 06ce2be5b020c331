/** Every table that a kube-apiserver 1.36 printed, printed again from the objects in it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseApiVersion } from '../../src/kube/group-resource.ts'
import type { KubeObject } from '../../src/kube/kube-object.ts'
import { encodeCells, renderCells } from '../../src/printers/cell.ts'
import { printerFor } from '../../src/printers/printers.ts'

interface Recording {
  readonly recordedAt: string
  readonly apiVersion: string
  readonly resource: string
  readonly kind: string
  readonly table: {
    readonly columnDefinitions: readonly unknown[]
    readonly rows: ReadonlyArray<{
      readonly cells: readonly unknown[]
      readonly object: KubeObject
    }>
  }
}

const TABLES = join(import.meta.dirname, '../recorded/tables')
const files = readdirSync(TABLES).filter((f) => /pods|deployments|namespaces/.test(f))

describe.each(files)('%s', (file) => {
  const recording = JSON.parse(readFileSync(join(TABLES, file), 'utf8')) as Recording
  const printer = printerFor({ ...parseApiVersion(recording.apiVersion), ...recording })

  test('columns', () => {
    expect(printer.columns).toEqual(recording.table.columnDefinitions)
  })

  test('cells', () => {
    const now = Date.parse(recording.recordedAt)
    const printed = recording.table.rows.map(({ object }) =>
      JSON.parse(`[${renderCells(encodeCells(printer.cells(object)), now)}]`),
    )
    expect(printed).toEqual(recording.table.rows.map(({ cells }) => cells))
  })
})
