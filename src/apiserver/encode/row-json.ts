/**
 * The JSON of one row, as pieces that are sent one after another; nothing is parsed or joined.
 *
 * An object is sent whole, or as its metadata alone under a kind of meta.k8s.io or its own.
 */
import type { RawRow } from '../../store/list-request.ts'

export type RowJson = (row: RawRow) => readonly Buffer[]

const CLOSE = Buffer.from('}')

/** `head`, `metadata` and `tail` together are the object's JSON. */
export function wholeObject({ head, metadata, tail }: RawRow): readonly Buffer[] {
  return [head!, metadata!, tail!]
}

/** @param metaVersion - of meta.k8s.io. */
export function partialObject(metaVersion: 'v1' | 'v1beta1'): RowJson {
  const start = startOf('PartialObjectMetadata', `meta.k8s.io/${metaVersion}`)
  return ({ metadata }) => [start, metadata!, CLOSE]
}

/** The metadata under the object's own kind: what `onlyMetadata=true` asks for. */
export function objectWithoutBody(kindOf: (row: RawRow) => string): RowJson {
  return (row) => [startOf(kindOf(row), row.apiVersion), row.metadata!, CLOSE]
}

function startOf(kind: string, apiVersion: string): Buffer {
  const text = `"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)}`
  return Buffer.from(`{${text},"metadata":`)
}
