/** What all routes share: who asks for what, and how an answer is sent. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { negotiateObjects } from '../../kube/media-type.ts'
import type { Subresource } from '../../registration/lifecycle.ts'
import { served } from '../../registration/list.ts'
import { indentJson, wantsPretty } from '../encode/pretty-json.ts'
import { warningHeaders } from '../encode/warning-header.ts'
import { jsonToYaml } from '../encode/yaml.ts'
import { targetOf } from '../request-target.ts'
import { includeObjectOf } from '../routes/table-options.ts'
import type { KindRoutes } from './plugin.ts'
import { type Representer, representer } from './represent.ts'

export interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

export interface ObjectPath {
  readonly name: string
  readonly subresource: Subresource
}

export function queryOf({ request }: Exchange): URLSearchParams {
  return targetOf(request).query
}

/** @throws 403 */
export function authorized(
  { authorize, kind }: KindRoutes,
  { request }: Exchange,
  { verb, path }: { readonly verb: string; readonly path?: ObjectPath },
): (name: string) => boolean {
  const { group, resource } = kind
  return authorize(request.identity, {
    verb,
    group,
    resource: path?.subresource ? `${resource}/${path.subresource}` : resource,
    ...(path && { name: path.name }),
  })
}

export interface Form extends Representer {
  readonly encoding: 'json' | 'yaml'
}

/** The form that the client asks for. @throws 400, 406 */
export function formOf(
  parts: Pick<KindRoutes, 'kind' | 'clock'>,
  exchange: Exchange,
  answer: 'object' | 'list',
): Form {
  const representation = negotiateObjects(exchange.request.headers.accept, answer)
  const { as, encoding } = representation
  const made = representer({
    kind: parts.kind,
    representation,
    includeObject: as === 'Table' ? includeObjectOf(queryOf(exchange)) : 'None',
    nowMilliseconds: () => parts.clock.now(),
  })
  return { ...made, encoding }
}

/** @param json - one JSON text. */
export function sendText(
  exchange: Exchange,
  json: string,
  { encoding, code = 200 }: { readonly encoding: 'json' | 'yaml'; readonly code?: number },
): FastifyReply {
  const { request, reply } = exchange
  reply.code(code).header('Cache-Control', 'no-cache, private')
  if (encoding === 'yaml') {
    return reply.header('Content-Type', 'application/yaml').send(Buffer.from(jsonToYaml(json)))
  }
  const pretty = wantsPretty(queryOf(exchange), request.headers['user-agent'])
  const body = pretty ? indentJson(Buffer.from(json)) : Buffer.from(`${json}\n`)
  return reply.header('Content-Type', 'application/json').send(body)
}

export function sendObject(
  exchange: Exchange,
  form: Form,
  { text, code = 200 }: { readonly text: string; readonly code?: number },
): FastifyReply {
  return sendText(exchange, form.object(served(text)), { encoding: form.encoding, code })
}

/** One header per text, as far as clients take them. */
export function warn({ reply }: Exchange, warnings: readonly string[]): void {
  if (warnings.length === 0) return
  reply.header('Warning', [...warningHeaders(warnings)])
}
