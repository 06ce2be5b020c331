/** A posted review, in any of the three forms that Kubernetes clients send. */
import type { FastifyRequest } from 'fastify'
import { StatusError } from '../../kube/status-error.ts'
import { yamlValue } from '../../kube/yaml-text.ts'
import { mediaTypeOf } from '../request-body.ts'
import { decodeEnvelope, type Enveloped } from './review-messages.ts'

export const PROTOBUF = 'application/vnd.kubernetes.protobuf'
export const REVIEW_MEDIA_TYPES: readonly string[] = [
  'application/json',
  'application/yaml',
  PROTOBUF,
]

/** Many times what a review has. Its spec is sent back: without a limit, writing it could fail. */
const DEPTH_MOST = 100

export interface ReviewKind {
  readonly apiVersion: string
  readonly kind: string
}

/**
 * Kind and apiVersion may be left out: the path says them.
 *
 * @throws `BadRequest` for another kind or what cannot be read; `UnsupportedMediaType`.
 */
export function readReview(request: FastifyRequest, { apiVersion, kind }: ReviewKind): Enveloped {
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const given = decodeBody(body, mediaTypeOf(request) || 'application/json', kind)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new StatusError('BadRequest', `the body of a ${kind} must be an object`)
  }
  refuseDeep(given, kind)
  const fields = given as Record<string, unknown>
  const { apiVersion: givenVersion = apiVersion, kind: givenKind = kind } = fields
  if (givenKind !== kind || givenVersion !== apiVersion) {
    throw new StatusError(
      'BadRequest',
      `${String(givenKind)} in version ${JSON.stringify(givenVersion)} cannot be handled as a ${kind}`,
    )
  }
  return { ...fields, apiVersion, kind }
}

/** Aliases of YAML can make an object that holds itself: it is too deep, too. */
function refuseDeep(value: unknown, kind: string, depth = 0): void {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return
  if (depth > DEPTH_MOST) throw new StatusError('BadRequest', `the body of a ${kind} is too deep`)
  for (const child of Object.values(value)) refuseDeep(child, kind, depth + 1)
}

function decodeBody(body: Buffer, mediaType: string, kind: string): unknown {
  switch (mediaType) {
    case 'application/json':
      return parsed(() => JSON.parse(body.toString()))
    case 'application/yaml':
      return parsed(() => yamlValue(body.toString()))
    case PROTOBUF:
      return decodeEnvelope(body, kind)
    default:
      throw new StatusError(
        'UnsupportedMediaType',
        'the body of the request was in an unknown format - accepted media types include: ' +
          REVIEW_MEDIA_TYPES.join(', '),
        { details: {} },
      )
  }
}

function parsed(parseBody: () => unknown): unknown {
  try {
    return parseBody()
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new StatusError('BadRequest', `the body cannot be parsed: ${error.message}`)
  }
}
