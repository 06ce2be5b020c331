/** The address that a demo listens on: the usual one, or any port when something else has that. */
import { createServer } from 'node:net'
import type { ListenAddress } from '../../config.ts'
import { hasCode } from '../failure.ts'
import { listenOn } from '../listen.ts'

export async function freeAddress(wanted: ListenAddress): Promise<ListenAddress> {
  const server = createServer()
  try {
    await listenOn(server, wanted)
    await new Promise((resolve) => server.close(resolve))
    return wanted
  } catch (error) {
    if (hasCode(error, 'EADDRINUSE')) return { ...wanted, port: 0 }
    throw error
  }
}
