/** Tokens that this installation issues: store/access-tokens.ts. */
import type { Clock } from '../../../clock.ts'
import { authenticated, type Identity } from '../../identity.ts'
import { AnswerCache } from '../answer-cache.ts'
import type { TokenAuthenticator } from './bearer-token.ts'

/** Whom a token was made for; undefined when it is unknown, expired or revoked. */
export type FindToken = (
  token: string,
) => Promise<{ readonly userName: string; readonly groups: readonly string[] } | undefined>

/** How long a token that was good counts as good without asking the database again. */
const GOOD_MILLISECONDS = 2_000

/** Good tokens are remembered for a moment; bad ones never, so a new token works at once. */
export function ownTokens(findToken: FindToken, clock: Clock): TokenAuthenticator {
  const cache = new AnswerCache<Identity | undefined>(clock, {
    lifetimeMilliseconds: GOOD_MILLISECONDS,
    isKept: (identity) => identity !== undefined,
  })
  return async (token) =>
    cache.get(token, async () => {
      const found = await findToken(token)
      return found && authenticated(found.userName, found.groups)
    })
}
