/** Bodies of requests, as bytes: what one may be is decided by its route. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { StatusError } from '../kube/status-error.ts'

/** As a real API server. */
export const BODY_MOST_BYTES = 3 * 1024 * 1024

/** For a scope of its own: no body of another form is parsed there. */
export function takeBytes(server: FastifyInstance, mostBytes = BODY_MOST_BYTES): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: mostBytes },
    (_request, bytes, done) => done(null, bytes),
  )
  server.setErrorHandler((error: Error & { code?: string }) => {
    if (error.code !== 'FST_ERR_CTP_BODY_TOO_LARGE') throw error
    throw new StatusError(
      'RequestEntityTooLarge',
      `Request entity too large: limit is ${mostBytes}`,
      { details: {} },
    )
  })
}

/** Without parameters, in lower case; `''` when the request names none. */
export function mediaTypeOf({ headers }: FastifyRequest): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
}
