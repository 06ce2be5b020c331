/**
 * Who is asking. Every handler reads it from `request.identity`.
 *
 * Set by plugins/authenticate.ts before any route runs; a request without one never gets further,
 * except to the few paths that anyone may read, where it is {@link ANONYMOUS}.
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

export interface Identity {
  readonly user: string
  /** `system:authenticated` is always among them, unless the reader is anonymous. */
  readonly groups: readonly string[]
}

/** Kubernetes' names for everyone, those who said who they are, and those who may do everything. */
export const UNAUTHENTICATED_GROUP = 'system:unauthenticated'
export const AUTHENTICATED_GROUP = 'system:authenticated'
export const MASTERS_GROUP = 'system:masters'

export const ANONYMOUS: Identity = Object.freeze({
  user: 'system:anonymous',
  groups: Object.freeze([UNAUTHENTICATED_GROUP]),
})

declare module 'fastify' {
  interface FastifyRequest {
    identity: Identity
  }
}

/** The identity of someone whose token or certificate was checked. */
export function authenticated(user: string, groups: readonly string[]): Identity {
  return { user, groups: [...new Set([...groups, AUTHENTICATED_GROUP])] }
}

async function decorate(server: FastifyInstance): Promise<void> {
  // A getter and setter pair: one shared object must not be the default of every request.
  const identities = new WeakMap<object, Identity>()
  server.decorateRequest('identity', {
    getter() {
      return identities.get(this.raw) ?? ANONYMOUS
    },
    setter(identity: Identity) {
      identities.set(this.raw, identity)
    },
  })
}

/** Makes `request.identity` exist. Until it is set, a reader is nobody. */
export const identityDecoration = fp(decorate, { name: 'identity' })
