/**
 * Sends what is no object: discovery, versions, OpenAPI, reviews; as JSON or YAML.
 *
 * Documents depend on who asks, so shared caches must not keep them, and each has an ETag, which
 * kubectl's own cache sends back. Objects and lists are sent by encode/.
 */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { negotiate } from '../kube/media-type.ts'
import { jsonToYaml } from './encode/yaml.ts'
import { type Exchange, isForPeople } from './exchange.ts'

const MEDIA_TYPES = ['application/json', 'application/yaml'] as const

/** A document, and what is kept of it once it was sent. */
export class JsonDocument {
  readonly value: unknown
  readonly #indented: boolean
  #sent: { readonly body: Buffer; readonly etag: string } | undefined

  /** @param options.indented - always, as kube-apiserver sends `/` and `/version`. */
  constructor(value: unknown, { indented = false } = {}) {
    this.value = value
    this.#indented = indented
  }

  /** Compact JSON ends with the newline that Go's encoder ends with. */
  sent(): { readonly body: Buffer; readonly etag: string } {
    if (!this.#sent) {
      const text = this.#indented
        ? JSON.stringify(this.value, null, 2)
        : `${JSON.stringify(this.value)}\n`
      const body = Buffer.from(text)
      this.#sent = { body, etag: etagOf(body) }
    }
    return this.#sent
  }
}

/** SHA-512 in capital hex, by which kube-apiserver names a document. */
export function hashOf(text: string | Uint8Array): string {
  return createHash('sha512').update(text).digest('hex').toUpperCase()
}

export function etagOf(body: Uint8Array): string {
  return `"${hashOf(body)}"`
}

export interface SendOptions {
  /** Instead of the one negotiated: that of an aggregated document has parameters. */
  readonly contentType?: string
  readonly statusCode?: number
}

/** @throws 406 `NotAcceptable`, unless the content type was negotiated already. */
export function sendDocument(
  { request, reply }: Exchange,
  document: JsonDocument,
  { contentType, statusCode = 200 }: SendOptions = {},
): FastifyReply {
  const type = contentType ?? negotiate(request.headers.accept, MEDIA_TYPES).mediaType
  reply.code(statusCode)
  reply.header('Vary', 'Accept').header('Cache-Control', 'no-cache, private')
  if (type === 'application/yaml') {
    return reply.type(type).send(Buffer.from(jsonToYaml(JSON.stringify(document.value))))
  }
  const { body, etag } = document.sent()
  if (statusCode === 200) {
    reply.header('ETag', etag)
    if (matchesEtag(request, etag)) return reply.code(304).send()
  }
  const sent = isForPeople(request) ? Buffer.from(JSON.stringify(document.value, null, 2)) : body
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

/** What Kubernetes answers where nothing at all is served. */
export function sendPageNotFound(reply: FastifyReply): FastifyReply {
  return reply
    .code(404)
    .header('Content-Type', 'text/plain; charset=utf-8')
    .send(Buffer.from('404 page not found\n'))
}
