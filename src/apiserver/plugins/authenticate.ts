/**
 * Finds out who is asking, and as whom: access/authentication/, access/impersonation.ts.
 *
 * Runs before any route. Nobody gets further without saying who they are, except to the paths that
 * say whether we are alive and which version we are. A token that is given and not good is refused
 * there too, so that a reader is never answered as someone else than they think.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { FLEET_PREFIX } from '../../kube/fleet-prefix.ts'
import type { Authenticator, Caller } from '../access/authentication/authenticator.ts'
import { unauthorized } from '../access/authentication/bearer-token.ts'
import { HeaderValues } from '../access/authentication/header-values.ts'
import { peerChainOf } from '../access/authentication/peer-chain.ts'
import type { Authorizer } from '../access/authorizer.ts'
import { impersonated } from '../access/impersonation.ts'
import { ANONYMOUS, identityDecoration, isAnonymous } from '../identity.ts'
import { splitUrl } from '../request-target.ts'

export interface AuthenticateOptions {
  readonly authenticate: Authenticator
  /** Whether the caller may act as someone else. */
  readonly authorize: Authorizer
}

const OPEN_PATH = new RegExp(
  `^(?:${FLEET_PREFIX}(?:/clusters/[^/]+)?)?/(?:healthz|livez|readyz|version)/?$`,
)
const NOBODY: Caller = { identity: ANONYMOUS, throughProxy: false }

async function install(
  server: FastifyInstance,
  { authenticate, authorize }: AuthenticateOptions,
): Promise<void> {
  await server.register(identityDecoration)
  server.addHook('onRequest', async (request: FastifyRequest, _reply: FastifyReply) => {
    const headers = new HeaderValues(request.raw)
    const peer = peerChainOf(request.raw)
    const { identity, throughProxy } = (await authenticate({ headers, peer })) ?? NOBODY
    request.throughProxy = throughProxy
    request.identity = identity
    if (isAnonymous(identity) && !isOpen(request)) throw unauthorized()
    request.identity = await impersonated(identity, headers, authorize)
    if (isAnonymous(request.identity) && !isOpen(request)) throw unauthorized()
    request.identifyAgain = async () => {
      const again = (await authenticate({ headers, peer })) ?? NOBODY
      return impersonated(again.identity, headers, authorize)
    }
  })
}

/** Fastify plugin; it makes `request.identity` too. */
export const authentication = fp(install, { name: 'authenticate' })

/** What anybody may ask. */
export function isOpen({ method, url }: Pick<FastifyRequest, 'method' | 'url'>): boolean {
  return ['GET', 'HEAD'].includes(method) && OPEN_PATH.test(splitUrl(url).path)
}
