/**
 * What the management API server answers when it refuses, and that it does not answer.
 *
 * No StatusError: that our own account may not do something there is no news for our readers, and
 * what is not translated is a logged 500 to them.
 */
import type { StatusDetails } from '../kube/status-error.ts'
import { MemberError, REASON } from '../sync/member-error.ts'

export class ManagementError extends Error {
  override readonly name = 'ManagementError'
  /** HTTP status; undefined when there was no answer. */
  readonly code: number | undefined
  /** Of the Status: `Conflict`, `AlreadyExists`, …; `NotReachable` and the like without an answer. */
  readonly reason: string
  readonly details: StatusDetails | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(
    message: string,
    of: {
      readonly code?: number | undefined
      readonly reason: string
      readonly details?: StatusDetails | undefined
      readonly retryAfterSeconds?: number | undefined
      readonly cause?: unknown
    },
  ) {
    super(message, { cause: of.cause })
    this.code = of.code
    this.reason = of.reason
    this.details = of.details
    this.retryAfterSeconds = of.retryAfterSeconds
  }

  /** Whether the same request may do better later, without anybody mending anything. */
  get isTemporary(): boolean {
    return this.code === undefined || this.code === 429 || this.code >= 500
  }
}

/** True of an answer with this HTTP status. */
export function hasStatus(error: unknown, code: number): error is ManagementError {
  return error instanceof ManagementError && error.code === code
}

/** Undefined in place of a 404. */
export async function orMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (hasStatus(error, 404)) return undefined
    throw error
  })
}

/** There was no answer. */
export function noAnswer(error: unknown): unknown {
  if (!(error instanceof MemberError)) return error
  return new ManagementError(`the management API server: ${error.message}`, {
    reason: REASON[error.failure],
    retryAfterSeconds: error.retryAfterSeconds,
    cause: error,
  })
}

interface Refusal {
  readonly code: number
  readonly asked: string
  /** Parsed JSON, or the text when it is none. */
  readonly body: unknown
  readonly retryAfter: string | undefined
}

const TEXT_LENGTH = 200

/** An answer that is no success: a Status, or whatever stands in front of the API server. */
export function refusalOf({ code, asked, body, retryAfter }: Refusal): ManagementError {
  const status = isStatus(body) ? body : undefined
  const text = typeof body === 'string' ? body.trim().slice(0, TEXT_LENGTH) : ''
  const seconds = Number(retryAfter ?? status?.details?.retryAfterSeconds)
  return new ManagementError(status?.message || text || `HTTP ${code}: cannot ${asked}`, {
    code,
    reason: status?.reason || `HTTP${code}`,
    details: status?.details,
    retryAfterSeconds: seconds >= 0 ? seconds : undefined,
  })
}

interface StatusBody {
  readonly kind: 'Status'
  readonly message?: string
  readonly reason?: string
  readonly details?: StatusDetails
}

function isStatus(body: unknown): body is StatusBody {
  return typeof body === 'object' && body !== null && 'kind' in body && body.kind === 'Status'
}
