/**
 * Who is asking. Every handler reads it from `request.identity`.
 *
 * Set by plugins/authenticate.ts before any route runs; a request without one never gets further,
 * except to the few paths that anyone may read, where it is {@link ANONYMOUS}.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

export interface Identity {
  readonly user: string
  /** `system:authenticated` is always among them, unless the reader is anonymous. */
  readonly groups: readonly string[]
  readonly uid?: string
  /** What else their authenticator knows of them, by key. */
  readonly extra?: Readonly<Record<string, readonly string[]>>
  /** The user who acts as this one, for the log. */
  readonly impersonatedBy?: string
}

/** Kubernetes' names for everyone, those who said who they are, and those who may do everything. */
export const UNAUTHENTICATED_GROUP = 'system:unauthenticated'
export const AUTHENTICATED_GROUP = 'system:authenticated'
export const MASTERS_GROUP = 'system:masters'

export const ANONYMOUS_USER = 'system:anonymous'

export const ANONYMOUS: Identity = Object.freeze({
  user: ANONYMOUS_USER,
  groups: Object.freeze([UNAUTHENTICATED_GROUP]),
})

declare module 'fastify' {
  interface FastifyRequest {
    identity: Identity
    /** It came through a front proxy, such as kube-aggregator, that had let it pass. */
    throughProxy: boolean
    /** Who is asking by now; throws 401 or 403 when what they showed is good no more. */
    identifyAgain: () => Promise<Identity>
  }
}

/**
 * The identity of someone whose token or certificate was checked.
 *
 * A front proxy may say that it does not know who is asking: that one stays unauthenticated.
 */
export function authenticated(
  user: string,
  groups: readonly string[],
  { uid, extra = {} }: Pick<Identity, 'uid' | 'extra'> = {},
): Identity {
  const said = user === ANONYMOUS_USER || groups.includes(UNAUTHENTICATED_GROUP)
  const all = new Set([...groups, said ? UNAUTHENTICATED_GROUP : AUTHENTICATED_GROUP])
  return {
    user,
    groups: [...all],
    ...(uid !== undefined && { uid }),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
}

/** Someone of whom nobody has said who they are. */
export function isAnonymous({ user, groups }: Identity): boolean {
  return user === ANONYMOUS_USER || !groups.includes(AUTHENTICATED_GROUP)
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
  server.decorateRequest('throughProxy', false)
  server.decorateRequest('identifyAgain', async function (this: FastifyRequest) {
    return this.identity
  })
}

/** Makes `request.identity` exist. Until it is set, a reader is nobody. */
export const identityDecoration = fp(decorate, { name: 'identity' })
