/** Whose word counts about who is asking, in kube-apiserver's order. */
import type { Clock } from '../../../clock.ts'
import { isAccessToken } from '../../../store/access-tokens.ts'
import { type Authenticator, firstOf } from './authenticator.ts'
import { bearerToken, type TokenAuthenticator } from './bearer-token.ts'
import type { CertificateBundle } from './certificate-bundle.ts'
import { clientCertificate } from './client-certificate.ts'
import { type FindToken, ownTokens } from './own-tokens.ts'
import { type RequestHeaderTrust, requestHeader } from './request-header.ts'

/** All of it may change while the server runs. */
export interface Trust {
  /** The front proxy. */
  readonly requestHeader?: () => RequestHeaderTrust | undefined
  /** CAs of client certificates. */
  readonly clientCas?: () => readonly CertificateBundle[]
  /** For tokens that are not of this installation. */
  readonly tokens?: TokenAuthenticator
}

export interface TrustParts {
  readonly trust: Trust
  readonly findToken: FindToken
  readonly clock: Clock
}

export function authenticatorOf({ trust, findToken, clock }: TrustParts): Authenticator {
  const own = ownTokens(findToken, clock)
  return firstOf([
    requestHeader(trust.requestHeader ?? (() => undefined), clock),
    clientCertificate(trust.clientCas ?? (() => []), clock),
    // Ours are shown to nobody else.
    bearerToken((token) => (isAccessToken(token) ? own(token) : trust.tokens?.(token))),
  ])
}
