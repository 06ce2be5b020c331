/**
 * LISTEN on a connection of its own, which is opened again when it breaks.
 *
 * A notification only says "look": it carries nothing, and whoever gets none looks at the next poll.
 */
import type pg from 'pg'
import type { Store } from './connect.ts'

const RECONNECT_MILLISECONDS = 1_000

export interface Listening {
  readonly channel: string
  /** In case a notification was lost: with its connection, or in a pooler between us and PostgreSQL. */
  readonly pollSeconds: number
  readonly listener: () => void
  /** Called at each poll; left out, the listener is. */
  readonly onPoll?: () => void
}

/**
 * Listens from now on, or as soon as the database answers.
 *
 * @returns what stops it.
 */
export async function listen(store: Store, listening: Listening): Promise<() => Promise<void>> {
  const { channel, pollSeconds, listener, onPoll = listener } = listening
  let stopped = false
  let retry: NodeJS.Timeout | undefined
  let client: pg.Client | undefined

  const connect = async () => {
    const opened = await openListener(store, channel, listener)
    if (stopped) return opened.end()
    client = opened
    opened.once('end', reconnectLater)
  }
  const reconnectLater = () => {
    if (stopped) return
    retry = setTimeout(() => connect().then(listener, reconnectLater), RECONNECT_MILLISECONDS)
  }

  await connect().catch(reconnectLater)
  const poll = setInterval(onPoll, pollSeconds * 1000)
  return async () => {
    stopped = true
    clearInterval(poll)
    clearTimeout(retry)
    await client?.end()
  }
}

async function openListener(
  store: Store,
  channel: string,
  listener: () => void,
): Promise<pg.Client> {
  const client = await store.dedicated()
  try {
    client.on('notification', listener)
    await client.query(`listen ${channel}`)
    return client
  } catch (error) {
    await client.end()
    throw error
  }
}
