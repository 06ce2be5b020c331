/** A DataRow message as a row of a list: slices of it, and numbers where code needs them. */
import type { Position } from '../kube/continue-token.ts'
import type { RawRow } from './list-request.ts'
import type { Order } from './order.ts'
import type { WideColumn } from './wide-columns.ts'

/** What each row starts with; then the order's own values, then the wide columns. */
const KEY_FIELDS = ['clusterId', 'apiVersion', 'columnsId', 'namespace', 'name'] as const

export interface RowShape {
  readonly order: Order
  readonly columns: readonly WideColumn[]
  readonly clusterNames: ReadonlyMap<number, string>
}

export function rowReader(shape: RowShape): (body: Buffer) => RawRow {
  const selected = shape.order.selected.length
  const wideAt = KEY_FIELDS.length + selected
  let apiVersion: { bytes: Buffer; text: string } = { bytes: Buffer.alloc(0), text: '' }
  return (body) => {
    const fields = fieldsOf(body)
    const row: { -readonly [K in keyof RawRow]: RawRow[K] } = {
      clusterId: integerIn(fields[0]!),
      apiVersion: '',
      columnsId: integerIn(fields[2]!),
      position: () => positionOf(fields, shape),
    }
    // Mostly the one of the row before: no string is made then.
    if (!apiVersion.bytes.equals(fields[1]!)) {
      apiVersion = { bytes: Buffer.from(fields[1]!), text: fields[1]!.toString() }
    }
    row.apiVersion = apiVersion.text
    for (let i = 0; i < shape.columns.length; i++) row[shape.columns[i]!] = fields[wideAt + i]!
    return row
  }
}

function positionOf(fields: ReadonlyArray<Buffer | null>, shape: RowShape): Position {
  const text = (i: number) => fields[i]?.toString() ?? null
  const key = {
    cluster: shape.clusterNames.get(integerIn(fields[0]!)) ?? '',
    namespace: text(3) ?? '',
    name: text(4) ?? '',
  }
  const selected = shape.order.selected.map((_, i) => text(KEY_FIELDS.length + i))
  return { ...key, values: shape.order.valuesOf(selected, key) }
}

/** Number of fields, then of each its length (-1 is null) and its bytes. */
function fieldsOf(body: Buffer): ReadonlyArray<Buffer | null> {
  const fields: Array<Buffer | null> = []
  const count = body.readUInt16BE(0)
  let at = 2
  for (let i = 0; i < count; i++) {
    const length = body.readInt32BE(at)
    at += 4
    if (length < 0) {
      fields.push(null)
      continue
    }
    fields.push(body.subarray(at, at + length))
    at += length
  }
  return fields
}

function integerIn(digits: Buffer): number {
  let value = 0
  for (const digit of digits) value = value * 10 + digit - 0x30
  return value
}
