/**
 * A client certificate names its bearer: the common name is the user, every organisation a group.
 *
 * @see apiserver/pkg/authentication/request/x509/x509.go, CommonNameUserConversion
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../../clock.ts'
import { authenticated } from '../../identity.ts'
import type { Authenticator } from './authenticator.ts'
import type { CertificateBundle } from './certificate-bundle.ts'
import { subjectOf } from './peer-chain.ts'

const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'

/** @param bundles - of CAs that issue to users. */
export function clientCertificate(
  bundles: () => readonly CertificateBundle[],
  clock: Clock,
): Authenticator {
  return async ({ peer }) => {
    if (!peer || !bundles().some((bundle) => bundle.trusts(peer, clock.now()))) return undefined
    const { CN, O } = subjectOf(peer[0])
    const user = CN.at(-1)
    if (!user) return undefined
    const digest = createHash('sha256').update(peer[0].raw).digest('hex')
    const extra = { [CREDENTIAL_ID]: [`X509SHA256=${digest}`] }
    return { identity: authenticated(user, O, { extra }), throughProxy: false }
  }
}
