/**
 * Calls whoever follows registrations, when one was written.
 *
 * Notifications may be lost (a broken connection, a pooler between us and PostgreSQL), so the
 * revision is looked at from time to time as well. A listener may be called for nothing.
 */
import type { Client } from 'pg'
import type { Store } from './connect.ts'
import { REGISTRATION_CHANNEL } from './registrations.ts'

const POLL_MILLISECONDS = 2_000

export type StopListening = () => Promise<void>

export async function onRegistrationWrite(
  store: Store,
  listener: () => void,
): Promise<StopListening> {
  const feed = new RegistrationFeed(store, listener)
  await feed.connect()
  const timer = setInterval(() => feed.poll(), POLL_MILLISECONDS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await feed.close()
  }
}

class RegistrationFeed {
  readonly #store: Store
  readonly #listener: () => void
  #client: Client | undefined
  #seen: string | undefined
  #polling: Promise<void> | undefined

  constructor(store: Store, listener: () => void) {
    this.#store = store
    this.#listener = listener
  }

  /** Never fails: without a connection the poll goes on, and tries again. */
  async connect(): Promise<void> {
    try {
      const client = await this.#store.dedicated()
      const forget = () => {
        if (this.#client === client) this.#client = undefined
      }
      client.on('error', forget)
      client.on('end', forget)
      client.on('notification', ({ payload }) => this.#sawRevision(payload))
      await client.query(`listen ${REGISTRATION_CHANNEL}`)
      this.#client = client
    } catch {
      this.#client = undefined
    }
  }

  poll(): void {
    this.#polling ??= this.#look().finally(() => {
      this.#polling = undefined
    })
  }

  async close(): Promise<void> {
    await this.#polling
    await this.#client?.end()
  }

  async #look(): Promise<void> {
    if (!this.#client) await this.connect()
    try {
      const { latest } = await this.#store.db
        .selectFrom('registration_revision')
        .select('latest')
        .executeTakeFirstOrThrow()
      this.#sawRevision(latest)
    } catch {
      // The database does not answer. Followers look themselves, and say so.
      this.#sawRevision(undefined)
    }
  }

  #sawRevision(revision: string | undefined): void {
    if (revision !== undefined && revision === this.#seen) return
    this.#seen = revision
    this.#listener()
  }
}
