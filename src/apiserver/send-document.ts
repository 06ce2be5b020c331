/**
 * Sends what is no object: discovery, versions, OpenAPI, reviews; as JSON or YAML.
 *
 * Documents depend on who asks, so shared caches must not keep them, and each has an ETag, which
 * kubectl's own cache sends back. Objects and lists are sent by encode/.
 */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { stringify } from 'yaml'
import { negotiate } from '../kube/media-type.ts'

const MEDIA_TYPES = ['application/json', 'application/yaml'] as const

/** A document, and what is kept of it once it was sent. */
export class JsonDocument {
  readonly value: unknown
  #compact: { readonly body: Buffer; readonly etag: string } | undefined

  constructor(value: unknown) {
    this.value = value
  }

  /** With the newline that Go's encoder ends with. */
  compact(): { readonly body: Buffer; readonly etag: string } {
    if (!this.#compact) {
      const body = Buffer.from(`${JSON.stringify(this.value)}\n`)
      this.#compact = { body, etag: etagOf(body) }
    }
    return this.#compact
  }
}

/** `"` + SHA-512 in capital hex + `"`. */
export function etagOf(body: Uint8Array): string {
  return `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`
}

export interface SendOptions {
  /** Instead of the one negotiated: that of an aggregated document has parameters. */
  readonly contentType?: string
  readonly statusCode?: number
}

/** @throws 406 `NotAcceptable`, unless the content type was negotiated already. */
export function sendDocument(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  document: JsonDocument,
  { contentType, statusCode = 200 }: SendOptions = {},
): FastifyReply {
  const type = contentType ?? negotiate(request.headers.accept, MEDIA_TYPES).mediaType
  reply.code(statusCode)
  reply.header('Vary', 'Accept').header('Cache-Control', 'no-cache, private')
  if (type === 'application/yaml') {
    return reply.type(type).send(Buffer.from(stringify(document.value, { sortMapEntries: true })))
  }
  const { body, etag } = document.compact()
  if (statusCode === 200) {
    reply.header('ETag', etag)
    if (matchesEtag(request, etag)) return reply.code(304).send()
  }
  const sent = wantsPretty(request) ? Buffer.from(JSON.stringify(document.value, null, 2)) : body
  return reply.header('Content-Type', type).send(sent)
}

/** Weak comparison, as RFC 9110 wants it for If-None-Match. */
export function matchesEtag({ headers }: FastifyRequest, etag: string): boolean {
  const given = headers['if-none-match']
  if (given === undefined) return false
  return given
    .split(',')
    .map((text) => text.trim().replace(/^W\//, ''))
    .some((text) => text === etag || text === '*')
}

/** People who ask with curl or a browser get indented JSON unless they say `pretty=false`. */
function wantsPretty({ query, headers }: FastifyRequest): boolean {
  const { pretty } = query as Readonly<Record<string, unknown>>
  if (pretty !== undefined) return pretty !== 'false' && pretty !== '0'
  return /^(?:curl|Wget|Mozilla\/5\.0)/.test(headers['user-agent'] ?? '')
}

/** What Kubernetes answers where nothing at all is served. */
export function sendPageNotFound(reply: FastifyReply): FastifyReply {
  return reply
    .code(404)
    .header('Content-Type', 'text/plain; charset=utf-8')
    .send(Buffer.from('404 page not found\n'))
}
