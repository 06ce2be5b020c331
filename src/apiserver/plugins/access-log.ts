/**
 * One line of log for each request: who, what, about which clusters, how many rows they got, how it
 * ended. Never a credential: of the headers only the user agent is written.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { answerBytes, beginAnswer } from '../answer-bytes.ts'
import { auditOf } from '../audit.ts'

/** A selector may have 100 KB; its beginning tells what it was. */
const URL_MOST_CHARACTERS = 500
/** Asked every few seconds by whoever watches over us. */
const PROBES = /^\/(?:healthz|livez|readyz|metrics)\b/

async function install(server: FastifyInstance): Promise<void> {
  server.addHook('onRequest', async (request, reply) => {
    beginAnswer(request)
    // kube-apiserver's header for the id under which a request is found in its log.
    reply.header('Audit-Id', request.id)
  })
  server.addHook('onResponse', async (request, reply) => log(request, reply))
}

/** Fastify plugin. */
export const accessLog = fp(install, { name: 'access-log' })

/** Some clients put their token into the URL, where none is taken; it must not be kept all the same. */
const SECRET_PARAMETER = /([?&][^=&]*(?:token|password|secret|authorization)[^=&]*=)[^&]*/gi

function shownUrl(url: string): string {
  const shown = url.replace(SECRET_PARAMETER, '$1…')
  return shown.length > URL_MOST_CHARACTERS ? `${shown.slice(0, URL_MOST_CHARACTERS)}...` : shown
}

function log(request: FastifyRequest, reply: FastifyReply): void {
  const { method, url, identity } = request
  const bytes = answerBytes(request)
  const line = {
    method,
    url: shownUrl(url),
    user: identity.user,
    ...(identity.impersonatedBy !== undefined && { impersonatedBy: identity.impersonatedBy }),
    status: reply.raw.statusCode,
    milliseconds: Math.round(reply.elapsedTime),
    ...(reply.raw.writableFinished ? {} : { cutOff: true }),
    ...auditOf(request),
    ...(bytes !== undefined && { bytes }),
    userAgent: request.headers['user-agent'],
  }
  if (PROBES.test(url)) request.log.debug(line, 'answered')
  else request.log.info(line, 'answered')
}
