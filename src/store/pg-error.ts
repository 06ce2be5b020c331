/** The only place that knows what a PostgreSQL failure means to a client. */
import { StatusError, type StatusReason } from '../kube/status-error.ts'

interface Meaning {
  readonly reason: StatusReason
  readonly message: string
}

const NO_ANSWER: Meaning = { reason: 'ServiceUnavailable', message: 'the database does not answer' }
const GOING_DOWN: Meaning = {
  reason: 'ServiceUnavailable',
  message: 'the database is shutting down or starting up',
}
const BUSY: Meaning = {
  reason: 'ServiceUnavailable',
  message: 'the database has no connection free',
}

/** SQLSTATE codes: PostgreSQL manual, Appendix A. Names in capitals come from Node's net and dns. */
const MEANING: Readonly<Record<string, Meaning>> = {
  '57014': { reason: 'Timeout', message: 'the query ran longer than the statement timeout' },
  '53300': BUSY,
  '53200': { reason: 'ServiceUnavailable', message: 'the database is out of memory' },
  '53100': { reason: 'ServiceUnavailable', message: 'the disk of the database is full' },
  '57P01': GOING_DOWN,
  '57P02': GOING_DOWN,
  '57P03': GOING_DOWN,
  '57P04': GOING_DOWN,
  '57P05': GOING_DOWN,
  '25006': {
    reason: 'ServiceUnavailable',
    message: 'the database accepts no writes at the moment',
  },
  '25P03': NO_ANSWER,
  '40001': { reason: 'ServiceUnavailable', message: 'the database is busy with other writes' },
  '40P01': { reason: 'ServiceUnavailable', message: 'the database is busy with other writes' },
  '55P03': { reason: 'ServiceUnavailable', message: 'the database is busy with other writes' },
  '08000': NO_ANSWER,
  '08001': NO_ANSWER,
  '08003': NO_ANSWER,
  '08004': NO_ANSWER,
  '08006': NO_ANSWER,
  '28000': NO_ANSWER,
  '28P01': NO_ANSWER,
  '3D000': NO_ANSWER,
  ECONNREFUSED: NO_ANSWER,
  ECONNRESET: NO_ANSWER,
  EPIPE: NO_ANSWER,
  ETIMEDOUT: NO_ANSWER,
  ENOTFOUND: NO_ANSWER,
  EAI_AGAIN: NO_ANSWER,
  EHOSTUNREACH: NO_ANSWER,
  ENETUNREACH: NO_ANSWER,
  ENOENT: NO_ANSWER,
}

/** What pg and pg-pool throw without a code. */
const MEANING_OF_MESSAGE: ReadonlyArray<readonly [RegExp, Meaning]> = [
  [/^timeout exceeded when trying to connect$/, BUSY],
  [/^Connection terminated/, NO_ANSWER],
  [/^Query read timeout$/, NO_ANSWER],
  [/^Client has encountered a connection error/, NO_ANSWER],
  [/^Cannot use a pool after calling end/, GOING_DOWN],
]

/** After a failover or a restart clients come again by themselves, kubectl too: after so long. */
const RETRY_AFTER_SECONDS = 1

/** Returns the `StatusError` to throw, or the same error when it is a defect of ours. */
export function fromPostgres(error: unknown): unknown {
  const meaning = meaningOf(error)
  if (!meaning) return error
  const { reason, message } = meaning
  const again = reason === 'ServiceUnavailable'
  return new StatusError(reason, message, {
    cause: error,
    ...(again && { details: { retryAfterSeconds: RETRY_AFTER_SECONDS } }),
  })
}

function meaningOf(error: unknown): Meaning | undefined {
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error ? String(error.code) : ''
  return MEANING[code] ?? MEANING_OF_MESSAGE.find(([text]) => text.test(error.message))?.[1]
}
