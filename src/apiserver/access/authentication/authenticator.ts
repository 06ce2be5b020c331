/** Ways to find out who is asking, tried one after the other in kube-apiserver's order. */
import type { Identity } from '../../identity.ts'
import type { PeerChain } from './certificate-bundle.ts'
import type { HeaderValues } from './header-values.ts'

/** What a request brings to prove who sent it. */
export interface Credentials {
  readonly headers: HeaderValues
  readonly peer: PeerChain | undefined
}

export interface Caller {
  readonly identity: Identity
  /** It came through a front proxy, such as kube-aggregator, that had let it pass. */
  readonly throughProxy: boolean
}

/**
 * Undefined when the request brings nothing that this way is about, or nothing that counts.
 *
 * @throws {@link StatusError} when it cannot be told now: `ServiceUnavailable`.
 */
export type Authenticator = (credentials: Credentials) => Promise<Caller | undefined>

/** The first that knows the caller wins. @see apiserver/pkg/authentication/request/union */
export function firstOf(authenticators: readonly Authenticator[]): Authenticator {
  return async (credentials) => {
    for (const authenticate of authenticators) {
      const caller = await authenticate(credentials)
      if (caller) return caller
    }
    return undefined
  }
}
