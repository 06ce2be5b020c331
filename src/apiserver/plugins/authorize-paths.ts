/**
 * Lets through what the management cluster's RBAC lets through: for an installation whose rights
 * are those of the aggregator, as Clusterpedia's are.
 *
 * What comes through the aggregator has been authorised there. Whoever comes to us directly is asked
 * about in the same words, path by path.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { attributesOf, type RequestAttributes } from '../../kube/request-attributes.ts'
import { decodeSegment } from '../../kube/request-path.ts'
import type { Authorizer } from '../access/authorizer.ts'
import { refusal } from '../access/forbidden.ts'
import { splitUrl } from '../request-target.ts'
import { isOpen } from './authenticate.ts'

export interface AuthorizePathsOptions {
  readonly authorize: Authorizer
}

async function install(
  server: FastifyInstance,
  { authorize }: AuthorizePathsOptions,
): Promise<void> {
  server.addHook('onRequest', async (request: FastifyRequest) => {
    const { identity } = request
    const hasPassed = request.throughProxy && identity.impersonatedBy === undefined
    if (hasPassed || isOpen(request)) return
    const attributes = attributesIn(request)
    const { allowed, reason } = await authorize(identity, attributes)
    if (!allowed) throw refusal(identity, attributes, reason)
  })
}

/** Fastify plugin; to be registered after authentication. */
export const pathAuthorization = fp(install, { name: 'authorize-paths' })

function attributesIn({ method, url }: FastifyRequest): RequestAttributes {
  const { path, query } = splitUrl(url)
  return attributesOf({ method, path: decodeSegment(path), query })
}
