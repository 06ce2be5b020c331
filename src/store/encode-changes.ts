/**
 * A batch of changes as one binary parameter: an array of the composite type `object_change`.
 *
 * One parameter instead of a dozen arrays, and no text form to be parsed: what PostgreSQL receives
 * are the bytes that the syncer cut out of the member's answer.
 *
 * @see PostgreSQL's array_recv and record_recv: the two formats written here.
 */
import type { ObjectChange, ObjectKey, ObjectRow } from './object-row.ts'

/** OIDs of built-in types: the same in every PostgreSQL (pg_type.dat). */
const OID = { char: 18, int8: 20, int4: 23, text: 25, int8Array: 1016, timestamptz: 1184 } as const

/** The fields of `object_change`, in its order. */
const FIELD_OIDS = [
  OID.char, // op
  OID.text, // namespace
  OID.text, // name
  OID.text, // uid
  OID.text, // resource_version
  OID.text, // api_version
  OID.timestamptz, // created_at
  OID.int4, // rv_offset
  OID.int8Array, // tokens
  OID.int8Array, // status_tokens
  OID.text, // cells
  OID.text, // head
  OID.text, // metadata
  OID.text, // tail
] as const

const ARRAY_HEADER_BYTES = 20
/** Length of the element, then its number of fields. */
const RECORD_HEADER_BYTES = 8
/** OID and length. */
const FIELD_HEADER_BYTES = 8
const PUT = Buffer.from('P')
const DELETE = Buffer.from('D')

type Field = Buffer | string | null

/** @param elementOid - of `object_change`, which differs between databases. */
export function encodeChanges(changes: readonly ObjectChange[], elementOid: number): Buffer {
  const records = changes.map(fieldsOf)
  const out = Buffer.allocUnsafe(
    records.reduce((sum, fields) => sum + recordBytes(fields), ARRAY_HEADER_BYTES),
  )
  let at = 0
  for (const value of [1, 0, elementOid, records.length, 1]) at = out.writeInt32BE(value, at)
  for (const fields of records) at = writeRecord(out, at, fields)
  return out
}

function fieldsOf(change: ObjectChange): readonly Field[] {
  return change.op === 'put' ? putFields(change.row) : deleteFields(change.key)
}

function putFields(row: ObjectRow): readonly Field[] {
  const offset = Buffer.allocUnsafe(4)
  offset.writeInt32BE(row.resourceVersionOffset)
  return [
    PUT,
    row.namespace,
    row.name,
    row.uid,
    row.resourceVersion,
    row.apiVersion,
    timestampField(row.createdAt),
    offset,
    tokensField(row.tokens),
    tokensField(row.statusTokens),
    row.cells,
    row.head,
    row.metadata,
    row.tail,
  ]
}

function deleteFields({ namespace, name }: ObjectKey): readonly Field[] {
  return [DELETE, namespace, name, ...Array<null>(FIELD_OIDS.length - 3).fill(null)]
}

/** Microseconds between 1970 and 2000, where PostgreSQL counts from. */
const POSTGRES_EPOCH_MICROSECONDS = 946_684_800_000_000n
const RFC_3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/i

/** Null when it is not a time: the object is stored all the same, its bytes as they came. */
function timestampField(text: string | null): Buffer | null {
  const parts = text === null ? null : RFC_3339.exec(text)
  if (!parts) return null
  const seconds = Date.parse(parts[1]! + parts[3]!.toUpperCase()) / 1000
  if (Number.isNaN(seconds)) return null
  const fraction = BigInt((parts[2] ?? '').slice(0, 6).padEnd(6, '0'))
  const out = Buffer.allocUnsafe(8)
  out.writeBigInt64BE(BigInt(seconds) * 1_000_000n + fraction - POSTGRES_EPOCH_MICROSECONDS)
  return out
}

function tokensField(tokens: BigInt64Array): Buffer {
  if (tokens.length === 0) {
    const empty = Buffer.alloc(12) // no dimension, no null, of int8
    empty.writeInt32BE(OID.int8, 8)
    return empty
  }
  const out = Buffer.allocUnsafe(ARRAY_HEADER_BYTES + tokens.length * 12)
  let at = 0
  for (const value of [1, 0, OID.int8, tokens.length, 1]) at = out.writeInt32BE(value, at)
  for (const token of tokens) at = out.writeBigInt64BE(token, out.writeInt32BE(8, at))
  return out
}

function recordBytes(fields: readonly Field[]): number {
  let bytes = RECORD_HEADER_BYTES + fields.length * FIELD_HEADER_BYTES
  for (const field of fields) bytes += fieldBytes(field)
  return bytes
}

function fieldBytes(field: Field): number {
  if (field === null) return 0
  return typeof field === 'string' ? Buffer.byteLength(field) : field.length
}

function writeRecord(out: Buffer, start: number, fields: readonly Field[]): number {
  let at = out.writeInt32BE(recordBytes(fields) - 4, start)
  at = out.writeInt32BE(fields.length, at)
  fields.forEach((field, i) => {
    at = out.writeInt32BE(FIELD_OIDS[i]!, at)
    if (field === null) {
      at = out.writeInt32BE(-1, at)
      return
    }
    at = out.writeInt32BE(fieldBytes(field), at)
    at += typeof field === 'string' ? out.write(field, at) : field.copy(out, at)
  })
  return at
}
