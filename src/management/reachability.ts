/** Whether the management API server answers us, asked from time to time: for /readyz. */
import type { Clock } from '../clock.ts'
import { messageOf } from '../kube/message-of.ts'
import type { Logger } from '../log.ts'
import type { ManagementClient } from './client.ts'

export interface Reachability {
  /** Why not, in a sentence that holds no secret; undefined while it answers. */
  readonly trouble: string | undefined
  stop(): Promise<void>
}

const ASK_EVERY_MILLISECONDS = 10_000
const RETRY_MILLISECONDS = 2_000

export function watchReachability(
  client: ManagementClient,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Reachability {
  const stopping = new AbortController()
  const { signal } = stopping
  let trouble: string | undefined = 'the management API server was not asked yet'
  const running = (async () => {
    while (!signal.aborted) {
      // Whoever is authenticated may ask for it, whatever else is granted.
      const now = await client
        .request('GET', '/version', { signal })
        .then(() => undefined, messageOf)
      if (signal.aborted) return
      if (now !== trouble) report(log, now)
      trouble = now
      const pause = now === undefined ? ASK_EVERY_MILLISECONDS : RETRY_MILLISECONDS
      await clock.sleep(pause, signal).catch(() => undefined)
    }
  })()
  return {
    get trouble() {
      return trouble
    },
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

function report(log: Logger, trouble: string | undefined): void {
  if (trouble === undefined) log.info('the management API server answers')
  else log.warn({ trouble }, 'the management API server cannot be used')
}
