/**
 * Custom resources: the `additionalPrinterColumns` of the member's own CRD.
 *
 * @see apiextensions-apiserver/pkg/registry/customresource/tableconvertor: the rule this follows.
 *   A path that finds several values prints the first; a value of another type than the column's
 *   prints as null.
 */
import type { KubeObject } from '../kube/kube-object.ts'
import type { ColumnDefinition } from '../kube/table.ts'
import { UNKNOWN_TIME } from './cell.ts'
import { AGE_COLUMN, NAME_COLUMN } from './columns.ts'
import { goText } from './go-text.ts'
import { plain, type Step } from './json-path.ts'
import { JsonPathError, parseJsonPath } from './json-path-parser.ts'
import type { Cell, Printer } from './printer.ts'
import { count, nameOf, since, text, timeOf, ZERO_TIMESTAMP } from './read-field.ts'

/** As a CustomResourceDefinition has it, of v1 or (`JSONPath`) of v1beta1. */
export interface AdditionalPrinterColumn {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
  readonly jsonPath?: string
  readonly JSONPath?: string
}

interface CustomColumn {
  readonly definition: ColumnDefinition
  readonly find: Step
}

/** What is printed when the CRD names no columns. */
const DEFAULT_COLUMNS: readonly AdditionalPrinterColumn[] = [
  {
    name: 'Age',
    type: 'date',
    description: AGE_COLUMN.description,
    jsonPath: '.metadata.creationTimestamp',
  },
]

/** @param columns - Those of the version that the member serves; empty is Age alone. */
export function customResourcePrinter(columns: readonly AdditionalPrinterColumn[]): Printer {
  const custom = readColumns(columns.length === 0 ? DEFAULT_COLUMNS : columns)
  return {
    columns: [NAME_COLUMN, ...custom.map(({ definition }) => definition)],
    cells: (object) => [nameOf(object), ...custom.map((column) => cellOf(column, object))],
  }
}

/** Upstream prints the columns before the first one whose path has no meaning. */
function readColumns(columns: readonly AdditionalPrinterColumn[]): readonly CustomColumn[] {
  const read: CustomColumn[] = []
  for (const column of columns) {
    const find = parsedOrUndefined(text(column.jsonPath ?? column.JSONPath))
    if (find === undefined) break
    read.push({ definition: definitionOf(column), find })
  }
  return read
}

function parsedOrUndefined(path: string): Step | undefined {
  try {
    return parseJsonPath(path)
  } catch (error) {
    if (error instanceof JsonPathError) return undefined
    throw error
  }
}

function definitionOf(column: AdditionalPrinterColumn): ColumnDefinition {
  const path = text(column.jsonPath ?? column.JSONPath)
  return {
    name: text(column.name),
    type: text(column.type),
    format: text(column.format),
    description:
      text(column.description) || `Custom resource definition column (in JSONPath format): ${path}`,
    priority: count(column.priority),
  }
}

function cellOf({ definition, find }: CustomColumn, object: KubeObject): Cell {
  const found = find([object])
  if (found === undefined || found.length === 0) return null
  const value = plain(found[0])
  switch (definition.type) {
    case 'string':
      return goText(value)
    case 'integer':
      return integerCell(value)
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? dateCell(value) : null
    default:
      return null
  }
}

/** A fraction is cut off. */
function integerCell(value: unknown): Cell {
  if (typeof value === 'bigint') return value
  return typeof value === 'number' ? Math.trunc(value) : null
}

function dateCell(value: string): Cell {
  if (value === '' || value === 'null' || value === ZERO_TIMESTAMP) return UNKNOWN_TIME
  return timeOf(value) === undefined ? '<invalid>' : since(value)
}
