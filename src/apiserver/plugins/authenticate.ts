/**
 * Finds out who is asking: a bearer token of ours, or a client certificate of our own CA.
 *
 * Runs before any route. Nobody gets further, except to the paths that say whether we are alive
 * and which version we are. A credential that is given and not good is refused there too, so that
 * a reader is never answered as someone else than they think.
 */
import type { TLSSocket } from 'node:tls'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Clock } from '../../clock.ts'
import { FLEET_PREFIX } from '../../kube/fleet-prefix.ts'
import { StatusError } from '../../kube/status-error.ts'
import { ANONYMOUS, authenticated, type Identity, identityDecoration } from '../identity.ts'

/** Whom a token was made for; undefined when it is unknown, expired or revoked. */
export type FindToken = (
  token: string,
) => Promise<{ readonly userName: string; readonly groups: readonly string[] } | undefined>

export interface AuthenticateOptions {
  readonly findToken: FindToken
  readonly clock: Clock
}

/** How long a token that was good counts as good without asking the database again. */
const TOKEN_GOOD_SECONDS = 2
const TOKENS_KEPT = 10_000

const OPEN_PATH = new RegExp(
  `^(?:${FLEET_PREFIX}(?:/clusters/[^/]+)?)?/(?:healthz|livez|readyz|version)/?$`,
)

async function authenticate(
  server: FastifyInstance,
  { findToken, clock }: AuthenticateOptions,
): Promise<void> {
  await server.register(identityDecoration)
  const identify = rememberTokens(findToken, clock)
  server.addHook('onRequest', async (request: FastifyRequest) => {
    const identity = await identityOf(request, identify)
    if (!identity && !isOpen(request)) throw unauthorized()
    refuseImpersonation(request)
    request.identity = identity ?? ANONYMOUS
  })
}

/** Fastify plugin; it makes `request.identity` too. */
export const authentication = fp(authenticate, { name: 'authenticate' })

/** In kube-apiserver's words, without saying what was wrong. */
function unauthorized(): StatusError {
  return new StatusError('Unauthorized', 'Unauthorized')
}

function isOpen(request: FastifyRequest): boolean {
  return ['GET', 'HEAD'].includes(request.method) && OPEN_PATH.test(request.url.split('?', 1)[0]!)
}

/** A token counts before a certificate, as it does in kubectl's own order of credentials. */
async function identityOf(
  request: FastifyRequest,
  identify: (token: string) => Promise<Identity | undefined>,
): Promise<Identity | undefined> {
  const { authorization } = request.headers
  if (authorization === undefined) return certificateIdentity(request)
  const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1]
  const identity = token === undefined ? undefined : await identify(token)
  if (!identity) throw unauthorized()
  return identity
}

/**
 * The certificate that the client proved to hold, when our own CA issued it: CN is the user, every
 * O a group. One that the TLS layer could not verify is no certificate.
 */
function certificateIdentity({ raw }: FastifyRequest): Identity | undefined {
  const socket = raw.socket as Partial<TLSSocket>
  if (socket.authorized !== true) return undefined
  const subject = socket.getPeerCertificate?.().subject as
    | Readonly<Record<string, string | string[] | undefined>>
    | undefined
  const user = [subject?.CN ?? []].flat().at(-1)
  return user ? authenticated(user, [subject?.O ?? []].flat()) : undefined
}

/**
 * Acting as someone else is not offered. It must not be ignored either: who asks as a lesser
 * reader would be answered as themselves.
 */
function refuseImpersonation({ headers }: FastifyRequest): void {
  const header = Object.keys(headers).find((name) => name.startsWith('impersonate-'))
  if (header === undefined) return
  throw new StatusError(
    'BadRequest',
    `the request header ${JSON.stringify(header)} is not supported: this server does not impersonate`,
  )
}

/** Good tokens are remembered for a moment; bad ones never, so a new token works at once. */
function rememberTokens(findToken: FindToken, clock: Clock) {
  const good = new Map<string, { readonly identity: Identity; readonly until: number }>()
  return async (token: string): Promise<Identity | undefined> => {
    const known = good.get(token)
    if (known && known.until > clock.now()) return known.identity
    good.delete(token)
    const found = await findToken(token)
    if (!found) return undefined
    const identity = authenticated(found.userName, found.groups)
    if (good.size >= TOKENS_KEPT) good.clear()
    good.set(token, { identity, until: clock.now() + TOKEN_GOOD_SECONDS * 1000 })
    return identity
  }
}
