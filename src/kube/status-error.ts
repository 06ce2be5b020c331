/**
 * The only errors a client ever sees, in the shape kubectl prints: a v1 `Status`.
 *
 * Owns     the closed list of reasons, and the HTTP code of each.
 * Not here PostgreSQL failures (store/pg-error.ts), writing the reply
 *          (apiserver/plugins/status-errors.ts).
 */
import { type GroupResource, qualifiedResource } from './group-resource.ts'

/** HTTP code of every reason this server can return. Each is explained in src/README.md#errors. */
export const STATUS_CODE = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const

export type StatusReason = keyof typeof STATUS_CODE

export interface StatusCause {
  /** `FieldValueInvalid`, `FieldManagerConflict` …: apimachinery's CauseType. */
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  /** The plural resource name, as upstream does; the Kind for `Invalid`. */
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

export interface Status {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: Record<string, never>
  readonly status: 'Failure'
  readonly message: string
  readonly reason: StatusReason
  readonly details?: StatusDetails
  readonly code: number
}

export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly reason: StatusReason
  readonly details: StatusDetails | undefined

  constructor(
    reason: StatusReason,
    message: string,
    options: { details?: StatusDetails; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.reason = reason
    this.details = options.details
  }
}

export function badRequest(message: string, cause?: unknown): StatusError {
  return new StatusError('BadRequest', message, { cause })
}

/** `pods "web-0" not found`: the sentence kubectl users already know. */
export function notFound(of: GroupResource, name: string): StatusError {
  return new StatusError('NotFound', `${qualifiedResource(of)} ${JSON.stringify(name)} not found`, {
    details: { name, ...(of.group && { group: of.group }), kind: of.resource },
  })
}

/** What a path that names no served type is answered with. */
export function noSuchResource(): StatusError {
  return new StatusError('NotFound', 'the server could not find the requested resource', {
    details: {},
  })
}

/** A state that is not reached yet. @see apiserver/pkg/storage/errors.go, NewTooLargeResourceVersionError */
export function resourceVersionTooLarge(wanted: bigint, current: string): StatusError {
  const cause = { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }
  return new StatusError('Timeout', `${cause.message}: ${wanted}, current: ${current}`, {
    details: { causes: [cause], retryAfterSeconds: 1 },
  })
}

/** A state that is not known any more. */
export function resourceVersionTooOld(): StatusError {
  return new StatusError('Expired', 'The resourceVersion for the provided list is too old.')
}

/** `pods/log` and the like: in the words above, and why not. */
export function subresourceNotMirrored(of: GroupResource, subresource: string): StatusError {
  const name = `${qualifiedResource(of)}/${subresource}`
  const why = `${name} is not mirrored, only objects are: ask the cluster itself`
  return new StatusError('NotFound', `the server could not find the requested resource: ${why}`, {
    details: {},
  })
}

/** What every write to the mirror is answered with. */
export function methodNotAllowed(): StatusError {
  return new StatusError(
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    { details: {} },
  )
}

/**
 * Turns anything thrown into a `Status`.
 *
 * An error that is not a `StatusError` is a defect of ours, so its text stays
 * in the log: it may hold SQL, a host name or a row of someone's cluster.
 */
export function toStatus(error: unknown): Status {
  const known =
    error instanceof StatusError
      ? error
      : new StatusError('InternalError', 'the server failed to answer this request; see its log')
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: known.message,
    reason: known.reason,
    ...(known.details && { details: known.details }),
    code: STATUS_CODE[known.reason],
  }
}
