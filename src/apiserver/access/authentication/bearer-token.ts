/** A bearer token, shown to whoever may know it. It is never logged, nor kept in the clear. */
import { StatusError } from '../../../kube/status-error.ts'
import type { Identity } from '../../identity.ts'
import type { Authenticator } from './authenticator.ts'

/** Undefined for a token that is not good. @throws {@link StatusError} when it cannot be told. */
export type TokenAuthenticator = (token: string) => Promise<Identity | undefined>

/**
 * A token that is given and not good is refused: its bearer must not be answered as nobody.
 *
 * @throws {@link StatusError} `Unauthorized`.
 */
export function bearerToken(
  find: (token: string) => Promise<Identity | undefined> | undefined,
): Authenticator {
  return async ({ headers }) => {
    const given = headers.all('authorization').at(0)
    if (given === undefined) return undefined
    const token = /^bearer +(\S+) *$/i.exec(given)?.[1]
    const identity = token === undefined ? undefined : await find(token)
    if (!identity) throw unauthorized()
    return { identity, throughProxy: false }
  }
}

/** In kube-apiserver's words, without saying what was wrong. */
export function unauthorized(): StatusError {
  return new StatusError('Unauthorized', 'Unauthorized')
}
