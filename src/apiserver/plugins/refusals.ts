/**
 * What Node and Fastify would refuse in words of their own: a request without a Host, and whatever
 * comes on an open connection once the server is stopping.
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { StatusError } from '../../kube/status-error.ts'

export interface RefusalsOptions {
  readonly isStopping: () => boolean
}

/** Another replica, or this server once it is up again. */
const RETRY_AFTER_SECONDS = 1

async function install(server: FastifyInstance, { isStopping }: RefusalsOptions): Promise<void> {
  server.addHook('onRequest', async ({ raw }) => {
    if (raw.headers.host === undefined && raw.httpVersion === '1.1') {
      throw new StatusError('BadRequest', 'the request has no Host header')
    }
    if (!isStopping()) return
    throw new StatusError('ServiceUnavailable', 'the server is stopping; please try again', {
      details: { retryAfterSeconds: RETRY_AFTER_SECONDS },
    })
  })
}

/** Fastify plugin. */
export const refusals = fp(install, { name: 'refusals' })
