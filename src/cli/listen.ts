/** Servers of this process that are no API server: how they begin to listen, and how they end. */
import type { Server as HttpServer } from 'node:http'
import type { Server } from 'node:net'
import type { ListenAddress } from '../config.ts'

/** @returns the port that it got. @throws what Node says of an address that cannot be had. */
export async function listenOn(server: Server, { host, port }: ListenAddress): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return portOf(server)
}

export function portOf(server: Pick<Server, 'address'>): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no TCP address')
  return address.port
}

/** Waits for nobody who is connected. */
export function stopAtOnce(
  server: Pick<HttpServer, 'close' | 'closeAllConnections'>,
): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
