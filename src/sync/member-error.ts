/**
 * What can go wrong between us and a member cluster, in words that a person can act on.
 *
 * Owns     the closed list of causes, the sentence of each.
 * Not here what is done about it (list-watch.ts, cluster-health.ts).
 */
import { SKIP_VERIFY_ANNOTATION } from '../kube/pedia-cluster.ts'
import { printable } from '../kube/printable.ts'

export type FailureCause =
  | 'unreachable'
  | 'certificate'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'expired'
  | 'throttled'
  | 'server'
  | 'rubbish'

export class MemberError extends Error {
  override readonly name = 'MemberError'
  readonly failure: FailureCause
  /** Of an HTTP answer. */
  readonly statusCode: number | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(
    failure: FailureCause,
    message: string,
    options: { statusCode?: number; retryAfterSeconds?: number | undefined; cause?: unknown } = {},
  ) {
    // Ends in conditions, logs and on terminals, and may hold what the member sent.
    super(printable(message), { cause: options.cause })
    this.failure = failure
    this.statusCode = options.statusCode
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** A condition's reason: one word in CamelCase. */
export const REASON: Readonly<Record<FailureCause, string>> = {
  unreachable: 'NotReachable',
  certificate: 'CertificateInvalid',
  unauthorized: 'Unauthorized',
  forbidden: 'Forbidden',
  'not-found': 'NotFound',
  expired: 'Expired',
  throttled: 'TooManyRequests',
  server: 'ServerError',
  rubbish: 'InvalidAnswer',
}

export const FAILURE_CAUSES = Object.keys(REASON) as readonly FailureCause[]

/** Names in capitals come from Node's net, dns and tls, and from undici. */
const CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  UND_ERR_SOCKET: 'the connection was closed',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the host name cannot be looked up',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped in the middle',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
}

const UNKNOWN_AUTHORITY = `the certificate of the API server is signed by an unknown authority: put the CA of the cluster in caData (certificate-authority-data of a kubeconfig), or annotate the PediaCluster with ${SKIP_VERIFY_ANNOTATION}=true and trust whoever answers at the address`

const CERTIFICATE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate of the API server has expired',
  CERT_NOT_YET_VALID: 'the certificate of the API server is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  CERT_SIGNATURE_FAILURE: UNKNOWN_AUTHORITY,
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the API server is for another name',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'the API server asks for a client certificate',
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: 'the API server refuses the client certificate',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'the API server refuses the client certificate',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the API server does not speak TLS at this address',
  EPROTO: 'the API server does not speak TLS at this address',
}

/** What undici throws, when the connection fails or breaks. */
export function connectionError(error: unknown): MemberError {
  if (error instanceof MemberError) return error
  for (const code of codesOf(error)) {
    const certificate = CERTIFICATE[code]
    if (certificate) return new MemberError('certificate', certificate, { cause: error })
    const connection = CONNECTION[code]
    if (connection) return new MemberError('unreachable', connection, { cause: error })
  }
  const message = error instanceof Error ? error.message.split('\n')[0] : String(error)
  return new MemberError('unreachable', message || 'the connection failed', { cause: error })
}

/** The error's own code, and those of what caused it. */
function* codesOf(error: unknown): Generator<string> {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++) {
    if ('code' in one) yield String(one.code)
    if (one instanceof AggregateError) for (const inner of one.errors) yield* codesOf(inner)
  }
}

export interface Answer {
  readonly statusCode: number
  readonly retryAfter?: string | undefined
  /** As much as was read of it. */
  readonly body: Buffer
  /** `list secrets`: what was asked. */
  readonly asked: string
  /** What we were let in by: a member that shows it to us must not show it to readers. */
  readonly secrets?: readonly string[]
}

/** Whoever asks to be left alone for longer is asked all the same: a timer takes 24 days at most. */
const RETRY_AFTER_MOST_SECONDS = 300

/** What an HTTP answer that is no success means. */
export function answerError(answer: Answer): MemberError {
  const { statusCode, retryAfter, asked } = answer
  const seconds = Number(retryAfter)
  const options = {
    statusCode,
    retryAfterSeconds:
      retryAfter !== undefined && seconds >= 0
        ? Math.min(seconds, RETRY_AFTER_MOST_SECONDS)
        : undefined,
  }
  switch (statusCode) {
    case 401:
      return new MemberError('unauthorized', 'Unauthorized', options)
    case 403:
      return new MemberError('forbidden', `Forbidden: cannot ${asked}`, options)
    case 404:
      return new MemberError('not-found', `not found: cannot ${asked}`, options)
    case 410:
      return new MemberError(
        'expired',
        messageOf(answer) || 'the resourceVersion is too old',
        options,
      )
    case 429:
      return new MemberError('throttled', `too many requests: cannot ${asked} now`, options)
    default: {
      const said = messageOf(answer)
      const text = `HTTP ${statusCode}: cannot ${asked}${said && `: ${said}`}`
      return new MemberError('server', text, options)
    }
  }
}

const MESSAGE_LENGTH = 200

/** The message of a Status, one line and not long. */
function messageOf({ body, secrets = [] }: Answer): string {
  try {
    const { message } = JSON.parse(body.toString('utf8')) as { message?: unknown }
    if (typeof message !== 'string') return ''
    const shown = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message)
    return shown.replaceAll(/\s+/g, ' ').slice(0, MESSAGE_LENGTH)
  } catch {
    return '' // no Status: a load balancer's page, or cut off
  }
}
