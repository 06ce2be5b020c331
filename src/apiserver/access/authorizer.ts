/**
 * Whether someone may do one thing, asked as a SubjectAccessReview asks.
 *
 * This is for what FleetAccess does not speak of: acting as someone else, `/metrics`, and the paths
 * that the management cluster's RBAC is about. Objects go through access.ts.
 */
import type { RequestAttributes } from '../../kube/request-attributes.ts'
import { type Identity, isAnonymous, MASTERS_GROUP } from '../identity.ts'

export interface Decision {
  readonly allowed: boolean
  /** Why not, where the authoriser tells. */
  readonly reason?: string
}

/** @throws {@link StatusError} `ServiceUnavailable` when it cannot be told now. */
export type Authorizer = (identity: Identity, attributes: RequestAttributes) => Promise<Decision>

/** Kubernetes' own group for what scrapes an API server. */
const MONITORING_GROUP = 'system:monitoring'

const YES: Decision = { allowed: true }
const NO: Decision = { allowed: false }

/** Without a management cluster to ask: administrators may, and who monitors reads metrics. */
export const standaloneAuthorizer: Authorizer = async ({ groups }, attributes) => {
  if (groups.includes(MASTERS_GROUP)) return YES
  const isMetrics = 'path' in attributes && attributes.path === '/metrics'
  return isMetrics && attributes.verb === 'get' && groups.includes(MONITORING_GROUP) ? YES : NO
}

/**
 * Another server is asked, but not about those whose answer is certain.
 *
 * @see apiserver/pkg/server/options/authorization.go, DelegatingAuthorizationOptions
 */
export function delegatedAuthorizer(ask: Authorizer): Authorizer {
  return async (identity, attributes) => {
    if (identity.groups.includes(MASTERS_GROUP)) return YES
    return isAnonymous(identity) ? NO : ask(identity, attributes)
  }
}
