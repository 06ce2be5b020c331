/**
 * Takes the next request of a connection when the answer before it is out.
 *
 * HTTP/1.1 lets a client send many requests and read no answer. Node starts all of them, and tells
 * nobody when the connection of an answer that waits for its turn is closed: each would hold its
 * rows, and with them a connection to the database, for ever.
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { StatusError } from '../../kube/status-error.ts'

async function install(server: FastifyInstance): Promise<void> {
  server.addHook('onRequest', async ({ raw: request }, { raw: response }) => {
    // An answer has the socket once it is its turn.
    if (response.socket) return
    await new Promise<void>((resolve) => {
      response.once('socket', () => resolve())
      request.once('close', resolve)
    })
    if (!response.socket) throw new StatusError('BadRequest', 'the client closed the connection')
  })
}

/** Fastify plugin; to be registered before those that do any work. */
export const pipelining = fp(install, { name: 'pipelining' })
