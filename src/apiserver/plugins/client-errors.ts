/**
 * Answers what is not even a request: a malformed request line, headers that are too long.
 *
 * Node gives us the bare socket, so the Status is written as HTTP by hand.
 */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { StatusError, toStatus } from '../../kube/status-error.ts'

const TOO_LARGE = 'HPE_HEADER_OVERFLOW'
const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT'

/** For Fastify's `clientErrorHandler`. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const { code, body } = answerOf(error.code)
  const head = [
    `HTTP/1.1 ${code} ${STATUS_CODES[code]}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]))
}

function answerOf(errorCode: string | undefined): { readonly code: number; readonly body: Buffer } {
  const { code, message } = meaningOf(errorCode)
  const status = { ...toStatus(new StatusError('BadRequest', message)), code }
  return { code, body: Buffer.from(`${JSON.stringify(status)}\n`) }
}

function meaningOf(errorCode: string | undefined): { code: number; message: string } {
  switch (errorCode) {
    case TOO_LARGE:
      return { code: 431, message: 'the request line and headers are too long' }
    case TIMED_OUT:
      return { code: 408, message: 'the request did not arrive in time' }
    default:
      return { code: 400, message: 'the request is not well-formed HTTP' }
  }
}
