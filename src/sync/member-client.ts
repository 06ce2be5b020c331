/**
 * HTTP to one member cluster: one pool of connections, credentials, small documents and streams.
 *
 * Health check and sync share one client, so neither can be well while the other is not.
 */
import { Readable } from 'node:stream'
import { createSecureContext } from 'node:tls'
import { createGunzip } from 'node:zlib'
import { type Dispatcher, Pool, ProxyAgent } from 'undici'
import { messageOf } from '../kube/message-of.ts'
import type { Authorization, MemberAccess } from './member-access.ts'
import { type Answer, answerError, connectionError, MemberError } from './member-error.ts'
import { systemAuthorities } from './system-authorities.ts'

export interface ClientOptions {
  readonly userAgent: string
  readonly count?: CountRequest
  readonly connectMilliseconds?: number
  /** Until the headers of an answer, and between two chunks of its body; not for watches. */
  readonly answerMilliseconds?: number
  /** For all of a small answer: one that comes byte by byte must end, too. */
  readonly documentMilliseconds?: number
}

/** An answer, or `<error>` in the place of its code, as client-go counts them. */
export type CountRequest = (method: string, code: string) => void

export interface MemberRequest {
  /** Below the prefix of the server's URL: `/api/v1/pods`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly accept?: string
  readonly headers?: Readonly<Record<string, string>>
  /** `list secrets`: for messages. */
  readonly asked: string
  readonly signal?: AbortSignal
  /** A watch: answers as long as it likes, and is not compressed. */
  readonly endless?: boolean
  /** Left out: GET. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With a `content-type` among the headers. */
  readonly content?: string
}

export interface MemberAnswer {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readable
}

/** An answer as it came, whatever its status. */
export interface WholeAnswer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

const CONNECT_MILLISECONDS = 10_000
const ANSWER_MILLISECONDS = 60_000
const DOCUMENT_MILLISECONDS = 120_000
/** OpenAPI documents reach some megabytes. */
const DOCUMENT_BYTES = 64 * 1024 * 1024
const ERROR_BYTES = 64 * 1024

interface Connections {
  readonly dispatcher: Dispatcher
  readonly cert: string | undefined
  readonly key: string | undefined
}

export class MemberClient {
  readonly #access: MemberAccess
  readonly #options: ClientOptions
  readonly #origin: string
  readonly #prefix: string
  #connections: Connections | undefined
  #secrets: readonly string[] = []
  #closed = false

  constructor(access: MemberAccess, options: ClientOptions) {
    this.#access = access
    this.#options = options
    this.#origin = access.server.origin
    this.#prefix = access.server.pathname.replace(/\/+$/, '')
  }

  /** The body of a small answer. @throws MemberError */
  async read(request: MemberRequest): Promise<{ headers: MemberAnswer['headers']; body: Buffer }> {
    const milliseconds = this.#options.documentMilliseconds ?? DOCUMENT_MILLISECONDS
    const late = AbortSignal.timeout(milliseconds)
    const signal = request.signal ? AbortSignal.any([request.signal, late]) : late
    try {
      const { headers, body } = await this.open({ ...request, signal })
      return { headers, body: await collect(body, DOCUMENT_BYTES) }
    } catch (error) {
      request.signal?.throwIfAborted()
      if (!late.aborted) throw connectionError(error)
      const message = `the answer did not end within ${milliseconds / 1000} s: cannot ${request.asked}`
      throw new MemberError('unreachable', message, { cause: error })
    }
  }

  /** A small answer as JSON. @throws MemberError, of cause `rubbish` when it is none. */
  async readJson(request: MemberRequest): Promise<unknown> {
    const { body } = await this.read(request)
    try {
      return JSON.parse(body.toString('utf8'))
    } catch (error) {
      throw new MemberError('rubbish', `the answer is not JSON: cannot ${request.asked}`, {
        cause: error,
      })
    }
  }

  /** One that is no success is an answer too. @throws MemberError when there is none. */
  async ask(request: MemberRequest): Promise<WholeAnswer> {
    const { statusCode, headers: raw, body } = await this.#answered(request)
    const headers = flatHeaders(raw)
    try {
      return { statusCode, headers, body: await collect(decoded(headers, body), DOCUMENT_BYTES) }
    } catch (error) {
      request.signal?.throwIfAborted()
      throw connectionError(error)
    }
  }

  /** A successful answer (or 304, with an empty body), to be read by the caller. @throws MemberError */
  async open(request: MemberRequest): Promise<MemberAnswer> {
    const { statusCode, headers: raw, body } = await this.#answered(request)
    const headers = flatHeaders(raw)
    if (statusCode >= 200 && statusCode < 300) return { headers, body: decoded(headers, body) }
    if (statusCode === 304) {
      await discard(body)
      return { headers, body: Readable.from([]) }
    }
    const text = await collect(decoded(headers, body), ERROR_BYTES).catch(() => Buffer.alloc(0))
    const retryAfter = headers['retry-after']
    throw this.refusal({ statusCode, retryAfter, body: text, asked: request.asked })
  }

  /** What an answer means, as an HTTP status or as an event, without the credentials it may repeat. */
  refusal(answer: Omit<Answer, 'secrets'>): MemberError {
    return answerError({ ...answer, secrets: this.#secrets })
  }

  /** Ends every request; the client cannot be used again. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#connections?.dispatcher.destroy()
  }

  /** Refused for its credentials, it is asked once more with others, if there are any. */
  async #answered(request: MemberRequest): Promise<Dispatcher.ResponseData> {
    const first = await this.#send(request)
    if (first.statusCode !== 401 || !this.#access.renew()) return first
    await discard(first.body)
    return this.#send(request)
  }

  async #send(request: MemberRequest): Promise<Dispatcher.ResponseData> {
    if (this.#closed) throw new MemberError('unreachable', 'the client is closed')
    const authorization = await this.#authorize()
    const dispatcher = this.#dispatcherFor(authorization)
    const patience = this.#options.answerMilliseconds ?? ANSWER_MILLISECONDS
    const timeout = request.endless ? 0 : patience
    const method = request.method ?? 'GET'
    try {
      const answer = await dispatcher.request({
        origin: this.#origin,
        path: `${this.#prefix}${request.path}`,
        query: request.query ?? {},
        method,
        ...(request.content !== undefined && { body: request.content }),
        headersTimeout: timeout,
        bodyTimeout: timeout,
        headers: {
          'user-agent': this.#options.userAgent,
          accept: request.accept ?? 'application/json',
          'accept-encoding': request.endless ? 'identity' : 'gzip',
          ...authorization.headers,
          ...request.headers,
        },
        ...(request.signal && { signal: request.signal }),
      })
      this.#options.count?.(method, String(answer.statusCode))
      return answer
    } catch (error) {
      request.signal?.throwIfAborted()
      this.#options.count?.(method, '<error>')
      throw connectionError(error)
    }
  }

  /** A token file that is gone, a plugin that prints rubbish: no way in, until it is better. */
  async #authorize(): Promise<Authorization> {
    try {
      const authorization = await this.#access.authorize()
      this.#secrets = secretsIn(authorization)
      return authorization
    } catch (error) {
      if (error instanceof MemberError) throw error
      const message = messageOf(error)
      throw new MemberError('unauthorized', message, { cause: error })
    }
  }

  /** A client certificate belongs to the connection: another one needs other connections. */
  #dispatcherFor({ cert, key }: Authorization): Dispatcher {
    const known = this.#connections
    if (known && known.cert === cert && known.key === key) return known.dispatcher
    const dispatcher = this.#createDispatcher({ cert, key })
    this.#connections = { dispatcher, cert, key }
    // Not waited for: its watches end, and go on from where they were over the new connections.
    if (known) known.dispatcher.destroy().catch(() => undefined)
    return dispatcher
  }

  #createDispatcher({ cert, key }: { cert: string | undefined; key: string | undefined }) {
    const { ca, serverName, insecure, proxyUrl } = this.#access
    const connect = {
      timeout: this.#options.connectMilliseconds ?? CONNECT_MILLISECONDS,
      rejectUnauthorized: !insecure,
      ...(this.#access.server.protocol === 'https:' && {
        // One for all connections: reading some hundred authorities takes a while.
        secureContext: createSecureContext({
          ca: ca ?? [...systemAuthorities()],
          ...(cert !== undefined && { cert }),
          ...(key !== undefined && { key }),
        }),
      }),
      ...(serverName !== undefined && { servername: serverName }),
    }
    if (proxyUrl === undefined) return new Pool(this.#origin, { connect, pipelining: 1 })
    return new ProxyAgent({ uri: proxyUrl, requestTls: connect })
  }
}

/** Shorter ones would be found in any text. */
const SECRET_LEAST_CHARACTERS = 6

/** What is to be shown nowhere: a token, or a password as it is sent and as it is typed. */
function secretsIn({ headers }: Authorization): readonly string[] {
  const [scheme, value = ''] = (headers.authorization ?? '').split(' ')
  const plain = scheme === 'Basic' ? Buffer.from(value, 'base64').toString() : ''
  return [value, plain.slice(plain.indexOf(':') + 1)].filter(
    ({ length }) => length >= SECRET_LEAST_CHARACTERS,
  )
}

function flatHeaders(raw: Dispatcher.ResponseData['headers']): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(raw)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return flat
}

function decoded(headers: Readonly<Record<string, string>>, body: Readable): Readable {
  if (headers['content-encoding'] !== 'gzip') return body
  const gunzip = createGunzip()
  body.on('error', (error) => gunzip.destroy(error))
  // Ended early, the connection must not go on filling memory.
  gunzip.on('close', () => body.destroy())
  return body.pipe(gunzip)
}

async function collect(body: Readable, mostBytes: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    bytes += part.length
    if (bytes > mostBytes) throw new MemberError('rubbish', `the answer is over ${mostBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

async function discard(body: Dispatcher.ResponseData['body']): Promise<void> {
  await body.dump().catch(() => undefined)
}
