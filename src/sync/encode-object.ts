/**
 * A member's object, as bytes, becomes the row that is stored.
 *
 * Owns     what makes an object acceptable, what is filled in (kind, apiVersion), the annotation
 *          that names the cluster, digests in place of Secret values, cells.
 * Not here reading the bytes (scan-object.ts), the columns (printers/), writing rows (store/).
 */
import { isUtf8 } from 'node:buffer'
import type { Keyring } from '../keyring.ts'
import { apiVersionOf, type GroupVersionResource } from '../kube/group-resource.ts'
import { CLUSTER_ANNOTATION, type KubeObject } from '../kube/kube-object.ts'
import { storedAs } from '../kube/moved-resources.ts'
import { encodeRow } from '../printers/cell.ts'
import type { Printer } from '../printers/printer.ts'
import type { ObjectKey, ObjectRow } from '../store/object-row.ts'
import { applyEdits, type ByteEdit, movedOffset } from './byte-edits.ts'
import { JsonError, QUOTE, stringOf } from './json-bytes.ts'
import { parseLossless } from './parse-lossless.ts'
import { ObjectScanner, type Range, type Scan } from './scan-object.ts'
import { digestSecretValue } from './secret-digest.ts'
import { WordTokens } from './word-tokens.ts'

export interface EncoderOptions {
  readonly cluster: string
  /** As the member serves it. */
  readonly of: GroupVersionResource & { readonly kind: string }
  readonly printer: Printer
  readonly keyring: Pick<Keyring, 'digest'>
  readonly secretValues: 'digest' | 'store'
  /** Kept as the member sent them when false; last-applied never leaves a Secret. */
  readonly cutManagedFields?: boolean
  readonly cutLastApplied?: boolean
}

/** One object cannot be mirrored; the others can. The message says why, without its content. */
export class InvalidObject extends Error {
  override readonly name = 'InvalidObject'
  /** When it could be read: what is stored under it is no longer true. */
  readonly key: ObjectKey | undefined

  constructor(message: string, key?: ObjectKey) {
    super(message)
    this.key = key
  }
}

export type ObjectEncoder = (bytes: Buffer) => ObjectRow

/** @returns a function that throws {@link InvalidObject} for what cannot be mirrored. */
export function createObjectEncoder(options: EncoderOptions): ObjectEncoder {
  const type = storedAs(options.of)
  const isSecret = type.group === '' && type.resource === 'secrets'
  const digests = isSecret && options.secretValues === 'digest'
  const scanner = new ObjectScanner({
    type,
    cutManagedFields: options.cutManagedFields ?? true,
    cutLastApplied: isSecret || (options.cutLastApplied ?? true),
    secretValue: digests ? digestSecretValue(options.keyring) : undefined,
    annotation: { key: CLUSTER_ANNOTATION, value: options.cluster },
  })
  const parts = { ...fixedParts(options), printer: options.printer, words: new WordTokens(type) }
  return (bytes) => {
    if (!isUtf8(bytes)) throw new InvalidObject('the object is not valid UTF-8')
    try {
      return encode(bytes, scanner.scan(bytes), parts)
    } catch (error) {
      throw error instanceof JsonError ? new InvalidObject(`not JSON: ${error.message}`) : error
    }
  }
}

interface FixedParts {
  readonly kind: Buffer
  readonly apiVersion: Buffer
  /** `"shadow.clusterpedia.io/cluster-name":"dot-01"` */
  readonly annotation: Buffer
  readonly apiVersionText: string
}

function fixedParts({ cluster, of }: EncoderOptions): FixedParts {
  const apiVersionText = apiVersionOf(of)
  return {
    kind: Buffer.from(JSON.stringify(of.kind)),
    apiVersion: Buffer.from(JSON.stringify(apiVersionText)),
    annotation: Buffer.from(`${JSON.stringify(CLUSTER_ANNOTATION)}:${JSON.stringify(cluster)}`),
    apiVersionText,
  }
}

interface EncodeParts extends FixedParts {
  readonly printer: Printer
  readonly words: WordTokens
}

function encode(bytes: Buffer, scan: Scan, parts: EncodeParts): ObjectRow {
  const meta = readMetadata(bytes, scan)
  const edits = [...scan.edits, ...typeEdits(bytes, scan, parts), ...annotationEdits(scan, parts)]
  edits.sort((a, b) => a.start - b.start || a.end - b.end)
  const { metadata } = meta
  const whole = applyEdits(bytes, edits)
  const object = parsed(whole.toString('utf8'), scan, meta.columns)
  const images = scan.images.map((range) => stringOf(bytes, range))
  const headEnd = movedOffset(metadata.start, 0, edits)
  const tailStart = movedOffset(metadata.end, 0, edits)
  return {
    ...meta.columns,
    apiVersion: textAt(bytes, scan.found.get('apiVersion')) || parts.apiVersionText,
    tokens: joined(scan.tokens, parts.words.of(object, images)),
    statusTokens: scan.statusTokens,
    resourceVersionOffset: movedOffset(meta.resourceVersionStart + 1, metadata.start, edits),
    cells: encodeRow(parts.printer, object),
    head: whole.subarray(0, headEnd),
    metadata: whole.subarray(headEnd, tailStart),
    tail: whole.subarray(tailStart),
  }
}

function joined(some: BigInt64Array, others: BigInt64Array): BigInt64Array {
  const all = new BigInt64Array(some.length + others.length)
  all.set(some)
  all.set(others, some.length)
  return all
}

function parsed(text: string, scan: Scan, key: ObjectKey): KubeObject {
  try {
    return parseLossless(text, scan) as KubeObject
  } catch (error) {
    throw new InvalidObject(`not JSON: ${error instanceof Error ? error.message : error}`, key)
  }
}

function readMetadata(bytes: Buffer, scan: Scan) {
  const { metadata, found } = scan
  const name = textAt(bytes, found.get('name'))
  if (!metadata || !name) throw new InvalidObject('the object has no metadata.name')
  const key = { namespace: textAt(bytes, found.get('namespace')), name }
  const uid = textAt(bytes, found.get('uid'))
  if (!uid) throw new InvalidObject(`${key.name} has no metadata.uid`, key)
  const version = found.get('resourceVersion')
  const resourceVersion = textAt(bytes, version)
  if (!version || !resourceVersion) {
    throw new InvalidObject(`${key.name} has no metadata.resourceVersion`, key)
  }
  if (resourceVersion.length !== version.end - version.start - 2) {
    throw new InvalidObject(`the resourceVersion of ${key.name} is not plain text`, key)
  }
  const createdAt = timeOrNull(textAt(bytes, found.get('creationTimestamp')))
  return {
    metadata,
    resourceVersionStart: version.start,
    columns: { ...key, uid, resourceVersion, createdAt },
  }
}

/** `''` for what is missing, null or no string. */
function textAt(bytes: Buffer, range: Range | undefined): string {
  return range && bytes[range.start] === QUOTE ? stringOf(bytes, range) : ''
}

const TIME =
  /^(?!0000)(\d{4})-(\d\d)-(\d\d)T(?:[01]\d|2[0-4]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/

/** PostgreSQL takes what this takes; anything else (30 February) would fail a whole batch. */
function timeOrNull(text: string): string | null {
  const parts = TIME.exec(text)
  if (!parts) return null
  const [, year, month, day] = parts.map(Number)
  const first = new Date(0).setUTCFullYear(year!, month! - 1, 1)
  const isDay = new Date(first + (day! - 1) * 86_400_000).getUTCDate() === day
  return isDay && !Number.isNaN(Date.parse(text)) ? text : null
}

/** A member's list items have neither kind nor apiVersion; its watch events have both. */
function typeEdits(bytes: Buffer, scan: Scan, parts: FixedParts): ByteEdit[] {
  const edits: ByteEdit[] = []
  const missing: string[] = []
  for (const key of ['kind', 'apiVersion'] as const) {
    const range = scan.found.get(key)
    if (!range) missing.push(`"${key}":${parts[key]}`)
    else if (!textAt(bytes, range)) edits.push({ ...range, by: parts[key] })
  }
  if (missing.length === 0) return edits
  const start = bytes.indexOf('{') + 1
  // Never the only members: an object without metadata has been refused.
  return [...edits, { start, end: start, by: Buffer.from(`${missing.join(',')},`) }]
}

function annotationEdits(scan: Scan, parts: FixedParts): ByteEdit[] {
  const { annotations, metadata, found } = scan
  if (annotations) {
    const start = annotations.start + 1
    const comma = scan.annotationsKept ? ',' : ''
    return [{ start, end: start, by: Buffer.from(`${parts.annotation}${comma}`) }]
  }
  const object = `{${parts.annotation}}`
  const other = found.get('annotations')
  if (other) return [{ ...other, by: Buffer.from(object) }]
  const start = metadata!.start + 1
  return [{ start, end: start, by: Buffer.from(`"annotations":${object},`) }]
}
