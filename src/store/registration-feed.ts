/** Calls whoever follows registrations, when one was written. */
import type { Store } from './connect.ts'
import { listen } from './listen.ts'
import { REGISTRATION_CHANNEL } from './registrations.ts'

const POLL_SECONDS = 2

/**
 * Never fails: without a connection it goes on trying. The listener may be called for nothing.
 *
 * @returns what stops it.
 */
export async function onRegistrationWrite(
  store: Store,
  listener: () => void,
): Promise<() => Promise<void>> {
  let seen: string | undefined
  const look = async () => {
    const latest = await latestRevision(store)
    if (latest !== undefined && latest === seen) return
    seen = latest
    listener()
  }
  return listen(store, {
    channel: REGISTRATION_CHANNEL,
    pollSeconds: POLL_SECONDS,
    listener,
    // Polled often, so only a change is told: a follower reads everything again.
    onPoll: () => void look(),
  })
}

/** Undefined when the database does not answer: followers look themselves, and say so. */
async function latestRevision(store: Store): Promise<string | undefined> {
  try {
    const { latest } = await store.db
      .selectFrom('registration_revision')
      .select('latest')
      .executeTakeFirstOrThrow()
    return latest
  } catch {
    return undefined
  }
}
