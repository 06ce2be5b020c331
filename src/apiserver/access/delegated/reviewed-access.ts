/**
 * Rights that the management cluster's RBAC gives, by SubjectAccessReview.
 *
 * @see apiserver/plugin/pkg/authorizer/webhook/webhook.go,
 *   apiserver/pkg/server/options/authorization.go
 */
import type { RequestAttributes } from '../../../kube/request-attributes.ts'
import type { Identity } from '../../identity.ts'
import { AnswerCache } from '../answer-cache.ts'
import type { Authorizer, Decision } from '../authorizer.ts'
import { postReview, type ReviewParts } from './post-review.ts'

/** Yes and no alike. */
const KEPT_MILLISECONDS = 10_000

export function reviewedAccess(parts: ReviewParts): Authorizer {
  const cache = new AnswerCache<Decision>(parts.clock, { lifetimeMilliseconds: KEPT_MILLISECONDS })
  return async (identity, attributes) => {
    const spec = specOf(identity, attributes)
    return cache.get(JSON.stringify(spec), () => review(parts, spec))
  }
}

function specOf({ user, groups, uid, extra }: Identity, attributes: RequestAttributes): object {
  const who = { user, groups, ...(uid !== undefined && { uid }), ...(extra && { extra }) }
  return 'path' in attributes
    ? { ...who, nonResourceAttributes: attributes }
    : { ...who, resourceAttributes: attributes }
}

async function review(parts: ReviewParts, spec: object): Promise<Decision> {
  const { allowed, reason } = await postReview(parts, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec,
  })
  const why = typeof reason === 'string' && reason !== '' ? { reason } : {}
  return allowed === true ? { allowed: true } : { allowed: false, ...why }
}
