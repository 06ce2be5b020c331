/** What is only read: every other method than GET is answered with 405. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { methodNotAllowed } from '../kube/status-error.ts'

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** These methods of a path, beside routes that answer others. */
export function refuseMethods(server: FastifyInstance, url: string, method: HTTPMethods[]): void {
  server.route({
    url,
    method,
    handler: () => {
      throw methodNotAllowed()
    },
  })
}

/** A path that is answered to a GET, and in one way refused to everything else. */
export function routeGetOnly(
  server: FastifyInstance,
  url: string,
  handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>,
): void {
  server.route({
    method: METHODS,
    url,
    exposeHeadRoute: false,
    // Before the body is read: what a write holds does not matter, nor in which media type.
    onRequest: async ({ method }) => {
      if (method !== 'GET') throw methodNotAllowed()
    },
    handler,
  })
}
