/**
 * A port for a server that is told its number, or that goes away and comes back on it.
 *
 * Not one that the system gives out by itself: it would give it to another server or to a client's
 * end of a connection as soon as nobody listens there.
 */
import { createServer } from 'node:net'

/** Below what Linux, macOS and Windows give out (from 32768 or 49152), above what has a name. */
const LOWEST = 15_000
const HIGHEST = 32_000

export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST))
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
