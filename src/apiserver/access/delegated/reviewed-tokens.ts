/**
 * Tokens that the management cluster issued or knows, by TokenReview.
 *
 * @see apiserver/plugin/pkg/authenticator/token/webhook/webhook.go,
 *   apiserver/pkg/authentication/authenticatorfactory/delegating.go
 */
import { authenticated, type Identity } from '../../identity.ts'
import { AnswerCache } from '../answer-cache.ts'
import type { TokenAuthenticator } from '../authentication/bearer-token.ts'
import { postReview, type ReviewParts } from './post-review.ts'

/** Good and bad ones alike. */
const KEPT_MILLISECONDS = 10_000

export interface TokenReviewParts extends ReviewParts {
  /** A token must be meant for one of these; none: for the management API server itself. */
  readonly audiences: readonly string[]
}

export function reviewedTokens(parts: TokenReviewParts): TokenAuthenticator {
  const cache = new AnswerCache<Identity | undefined>(parts.clock, {
    lifetimeMilliseconds: KEPT_MILLISECONDS,
  })
  return async (token) => cache.get(token, () => review(parts, token))
}

interface TokenStatus {
  readonly authenticated?: boolean
  readonly user?: {
    readonly username?: string
    readonly uid?: string
    readonly groups?: readonly string[]
    readonly extra?: Readonly<Record<string, readonly string[]>>
  }
  readonly audiences?: readonly string[]
}

async function review(parts: TokenReviewParts, token: string): Promise<Identity | undefined> {
  const { audiences } = parts
  const status: TokenStatus = await postReview(parts, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token, ...(audiences.length > 0 && { audiences }) },
  })
  const { username, uid, groups = [], extra = {} } = status.user ?? {}
  if (status.authenticated !== true || !username) return undefined
  if (!isMeantForUs(audiences, status.audiences ?? [])) return undefined
  return authenticated(username, groups, { ...(uid && { uid }), extra })
}

/** One that says nothing of audiences does not know them: its tokens are for itself. */
function isMeantForUs(wanted: readonly string[], found: readonly string[]): boolean {
  if (wanted.length === 0 || found.length === 0) return true
  return wanted.some((audience) => found.includes(audience))
}
