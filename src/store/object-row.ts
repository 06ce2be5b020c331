/**
 * One object as the store takes it: the bytes to send, and beside them what it is found by.
 *
 * Made by sync/encode-object.ts; the columns are explained in migrations/0001_store.sql.
 */

export interface ObjectRow {
  /** `''` when the object is cluster-scoped. */
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** The member's, digits of any length. */
  readonly resourceVersion: string
  readonly apiVersion: string
  /** RFC 3339 as the member wrote it; null when missing or not a time. */
  readonly createdAt: string | null
  /** Without duplicates; in the same order whenever an object has the same bytes. */
  readonly tokens: BigInt64Array
  /** Tokens of what stands under `status`, likewise. */
  readonly statusTokens: BigInt64Array
  /** Byte offset, in `metadata`, of the first digit of resourceVersion. */
  readonly resourceVersionOffset: number
  /** UTF-8 JSON values joined by commas, with marks for times: printers/cell.ts. */
  readonly cells: Buffer
  /** `head`, `metadata` and `tail` together are the object's JSON; none holds a NUL byte. */
  readonly head: Buffer
  readonly metadata: Buffer
  readonly tail: Buffer
}

/** A key within one type of one cluster. */
export interface ObjectKey {
  readonly namespace: string
  readonly name: string
}

export type ObjectChange =
  | { readonly op: 'put'; readonly row: ObjectRow }
  | { readonly op: 'delete'; readonly key: ObjectKey }
