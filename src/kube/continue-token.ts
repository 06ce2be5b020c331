/**
 * Where the next page of a list starts ⇄ the opaque token that a client sends back.
 *
 * It is the key of the last row, so pages neither skip nor repeat under writes, and it never
 * expires. It carries a checksum of the query: continuing another query would be nonsense.
 */
import { createHash } from 'node:crypto'
import { StatusError } from './status-error.ts'

/** The place of one row in an order: the values of the order's keys, then the row's own key. */
export interface Position {
  /** One text for each key of the order; null sorts last. */
  readonly values: ReadonlyArray<string | null>
  readonly cluster: string
  readonly namespace: string
  readonly name: string
}

/** What a client may ask to continue from. */
export type ContinueFrom =
  | { readonly kind: 'offset'; readonly offset: number }
  /** `seen` is how many objects stood before this page when the token was made. */
  | { readonly kind: 'key'; readonly after: Position; readonly seen: number }

/** @param query - anything that tells this query from others; bigints are allowed in it. */
export function queryChecksum(query: unknown): string {
  const text = JSON.stringify(query, (_, value) =>
    typeof value === 'bigint' ? `${value}n` : (value as unknown),
  )
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}

export function formatContinue(
  { after, seen }: { readonly after: Position; readonly seen: number },
  checksum: string,
): string {
  const { values, cluster, namespace, name } = after
  const token: Token = { v: 1, q: checksum, k: [cluster, namespace, name], o: values, n: seen }
  return Buffer.from(JSON.stringify(token)).toString('base64url')
}

/**
 * A number is an offset (Clusterpedia's habit), everything else must be a token of ours.
 *
 * @throws 400 `BadRequest`, in the words of a real API server, for rubbish and for a token that
 *   belongs to another query.
 */
export function parseContinue(text: string, checksum: string): ContinueFrom {
  if (/^\d{1,15}$/.test(text)) return { kind: 'offset', offset: Number(text) }
  const token = decode(text)
  if (!isToken(token)) throw refuse('unexpected content')
  if (token.q !== checksum) throw refuse('it belongs to another query')
  const [cluster, namespace, name] = token.k
  return { kind: 'key', after: { values: token.o, cluster, namespace, name }, seen: token.n }
}

interface Token {
  readonly v: 1
  readonly q: string
  readonly k: readonly [string, string, string]
  readonly o: ReadonlyArray<string | null>
  readonly n: number
}

function decode(text: string): unknown {
  const json = Buffer.from(text, 'base64url').toString('latin1')
  try {
    return JSON.parse(Buffer.from(json, 'latin1').toString('utf8'))
  } catch (error) {
    const first = json === '' ? 'unexpected end of JSON input' : badStart(json[0]!)
    throw refuse(first, error)
  }
}

function badStart(character: string): string {
  return `invalid character '${character}' looking for beginning of value`
}

function isToken(token: unknown): token is Token {
  if (typeof token !== 'object' || token === null) return false
  const { v, q, k, o, n } = token as Partial<Record<string, unknown>>
  if (v !== 1 || typeof q !== 'string' || !Number.isSafeInteger(n)) return false
  return isTextList(k) && k.length === 3 && isValueList(o)
}

function isTextList(list: unknown): list is readonly string[] {
  return Array.isArray(list) && list.every((item) => typeof item === 'string')
}

function isValueList(list: unknown): boolean {
  return Array.isArray(list) && list.every((item) => item === null || typeof item === 'string')
}

function refuse(why: string, cause?: unknown): StatusError {
  const message = `invalid continue token: continue key is not valid: ${why}`
  return new StatusError('BadRequest', message, { cause })
}
