/** A request and its reply, and what routes of every kind do with the two. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { indentJson, wantsPretty } from './encode/pretty-json.ts'
import { warningHeaders } from './encode/warning-header.ts'
import { jsonToYaml } from './encode/yaml.ts'
import { splitUrl } from './request-target.ts'

export interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

export function queryOf({ request }: Exchange): URLSearchParams {
  return splitUrl(request.url).query
}

/** Whether JSON is to be indented. The URL may be the very thing that is wrong with a request. */
export function isForPeople({ url, headers }: Pick<FastifyRequest, 'url' | 'headers'>): boolean {
  return wantsPretty(splitUrl(url).query, headers['user-agent'])
}

/** One `Warning` header for each sentence, as far as clients take them. */
export function warn({ reply }: Pick<Exchange, 'reply'>, sentences: readonly string[]): void {
  if (sentences.length > 0) reply.header('Warning', [...warningHeaders(sentences)])
}

/** @param json - one JSON text. */
export function sendText(
  { request, reply }: Exchange,
  json: string,
  { encoding, code = 200 }: { readonly encoding: 'json' | 'yaml'; readonly code?: number },
): FastifyReply {
  reply.code(code).header('Cache-Control', 'no-cache, private')
  if (encoding === 'yaml') {
    return reply.header('Content-Type', 'application/yaml').send(Buffer.from(jsonToYaml(json)))
  }
  const body = isForPeople(request) ? indentJson(Buffer.from(json)) : Buffer.from(`${json}\n`)
  return reply.header('Content-Type', 'application/json').send(body)
}
