/**
 * Answers for Node where it answers by itself, before there is a request for Fastify: a malformed
 * request line, headers that are too long or come too late, a method or expectation of another kind.
 *
 * Mostly Node gives us the bare socket, so the Status is written as HTTP by hand.
 */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import {
  methodNotAllowed,
  type Status,
  StatusError,
  type StatusReason,
  toStatus,
} from '../../kube/status-error.ts'

type Answer = Pick<Status, 'code' | 'message'> & { readonly reason: StatusReason }

const bad = (code: number, message: string): Answer => ({ code, message, reason: 'BadRequest' })

/** By Node's code of the error; everything else is malformed. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  HPE_HEADER_OVERFLOW: bad(431, 'the request line and headers are too long'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: bad(413, 'the extensions of a chunk are too long'),
  ERR_HTTP_REQUEST_TIMEOUT: bad(408, 'the request did not arrive in time'),
}
const MALFORMED = bad(400, 'the request is not well-formed HTTP')
const NO_TUNNEL: Answer = toStatus(methodNotAllowed())
const EXPECTATION = bad(417, 'the only expectation that is met is 100-continue')

/** How long who was refused has to read why. */
const LINGER_MILLISECONDS = 5_000

/** For Fastify's `clientErrorHandler`. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  sendOnSocket(socket, ANSWERS[error.code ?? ''] ?? MALFORMED)
}

async function install({ server }: FastifyInstance): Promise<void> {
  // Over TLS that has not begun nothing can be said: an answer would wait for it for ever, and the
  // connection with it. Node calls it a client error next, which finds the connection closed.
  server.prependListener('tlsClientError', (_error: Error, socket: Duplex) => socket.destroy())
  server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
    sendOnSocket(socket, NO_TUNNEL),
  )
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = bodyOf(EXPECTATION)
    response.writeHead(EXPECTATION.code, headersOf(body)).end(body)
  })
}

/** Fastify plugin, for what `clientErrorHandler` is not told of. */
export const nodeAnswers = fp(install, { name: 'node-answers' })

function sendOnSocket(socket: Duplex, answer: Answer): void {
  const body = bodyOf(answer)
  const head = [
    `HTTP/1.1 ${answer.code} ${STATUS_CODES[answer.code]}`,
    ...Object.entries(headersOf(body)).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]))
  // Closed at once, an answer may not be read; not at all, a client may keep it open for ever.
  const linger = setTimeout(() => socket.destroy(), LINGER_MILLISECONDS).unref()
  socket.once('close', () => clearTimeout(linger))
}

function headersOf(body: Buffer) {
  return {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    Connection: 'close',
  }
}

function bodyOf({ code, reason, message }: Answer): Buffer {
  const status = { ...toStatus(new StatusError(reason, message)), code }
  return Buffer.from(`${JSON.stringify(status)}\n`)
}
