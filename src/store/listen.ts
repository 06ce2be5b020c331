/**
 * LISTEN on a connection of its own, which is opened again when it breaks.
 *
 * A notification only says "look": it carries nothing, and whoever gets none looks at the next poll.
 */
import type pg from 'pg'
import type { Store } from './connect.ts'

const RECONNECT_MILLISECONDS = 1_000

interface Listening {
  readonly channel: string
  /** Also called this often, in case a notification was lost with its connection. */
  readonly pollSeconds: number
  readonly listener: () => void
}

/** @returns what stops it. Rejects when the first connection cannot be made. */
export async function listen(store: Store, listening: Listening): Promise<() => Promise<void>> {
  const { channel, pollSeconds, listener } = listening
  let stopped = false
  let retry: NodeJS.Timeout | undefined
  let client: pg.Client | undefined

  const connect = async () => {
    const opened = await store.dedicated()
    opened.on('notification', listener)
    opened.on('error', () => undefined) // 'end' follows
    opened.on('end', reconnectLater)
    client = opened
    await opened.query(`listen ${channel}`)
    if (stopped) await opened.end()
  }
  const reconnectLater = () => {
    if (stopped || retry) return
    retry = setTimeout(() => {
      retry = undefined
      connect().then(listener, reconnectLater)
    }, RECONNECT_MILLISECONDS)
  }

  await connect()
  const poll = setInterval(listener, pollSeconds * 1000)
  return async () => {
    stopped = true
    clearInterval(poll)
    clearTimeout(retry)
    await client?.end()
  }
}
