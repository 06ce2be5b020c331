/**
 * TokenReview and SubjectAccessReview for the stand-in: tokens from a map, rights from a function.
 * Answers are those that a real server gave (recorded/management/reviews.json), but for
 * managedFields.
 */
import { jsonReply, type Reply } from '../../../src/demo/member/reply.ts'
import type { Handler, StandInRequest } from './stand-in.ts'

export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The spec of a SubjectAccessReview. */
export interface AccessSpec {
  readonly user?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
  readonly resourceAttributes?: Readonly<Record<string, string>>
  readonly nonResourceAttributes?: { readonly path: string; readonly verb: string }
}

export interface Reviews {
  readonly tokens: Map<string, UserInfo>
  /** Audiences that a token is meant for; a token that is not here is for the server itself. */
  readonly audiences: Map<string, readonly string[]>
  allows: (spec: AccessSpec) => boolean
  /** What was asked, the latest last. */
  readonly asked: { readonly tokens: object[]; readonly access: AccessSpec[] }
  readonly handler: Handler
}

const TOKENS = '/apis/authentication.k8s.io/v1/tokenreviews'
const ACCESS = '/apis/authorization.k8s.io/v1/subjectaccessreviews'

export function reviewsStandIn(): Reviews {
  const reviews: Reviews = {
    tokens: new Map(),
    audiences: new Map(),
    allows: () => false,
    asked: { tokens: [], access: [] },
    handler: async (request) => answer(request, reviews),
  }
  return reviews
}

function answer({ method, path, body }: StandInRequest, reviews: Reviews): Reply | undefined {
  if (method !== 'POST' || (path !== TOKENS && path !== ACCESS)) return undefined
  const { kind, apiVersion, spec } = JSON.parse(body)
  const status = path === TOKENS ? tokenStatus(spec, reviews) : accessStatus(spec, reviews)
  return { ...jsonReply({ kind, apiVersion, metadata: {}, spec, status }), code: 201 }
}

function tokenStatus(
  spec: { readonly token: string; readonly audiences?: readonly string[] },
  { tokens, audiences, asked }: Reviews,
): object {
  asked.tokens.push(spec)
  const user = tokens.get(spec.token)
  const meantFor = audiences.get(spec.token) ?? ['https://kubernetes.default.svc']
  const shared = (spec.audiences ?? meantFor).filter((audience) => meantFor.includes(audience))
  if (!user) return { user: {}, error: 'invalid bearer token' }
  if (shared.length === 0) return { user: {}, error: 'token audiences are invalid' }
  return { authenticated: true, user, audiences: shared }
}

function accessStatus(spec: AccessSpec, reviews: Reviews): object {
  reviews.asked.access.push(spec)
  const isAdmin = spec.groups?.includes('system:masters') ?? false
  return { allowed: isAdmin || reviews.allows(spec) }
}
