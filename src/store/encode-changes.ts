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

/** Of `object_change`. */
const FIELDS = 14
const ARRAY_HEADER_BYTES = 20
/** Length of the element, then its number of fields. */
const RECORD_HEADER_BYTES = 8
/** OID and length. */
const FIELD_HEADER_BYTES = 8
/** Length and value. */
const TOKEN_BYTES = 12
const EMPTY_ARRAY_BYTES = 12
const TIMESTAMP_BYTES = 8
/** The most bytes that UTF-8 needs for a UTF-16 unit. */
const UNIT_BYTES = 3

/** @param elementOid - of `object_change`, which differs between databases. */
export function encodeChanges(changes: readonly ObjectChange[], elementOid: number): Buffer {
  const writer = new RecordWriter(
    changes.reduce((sum, change) => sum + mostBytes(change), ARRAY_HEADER_BYTES),
  )
  for (const value of [1, 0, elementOid, changes.length, 1]) writer.int4(value)
  for (const change of changes) {
    const start = writer.begin()
    if (change.op === 'put') writePut(writer, change.row)
    else writeDelete(writer, change.key)
    writer.end(start)
  }
  return writer.bytes()
}

/** In the order of the fields of `object_change`. */
function writePut(writer: RecordWriter, row: ObjectRow): void {
  writer.char('P')
  writer.text(row.namespace)
  writer.text(row.name)
  writer.text(row.uid)
  writer.text(row.resourceVersion)
  writer.text(row.apiVersion)
  writer.timestamp(microsecondsOf(row.createdAt))
  writer.integer(row.resourceVersionOffset)
  writer.tokens(row.tokens)
  writer.tokens(row.statusTokens)
  writer.utf8(row.cells)
  writer.utf8(row.head)
  writer.utf8(row.metadata)
  writer.utf8(row.tail)
}

function writeDelete(writer: RecordWriter, { namespace, name }: ObjectKey): void {
  writer.char('D')
  writer.text(namespace)
  writer.text(name)
  for (const oid of DELETE_NULLS) writer.nothing(oid)
}

/** Of the fields behind the key. */
const DELETE_NULLS = [
  ...[OID.text, OID.text, OID.text, OID.timestamptz, OID.int4, OID.int8Array, OID.int8Array],
  ...[OID.text, OID.text, OID.text, OID.text],
]

/** No less than the change needs: so strings need not be measured. */
function mostBytes(change: ObjectChange): number {
  const fixed = RECORD_HEADER_BYTES + FIELDS * FIELD_HEADER_BYTES + TIMESTAMP_BYTES + 8
  if (change.op === 'delete') {
    return fixed + UNIT_BYTES * (change.key.namespace.length + change.key.name.length)
  }
  const { namespace, name, uid, resourceVersion, apiVersion, ...row } = change.row
  const units =
    namespace.length + name.length + uid.length + resourceVersion.length + apiVersion.length
  const tokens = row.tokens.length + row.statusTokens.length
  const bytes = row.cells.length + row.head.length + row.metadata.length + row.tail.length
  return fixed + UNIT_BYTES * units + 2 * ARRAY_HEADER_BYTES + TOKEN_BYTES * tokens + bytes
}

/** Writes one record after the other into one buffer. */
class RecordWriter {
  readonly #out: Buffer
  readonly #view: DataView
  #at = 0

  constructor(mostBytes: number) {
    this.#out = Buffer.allocUnsafeSlow(mostBytes)
    this.#view = new DataView(this.#out.buffer, this.#out.byteOffset, this.#out.length)
  }

  bytes(): Buffer {
    return this.#out.subarray(0, this.#at)
  }

  int4(value: number): void {
    this.#view.setInt32(this.#at, value)
    this.#at += 4
  }

  /** @returns where the record starts. */
  begin(): number {
    const start = this.#at
    this.#at += 4
    this.int4(FIELDS)
    return start
  }

  end(start: number): void {
    this.#view.setInt32(start, this.#at - start - 4)
  }

  nothing(oid: number): void {
    this.#field(oid, -1)
  }

  char(value: 'P' | 'D'): void {
    this.#field(OID.char, 1)
    this.#out[this.#at++] = value.charCodeAt(0)
  }

  integer(value: number): void {
    this.#field(OID.int4, 4)
    this.int4(value)
  }

  text(value: string): void {
    const length = this.#out.write(value, this.#at + FIELD_HEADER_BYTES)
    this.#field(OID.text, length)
    this.#at += length
  }

  utf8(value: Buffer): void {
    this.#field(OID.text, value.length)
    this.#out.set(value, this.#at)
    this.#at += value.length
  }

  timestamp(microseconds: bigint | null): void {
    if (microseconds === null) {
      this.nothing(OID.timestamptz)
      return
    }
    this.#field(OID.timestamptz, TIMESTAMP_BYTES)
    this.#view.setBigInt64(this.#at, microseconds)
    this.#at += TIMESTAMP_BYTES
  }

  tokens(tokens: BigInt64Array): void {
    const count = tokens.length
    this.#field(
      OID.int8Array,
      count === 0 ? EMPTY_ARRAY_BYTES : ARRAY_HEADER_BYTES + count * TOKEN_BYTES,
    )
    for (const value of [count === 0 ? 0 : 1, 0, OID.int8]) this.int4(value)
    if (count === 0) return
    this.int4(count)
    this.int4(1)
    // As halves, the low one first in memory: a bigint for each would have to be allocated.
    const halves = new Int32Array(tokens.buffer, tokens.byteOffset, count * 2)
    for (let i = 0; i < halves.length; i += 2) {
      this.int4(8)
      this.int4(halves[i + 1]!)
      this.int4(halves[i]!)
    }
  }

  #field(oid: number, length: number): void {
    this.int4(oid)
    this.int4(length)
  }
}

/** Microseconds between 1970 and 2000, where PostgreSQL counts from. */
const POSTGRES_EPOCH_MICROSECONDS = 946_684_800_000_000n
const RFC_3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/i

/** Null when it is not a time: the object is stored all the same, its bytes as they came. */
function microsecondsOf(text: string | null): bigint | null {
  const parts = text === null ? null : RFC_3339.exec(text)
  if (!parts) return null
  const seconds = Date.parse(parts[1]! + parts[3]!.toUpperCase()) / 1000
  if (Number.isNaN(seconds)) return null
  const fraction = BigInt((parts[2] ?? '').slice(0, 6).padEnd(6, '0'))
  return BigInt(seconds) * 1_000_000n + fraction - POSTGRES_EPOCH_MICROSECONDS
}
