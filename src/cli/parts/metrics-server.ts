/**
 * The metrics and the health of a process that serves nothing else: plain HTTP, on an address of its
 * own. `/livez` and `/healthz` answer while it runs, `/readyz` says what it waits for.
 */
import { createServer, type ServerResponse } from 'node:http'
import { Registry } from 'prom-client'
import type { ListenAddress } from '../../config.ts'
import { CommandFailure, messageOf } from '../failure.ts'
import { listenOn, stopAtOnce } from '../listen.ts'

export interface MetricsServer {
  /** The one it got, when any was asked for. */
  readonly port: number
  stop(): Promise<void>
}

export interface ServedOfProcess {
  readonly registries: Registry[]
  /** Why it cannot do its work, in a sentence that anybody may read; undefined while it can. */
  readonly trouble: () => Promise<string | undefined>
}

/** @throws CommandFailure when the address cannot be had. */
export async function serveMetrics(
  { registries, trouble }: ServedOfProcess,
  at: ListenAddress,
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const path = request.method === 'GET' ? request.url?.split('?')[0] : undefined
    if (path === '/metrics') sendMetrics(registries, response)
    else if (path === '/livez' || path === '/healthz') sendHealth(response, undefined)
    else if (path === '/readyz') {
      trouble().then(
        (why) => sendHealth(response, why),
        () => sendHealth(response, 'reason withheld'),
      )
    } else response.writeHead(404).end()
  })
  const port = await listenOn(server, at).catch((error: unknown) => {
    throw new CommandFailure(`cannot serve metrics on ${at.host}:${at.port}: ${messageOf(error)}`)
  })
  return { port, stop: () => stopAtOnce(server) }
}

function sendMetrics(registries: Registry[], response: ServerResponse): void {
  // Merged for each answer: what is registered later belongs to it, too.
  const all = Registry.merge(registries)
  all.metrics().then(
    (text) => response.writeHead(200, { 'content-type': all.contentType }).end(text),
    () => response.writeHead(500).end(),
  )
}

function sendHealth(response: ServerResponse, why: string | undefined): void {
  response
    .writeHead(why === undefined ? 200 : 500, { 'content-type': 'text/plain; charset=utf-8' })
    .end(why ?? 'ok')
}
