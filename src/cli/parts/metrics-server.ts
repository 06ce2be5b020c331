/** The metrics of a process that serves nothing else: plain HTTP, one path, on an address of its own. */
import { createServer } from 'node:http'
import { Registry } from 'prom-client'
import type { ListenAddress } from '../../config.ts'
import { CommandFailure, messageOf } from '../failure.ts'

export interface MetricsServer {
  /** The one it got, when any was asked for. */
  readonly port: number
  stop(): Promise<void>
}

/** @throws CommandFailure when the address cannot be had. */
export async function serveMetrics(
  registries: Registry[],
  { host, port }: ListenAddress,
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    // Merged for each answer: what is registered later belongs to it, too.
    const all = Registry.merge(registries)
    all.metrics().then(
      (text) => response.writeHead(200, { 'content-type': all.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  }).catch((error: unknown) => {
    throw new CommandFailure(`cannot serve metrics on ${host}:${port}: ${messageOf(error)}`)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
