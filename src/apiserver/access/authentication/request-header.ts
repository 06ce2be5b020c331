/**
 * A front proxy says who is asking: kube-aggregator does, with a certificate of its own CA.
 *
 * Without that certificate these headers are nobody's word, and are not looked at.
 *
 * @see apiserver/pkg/authentication/request/headerrequest/requestheader.go
 */
import type { Clock } from '../../../clock.ts'
import { authenticated } from '../../identity.ts'
import type { Authenticator, Credentials } from './authenticator.ts'
import type { CertificateBundle } from './certificate-bundle.ts'
import { extraFrom } from './header-values.ts'
import { subjectOf } from './peer-chain.ts'

export interface RequestHeaderTrust {
  readonly ca: CertificateBundle
  /** Common names of its certificates; none: any. */
  readonly allowedNames: readonly string[]
  readonly usernameHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraPrefixes: readonly string[]
}

export function requestHeader(
  trust: () => RequestHeaderTrust | undefined,
  clock: Clock,
): Authenticator {
  return async (credentials) => {
    const { headers } = credentials
    const current = trust()
    if (!current || !isProxy(credentials, current, clock.now())) return undefined
    const user = headers.first(current.usernameHeaders)
    if (user === undefined) return undefined
    const uid = headers.first(current.uidHeaders)
    const groups = current.groupHeaders.flatMap((name) => headers.all(name))
    const extra = extraFrom(headers, current.extraPrefixes)
    const identity = authenticated(user, groups, { ...(uid !== undefined && { uid }), extra })
    return { identity, throughProxy: true }
  }
}

function isProxy(
  { peer }: Credentials,
  { ca, allowedNames }: RequestHeaderTrust,
  now: number,
): boolean {
  if (!peer || !ca.trusts(peer, now)) return false
  const name = subjectOf(peer[0]).CN.at(-1)
  return allowedNames.length === 0 || (name !== undefined && allowedNames.includes(name))
}
