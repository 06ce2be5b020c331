/**
 * What an API server answers before it has a database: that it lives, that it is not ready, and why.
 * On its own address, so that probes need not know the difference.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { TlsOptions } from '../../apiserver/server.ts'
import type { ListenAddress } from '../../config.ts'
import { StatusError, toStatus } from '../../kube/status-error.ts'
import { CommandFailure, messageOf } from '../failure.ts'
import { listenOn, stopAtOnce } from '../listen.ts'

export interface WaitingServer {
  stop(): Promise<void>
}

export interface WaitingServerParts {
  readonly tls: TlsOptions
  readonly listen: ListenAddress
  /** In words that anybody may read. */
  readonly why: () => string
}

const RETRY_AFTER_SECONDS = 2

/** @throws CommandFailure when the address cannot be had. */
export async function startWaitingServer(parts: WaitingServerParts): Promise<WaitingServer> {
  const { tls, listen, why } = parts
  const server = createServer({ ...tls }, (request, response) =>
    answer({ request, response }, why()),
  )
  await listenOn(server, listen).catch((error: unknown) => {
    throw new CommandFailure(`cannot listen on ${listen.host}:${listen.port}: ${messageOf(error)}`)
  })
  return { stop: () => stopAtOnce(server) }
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

function answer({ request, response }: Exchange, why: string): void {
  const [path = ''] = (request.url ?? '').split('?', 1)
  // It belongs to a server that is about to make room for another.
  response.setHeader('Connection', 'close')
  if (/^\/(?:livez|healthz)\/?$/.test(path)) sendText(response, 200, 'ok')
  else if (/^\/readyz\/?$/.test(path)) sendText(response, 500, notReady(why))
  else sendUnavailable(response)
}

/** As apiserver/health/plugin.ts says it once there is a database. */
function notReady(why: string): string {
  return `[+]ping ok\n[-]database failed: ${why}\nreadyz check failed\n`
}

function sendText(response: ServerResponse, code: number, text: string): void {
  response.writeHead(code, { 'Content-Type': 'text/plain; charset=utf-8' }).end(text)
}

function sendUnavailable(response: ServerResponse): void {
  const status = toStatus(
    new StatusError('ServiceUnavailable', 'the server has no database yet; please try again', {
      details: { retryAfterSeconds: RETRY_AFTER_SECONDS },
    }),
  )
  response
    .writeHead(status.code, {
      'Content-Type': 'application/json',
      'Retry-After': String(RETRY_AFTER_SECONDS),
    })
    .end(`${JSON.stringify(status)}\n`)
}
