/** How a member's answers leave: JSON, text and Status, with the headers a real API server sets. */
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Status, StatusDetails } from '../../kube/status-error.ts'

/** Lists above this are compressed for clients that accept it, as kube-apiserver does. */
const GZIP_FROM_BYTES = 128 * 1024

/** A `Status` whose code and reason need not be of our own server's closed list. */
export interface MemberStatus {
  readonly code: number
  readonly message: string
  readonly reason?: string
  readonly details?: StatusDetails | Record<string, unknown>
  /** Set on 410 of a list: how to go on without consistency. */
  readonly continueToken?: string
}

/** What is thrown to be answered as a `Status`. */
export class MemberError extends Error {
  override readonly name = 'MemberError'
  readonly status: MemberStatus

  constructor(status: MemberStatus) {
    super(status.message)
    this.status = status
  }
}

export function statusJson(status: MemberStatus): string {
  const { code, message, reason, details, continueToken } = status
  const whole: Omit<Status, 'metadata' | 'reason' | 'details'> & Record<string, unknown> = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: continueToken ? { continue: continueToken } : {},
    status: 'Failure',
    message,
    ...(reason && { reason }),
    ...(details && { details }),
    code,
  }
  return goJson(whole)
}

/** As Go writes JSON: the characters that HTML minds are escaped. */
function goJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

export interface Reply {
  readonly code: number
  readonly contentType: string
  readonly body: Buffer | string
  readonly headers?: Readonly<Record<string, string>>
}

export function statusReply(status: MemberStatus): Reply {
  const seconds = status.details && 'retryAfterSeconds' in status.details
  return {
    code: status.code,
    contentType: 'application/json',
    body: `${statusJson(status)}\n`,
    ...(seconds && { headers: { 'retry-after': String(status.details.retryAfterSeconds) } }),
  }
}

export function jsonReply(value: unknown): Reply {
  return { code: 200, contentType: 'application/json', body: `${goJson(value)}\n` }
}

export function textReply(code: number, body: string): Reply {
  return { code, contentType: 'text/plain; charset=utf-8', body }
}

/** With an ETag, and 304 when the client has that very body already. */
export function taggedReply(reply: Reply, ifNoneMatch: string | undefined): Reply {
  const etag = `"${createHash('sha512').update(reply.body).digest('hex').toUpperCase()}"`
  const headers = { ...reply.headers, etag, vary: 'Accept' }
  if (ifNoneMatch === etag) return { ...reply, code: 304, body: '', headers }
  return { ...reply, headers }
}

export interface Output {
  readonly response: ServerResponse
  /** Where body bytes go; a fault can stand in between. */
  write(bytes: Buffer): void
  end(): void
}

export function sendReply(reply: Reply, to: { output: Output; acceptEncoding: string }): void {
  const { response } = to.output
  let body = Buffer.from(reply.body)
  const headers: Record<string, string> = {
    'content-type': reply.contentType,
    'cache-control': 'no-cache, private',
    ...reply.headers,
  }
  const compressible = body.length >= GZIP_FROM_BYTES && !headers['content-encoding']
  if (compressible && /\bgzip\b/.test(to.acceptEncoding)) {
    body = gzipSync(body, { level: 1 })
    headers['content-encoding'] = 'gzip'
  }
  headers['content-length'] = String(body.length)
  response.writeHead(reply.code, headers)
  if (body.length > 0) to.output.write(body)
  to.output.end()
}
