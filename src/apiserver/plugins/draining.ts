/**
 * A server that stops says so before it does: `/readyz` fails, and every answer closes its
 * connection, so that clients and balancers go elsewhere while requests that still come are answered.
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

export class Draining {
  #hasBegun = false

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  begin(): void {
    this.#hasBegun = true
  }
}

async function install(server: FastifyInstance, draining: Draining): Promise<void> {
  server.addHook('onRequest', async (_request, reply) => {
    if (draining.hasBegun) reply.header('Connection', 'close')
  })
}

/** Fastify plugin. */
export const closeConnections = fp(install, { name: 'close-connections' })
