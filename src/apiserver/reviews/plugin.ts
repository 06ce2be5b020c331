/**
 * The self reviews: who am I, may I, what may I. At the root and under both prefixes, where they
 * are the only POSTs that are answered.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { negotiate } from '../../kube/media-type.ts'
import type { Access } from '../access/access.ts'
import type { RootKind } from '../discovery/root-listing.ts'
import type { Exchange } from '../exchange.ts'
import type { Identity } from '../identity.ts'
import type { Surface } from '../prefixes.ts'
import { takeBytes } from '../request-body.ts'
import { JsonDocument, sendDocument } from '../send-document.ts'
import { onEverySurface } from '../surface.ts'
import { type Asking, answerAccess, type ReviewedRights } from './access-review.ts'
import { PROTOBUF, REVIEW_MEDIA_TYPES, type ReviewKind, readReview } from './read-review.ts'
import { type Enveloped, encodeEnvelope } from './review-messages.ts'
import { answerRules } from './rules-review.ts'

export interface ReviewOptions {
  readonly access: Access
  readonly rootKinds: readonly RootKind[]
  readonly rights: ReviewedRights
}

/** A review is small; what is not is refused before it is read. */
const BODY_MOST_BYTES = 64 * 1024

interface Review extends ReviewKind {
  readonly path: string
  /** What is added to the object that was posted. */
  readonly answer: (asking: Asking, posted: Enveloped) => Promise<object>
}

const REVIEWS: readonly Review[] = [
  {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    path: 'selfsubjectaccessreviews',
    answer: async (asking, { spec }) => ({ spec, status: await answerAccess(asking, spec) }),
  },
  {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    path: 'selfsubjectrulesreviews',
    // kube-apiserver forgets the spec in its answer, as recorded.
    answer: async (asking, { spec }) => ({ spec: {}, status: answerRules(asking, spec) }),
  },
  ...['authentication.k8s.io/v1', 'authentication.k8s.io/v1beta1'].map((apiVersion) => ({
    apiVersion,
    kind: 'SelfSubjectReview',
    path: 'selfsubjectreviews',
    answer: async ({ identity }: Asking) => ({ status: { userInfo: userInfoOf(identity) } }),
  })),
]

function userInfoOf({ user, uid, groups, extra }: Identity) {
  return { username: user, ...(uid && { uid }), groups, ...(extra && { extra }) }
}

/** Fastify plugin. It must not be wrapped by fastify-plugin: its body parser is for it alone. */
export async function reviews(server: FastifyInstance, options: ReviewOptions): Promise<void> {
  takeBytes(server, BODY_MOST_BYTES)
  const rootGroups = [...new Set(options.rootKinds.map(({ group }) => group))]
  await onEverySurface(server, (routes, surfaceOf) => {
    for (const review of REVIEWS) {
      routes.post(`/apis/${review.apiVersion}/${review.path}`, (request, reply) => {
        const asking = askingOf(request, { ...options, rootGroups }, surfaceOf(request))
        return sendReview({ request, reply }, review, asking)
      })
    }
  })
}

function askingOf(
  { identity }: FastifyRequest,
  { access, rootGroups, rights }: ReviewOptions & { readonly rootGroups: readonly string[] },
  surface: Surface,
): Asking {
  return { access, identity, surface, rootGroups, rights }
}

async function sendReview(
  { request, reply }: Exchange,
  review: Review,
  asking: Asking,
): Promise<FastifyReply> {
  const { apiVersion, kind } = review
  const { mediaType } = negotiate(request.headers.accept, REVIEW_MEDIA_TYPES)
  const posted = readReview(request, review)
  const answered = { kind, apiVersion, metadata: {}, ...(await review.answer(asking, posted)) }
  if (mediaType !== PROTOBUF) {
    const document = new JsonDocument(answered)
    return sendDocument({ request, reply }, document, { contentType: mediaType, statusCode: 201 })
  }
  reply.code(201).header('Cache-Control', 'no-cache, private').header('Content-Type', PROTOBUF)
  return reply.send(encodeEnvelope(answered))
}
