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
  /** The pieces to send for one entry, given the pieces of its JSON. */
  readonly entry: (json: readonly Buffer[], isFirst: boolean) => readonly Buffer[]
  readonly close: (metadata: ListMetadata, isEmpty: boolean) => Buffer
}

const COMMA = Buffer.from(',')

export function jsonListEncoder(frame: ListFrame): ListEncoder {
  const { kind, apiVersion, columnDefinitions, entries } = frame
  const columns = columnDefinitions === undefined ? '' : `,"columnDefinitions":${columnDefinitions}`
  const start = `"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)}`
  return {
    contentType: 'application/json',
    open: () => Buffer.from(`{${start}${columns},"${entries}":[`),
    entry: (json, isFirst) => (isFirst ? json : [COMMA, ...json]),
    close: (metadata) => Buffer.from(`],"metadata":${JSON.stringify(metadata)}}\n`),
  }
}

export function yamlListEncoder(frame: ListFrame): ListEncoder {
  const { entries, columnDefinitions, kind, apiVersion } = frame
  const columns = columnDefinitions ? jsonToYaml(`{"columnDefinitions":${columnDefinitions}}`) : ''
  return {
    contentType: 'application/yaml',
    open: () =>
      Buffer.from(`${jsonToYaml(JSON.stringify({ apiVersion, kind }))}${columns}${entries}:`),
    entry: (json, isFirst) => [
      Buffer.from(`${isFirst ? '\n' : ''}${jsonToYamlItem(Buffer.concat(json).toString('utf8'))}`),
    ],
    close: (metadata, isEmpty) =>
      Buffer.from(`${isEmpty ? ' []\n' : ''}${jsonToYaml(JSON.stringify({ metadata }))}`),
  }
}
