/**
 * Posts a TokenReview or SubjectAccessReview to the management API server.
 *
 * Tried again while that may help, as kube-apiserver's own extension servers do. What it says of a
 * failure is told to nobody: it may repeat what was sent.
 *
 * @see apiserver/pkg/server/options/authentication.go, DefaultAuthWebhookRetryBackoff
 */
import type { Clock } from '../../../clock.ts'
import { StatusError } from '../../../kube/status-error.ts'
import type { ManagementClient } from '../../../management/client.ts'
import { ManagementError } from '../../../management/management-error.ts'
import type { ReviewMetrics } from './review-metrics.ts'

export interface ReviewParts {
  readonly client: Pick<ManagementClient, 'request'>
  readonly clock: Clock
  readonly metrics?: ReviewMetrics
}

export interface Review {
  readonly apiVersion: string
  readonly kind: 'TokenReview' | 'SubjectAccessReview'
  readonly spec: object
}

type ReviewStatus = Readonly<Record<string, unknown>>

const ANSWER_MILLISECONDS = 10_000
const TRIES = 5
const FIRST_PAUSE_MILLISECONDS = 500
const PAUSE_FACTOR = 1.5
const PAUSE_JITTER = 0.2
const RETRY_AFTER_SECONDS = 1

/**
 * @returns its status.
 * @throws {@link StatusError} `ServiceUnavailable` when there is no answer in time.
 */
export async function postReview(parts: ReviewParts, review: Review): Promise<ReviewStatus> {
  const signal = AbortSignal.timeout(ANSWER_MILLISECONDS)
  for (let tried = 1; tried <= TRIES && !signal.aborted; tried++) {
    const status = await tryOnce(parts, review, signal)
    if (status) return status
    if (tried < TRIES) await parts.clock.sleep(pauseAfter(tried), signal).catch(() => undefined)
  }
  throw unavailable(review)
}

/** Undefined when trying again may help. */
async function tryOnce(
  { client, clock, metrics }: ReviewParts,
  review: Review,
  signal: AbortSignal,
): Promise<ReviewStatus | undefined> {
  const startedAt = clock.now()
  const count = (code: number | undefined) =>
    metrics?.asked(review.kind, code, (clock.now() - startedAt) / 1000)
  try {
    const path = `/apis/${review.apiVersion}/${review.kind.toLowerCase()}s`
    const { status: code, body } = await client.request('POST', path, { body: review, signal })
    count(code)
    const { status } = (body ?? {}) as { readonly status?: ReviewStatus }
    return status ?? {}
  } catch (error) {
    count(error instanceof ManagementError ? error.code : undefined)
    if (signal.aborted) return undefined
    if (!(error instanceof ManagementError)) throw error
    if (error.isTemporary) return undefined
    throw refusedToUs(review, error)
  }
}

function pauseAfter(tried: number): number {
  const pause = FIRST_PAUSE_MILLISECONDS * PAUSE_FACTOR ** (tried - 1)
  return pause * (1 + Math.random() * PAUSE_JITTER)
}

/** Our own account may not ask: for the log, and nothing that a reader could mend. */
function refusedToUs({ kind }: Review, { code, reason }: ManagementError): Error {
  return new Error(
    `the management API server refuses our ${kind} with ${code} ${reason}; ` +
      'is our account bound to the ClusterRole system:auth-delegator?',
  )
}

function unavailable({ kind }: Review): StatusError {
  const what = kind === 'TokenReview' ? 'the token' : 'the right to this'
  return new StatusError(
    'ServiceUnavailable',
    `${what} cannot be checked now: the management API server does not answer`,
    { details: { retryAfterSeconds: RETRY_AFTER_SECONDS } },
  )
}
