/** Makes the documents that are sent: v3 from members' bytes, v2 from v3. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseExactly } from '../../kube/exact-json.ts'
import type { JsonObject } from '../../kube/kube-object.ts'
import type { DescribedVersion, OpenApiSource } from './catalogue.ts'
import { convertToV2 } from './convert-to-v2.ts'
import { encodeOpenApiV2 } from './encode-openapi-v2.ts'
import { selectTypes, uniteDocuments } from './select-types.ts'

/** `undefined` when none of the members' documents is stored any more. */
export async function makeV3(
  source: OpenApiSource,
  { path, parts }: DescribedVersion,
): Promise<Buffer | undefined> {
  const selected: JsonObject[] = []
  for (const { digest, types } of parts) {
    const stored = await source.document(digest)
    if (stored) selected.push(selectTypes(parseExactly(stored) as JsonObject, { path, types }))
  }
  if (selected.length === 0) return undefined
  return Buffer.from(JSON.stringify(uniteDocuments(selected)))
}

export interface V2Request {
  /** v3 documents as they are sent. */
  readonly documents: AsyncIterable<Buffer>
  /** Of the API that is described: `v1.36.2`. */
  readonly version: string
  readonly encoding: 'json' | 'protobuf'
}

export async function makeV2({ documents, version, encoding }: V2Request): Promise<Buffer> {
  const parsed: JsonObject[] = []
  for await (const document of documents) {
    parsed.push(JSON.parse(document.toString()))
    // Other requests get their turn between two documents.
    await nextTurn()
  }
  const converted = convertToV2(parsed, version)
  await nextTurn()
  return encoding === 'json' ? Buffer.from(JSON.stringify(converted)) : encodeOpenApiV2(converted)
}
