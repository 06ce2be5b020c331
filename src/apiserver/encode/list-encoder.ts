/**
 * The frame of a list answer, in JSON or YAML: what stands before, between and after its entries.
 *
 * `metadata` comes last: only after the last row is known whether there is another page, and rows
 * are not held back for it. Readers of JSON do not care.
 */
import { jsonToYaml, jsonToYamlItem } from './yaml.ts'

/** A value that is JSON text already. */
export type JsonText = string

export interface ListFrame {
  readonly kind: string
  readonly apiVersion: string
  /** Of a Table. */
  readonly columnDefinitions?: JsonText
  readonly entries: 'items' | 'rows'
}

export interface ListMetadata {
  readonly resourceVersion: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

export interface ListEncoder {
  readonly contentType: string
  readonly open: () => Buffer
  /** The pieces to send for an entry, given the pieces of its JSON. */
  readonly first: (json: readonly Buffer[]) => readonly Buffer[]
  readonly next: (json: readonly Buffer[]) => readonly Buffer[]
  readonly close: (metadata: ListMetadata) => Buffer
  /** In place of `close`, when there was no entry. */
  readonly closeEmpty: (metadata: ListMetadata) => Buffer
}

const COMMA = Buffer.from(',')

export function jsonListEncoder(frame: ListFrame): ListEncoder {
  const { kind, apiVersion, columnDefinitions, entries } = frame
  const columns = columnDefinitions === undefined ? '' : `,"columnDefinitions":${columnDefinitions}`
  const start = `"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)}`
  const close = (metadata: ListMetadata) =>
    Buffer.from(`],"metadata":${JSON.stringify(metadata)}}\n`)
  return {
    contentType: 'application/json',
    open: () => Buffer.from(`{${start}${columns},"${entries}":[`),
    first: (json) => json,
    next: (json) => [COMMA, ...json],
    close,
    closeEmpty: close,
  }
}

export function yamlListEncoder(frame: ListFrame): ListEncoder {
  const { entries, columnDefinitions, kind, apiVersion } = frame
  const columns = columnDefinitions ? jsonToYaml(`{"columnDefinitions":${columnDefinitions}}`) : ''
  const item = (json: readonly Buffer[]) => jsonToYamlItem(Buffer.concat(json).toString('utf8'))
  const end = (metadata: ListMetadata) => jsonToYaml(JSON.stringify({ metadata }))
  return {
    contentType: 'application/yaml',
    open: () =>
      Buffer.from(`${jsonToYaml(JSON.stringify({ apiVersion, kind }))}${columns}${entries}:`),
    first: (json) => [Buffer.from(`\n${item(json)}`)],
    next: (json) => [Buffer.from(item(json))],
    close: (metadata) => Buffer.from(end(metadata)),
    closeEmpty: (metadata) => Buffer.from(` []\n${end(metadata)}`),
  }
}
