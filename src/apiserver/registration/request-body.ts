/** What a client sent: JSON or YAML text, of a size that a manifest may have. */
import type { FastifyRequest } from 'fastify'
import { StatusError } from '../../kube/status-error.ts'
import type { Body } from '../../registration/body-text.ts'
import { mediaTypeOf } from '../request-body.ts'

const FORMATS: Readonly<Record<string, Body['format']>> = {
  '': 'json',
  '*/*': 'json',
  'application/json': 'json',
  'application/yaml': 'yaml',
}

/** @throws 415 for what is neither JSON nor YAML; 400 for text that is no UTF-8. */
export function objectBody(request: FastifyRequest): Body {
  const format = FORMATS[mediaTypeOf(request)]
  if (!format) throw unknownFormat(['application/json', 'application/yaml'])
  return { text: textOf(request), format }
}

export type PatchType = 'json' | 'merge' | 'apply'

const PATCH_TYPES: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/apply-patch+yaml': 'apply',
}

/** @throws 415, naming the patches that there are for a custom resource. */
export function patchBody(request: FastifyRequest): {
  readonly type: PatchType
  readonly body: Body
} {
  const mediaType = mediaTypeOf(request)
  const type = PATCH_TYPES[mediaType]
  if (type)
    return { type, body: { text: textOf(request), format: type === 'apply' ? 'yaml' : 'json' } }
  if (mediaType.includes('-patch+')) throw unknownFormat(Object.keys(PATCH_TYPES))
  throw new StatusError('UnsupportedMediaType', '415: Unsupported Media Type', { details: {} })
}

function textOf({ body }: FastifyRequest): string {
  if (!Buffer.isBuffer(body)) return ''
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (error) {
    throw new StatusError('BadRequest', 'the body is not UTF-8', { cause: error })
  }
}

function unknownFormat(accepted: readonly string[]): StatusError {
  return new StatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )
}
