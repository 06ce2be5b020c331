/** When a response is over: all of it sent, or its client gone. */
import type { ServerResponse } from 'node:http'

/**
 * Calls back once, and at once when it is over already: `close` comes only once, and whoever had to
 * wait for a token's review or the database before may have missed it.
 */
export function whenClosed(response: ServerResponse, tell: () => void): void {
  if (response.closed) tell()
  else response.once('close', tell)
}
