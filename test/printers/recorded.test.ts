/** Every table that a kube-apiserver 1.36 printed, printed again from the objects in it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseApiVersion } from '../../src/kube/group-resource.ts'
import type { KubeObject } from '../../src/kube/kube-object.ts'
import {
  type AdditionalPrinterColumn,
  customResourcePrinter,
} from '../../src/printers/custom-resource.ts'
import type { Printer } from '../../src/printers/printer.ts'
import { printerFor } from '../../src/printers/printers.ts'
import { parseExactly, printedAt } from './print.ts'

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

interface Crd {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly versions: ReadonlyArray<{
      readonly name: string
      readonly additionalPrinterColumns?: readonly AdditionalPrinterColumn[]
    }>
  }
}

const TABLES = join(import.meta.dirname, '../recorded/tables')
const CUSTOM_GROUPS = ['devopstoolkitseries.com', 'widgets.example.com']

function read(file: string): Recording {
  return parseExactly(readFileSync(join(TABLES, file), 'utf8')) as Recording
}

const crds = read('apiextensions.k8s.io_v1_customresourcedefinitions.json').table.rows.map(
  ({ object }) => object as unknown as Crd,
)

function printerOf(recording: Recording): Printer {
  const { group, version } = parseApiVersion(recording.apiVersion)
  if (!CUSTOM_GROUPS.includes(group)) return printerFor({ ...recording, group, version })
  const crd = crds.find(({ metadata }) => metadata.name === `${recording.resource}.${group}`)
  const served = crd?.spec.versions.find(({ name }) => name === version)
  return customResourcePrinter(served?.additionalPrinterColumns ?? [])
}

const files = readdirSync(TABLES)

test('all recordings are here', () => {
  expect(files.length).toBeGreaterThanOrEqual(63)
})

describe.each(files)('%s', (file) => {
  const recording = read(file)
  const printer = printerOf(recording)

  test('columns', () => {
    expect(printer.columns).toEqual(recording.table.columnDefinitions)
  })

  test('cells and conditions', () => {
    const now = Date.parse(recording.recordedAt)
    const printed = recording.table.rows.map(({ object }) => printedAt(now, printer, object))
    expect(printed).toEqual(recording.table.rows.map(({ object: _, ...row }) => row))
  })
})
