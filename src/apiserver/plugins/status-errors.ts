/**
 * Makes every failure leave the server as a v1 `Status`, whoever raised it.
 *
 * A URL that cannot be decoded never reaches setErrorHandler, so server.ts also passes
 * {@link sendStatus} to Fastify as `frameworkErrors`; a malformed request never reaches Fastify at
 * all: plugins/client-errors.ts.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { STATUS_CODE, StatusError, type StatusReason, toStatus } from '../../kube/status-error.ts'
import { isForPeople } from '../exchange.ts'
import { sendPageNotFound } from '../send-document.ts'

async function install(server: FastifyInstance): Promise<void> {
  server.setErrorHandler(sendStatus)
  // Recorded: what is served nowhere is answered with this text, not with a Status.
  server.setNotFoundHandler((_request, reply) => sendPageNotFound(reply))
}

/** Fastify plugin. */
export const statusErrors = fp(install, { name: 'status-errors' })

export function sendStatus(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const status = toStatus(asClientFault(error))
  if (status.reason === 'Timeout') request.log.info({ reason: status.message }, 'a query was ended')
  else if (status.code >= 500) request.log.error({ err: error }, 'a request failed')
  const { retryAfterSeconds } = status.details ?? {}
  if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds))
  // As recorded: what goes wrong in negotiating a form is written indented, without a newline.
  const indent = status.reason === 'NotAcceptable' || isForPeople(request)
  const body = indent ? JSON.stringify(status, null, 2) : `${JSON.stringify(status)}\n`
  return reply
    .code(status.code)
    .header('Content-Type', 'application/json')
    .header('Cache-Control', 'no-cache, private')
    .send(Buffer.from(body))
}

/** Fastify marks what the client can fix with a 4xx `statusCode`; keep its sentence. */
function asClientFault(error: unknown): unknown {
  if (error instanceof StatusError || !(error instanceof Error)) return error
  const code = 'statusCode' in error ? Number(error.statusCode) : 500
  if (!(code >= 400 && code < 500) && code !== STATUS_CODE.ServiceUnavailable) return error
  return new StatusError(reasonOf(code), error.message, { details: {}, cause: error })
}

function reasonOf(code: number): StatusReason {
  const reasons = Object.keys(STATUS_CODE) as StatusReason[]
  return reasons.find((reason) => STATUS_CODE[reason] === code) ?? 'BadRequest'
}
