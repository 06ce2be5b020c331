/** Tokens that this installation issues: store/access-tokens.ts. */
import type { Clock } from '../../../clock.ts'
import { authenticated, type Identity } from '../../identity.ts'
import type { TokenAuthenticator } from './bearer-token.ts'

/** Whom a token was made for; undefined when it is unknown, expired or revoked. */
export type FindToken = (
  token: string,
) => Promise<{ readonly userName: string; readonly groups: readonly string[] } | undefined>

/** How long a token that was good counts as good without asking the database again. */
const GOOD_SECONDS = 2
const TOKENS_KEPT = 10_000

/** Good tokens are remembered for a moment; bad ones never, so a new token works at once. */
export function ownTokens(findToken: FindToken, clock: Clock): TokenAuthenticator {
  const good = new Map<string, { readonly identity: Identity; readonly until: number }>()
  return async (token) => {
    const known = good.get(token)
    if (known && known.until > clock.now()) return known.identity
    good.delete(token)
    const found = await findToken(token)
    if (!found) return undefined
    const identity = authenticated(found.userName, found.groups)
    if (good.size >= TOKENS_KEPT) good.clear()
    good.set(token, { identity, until: clock.now() + GOOD_SECONDS * 1000 })
    return identity
  }
}
