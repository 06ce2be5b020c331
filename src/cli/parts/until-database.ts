/**
 * The store of a process that somebody watches over, such as kubelet: that its database is not there
 * yet, or not migrated, is waited for, while /readyz says so.
 *
 * Not for ever: a process that ends is started again with what its Secrets hold then.
 */
import type { Clock } from '../../clock.ts'
import type { Logger } from '../../log.ts'
import {
  type ConnectOptions,
  connectStore,
  type Store,
  StoreUnavailable,
} from '../../store/connect.ts'
import { checkSchema } from '../../store/migrate.ts'

/** @throws StoreUnavailable */
export async function openStore(options: ConnectOptions): Promise<Store> {
  const store = await connectStore(options)
  try {
    await checkSchema(store)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

export interface Waiting {
  /** Why there is no store yet, in words that anybody may read; told once, and at each change. */
  readonly tell: (why: string) => Promise<void>
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly log: Logger
}

const TRY_EVERY_MILLISECONDS = 2_000
const WAIT_MOST_MILLISECONDS = 300_000

/** @throws StoreUnavailable when waiting does not help, or has not helped for five minutes. */
export async function untilDatabase(options: ConnectOptions, waiting: Waiting): Promise<Store> {
  const { tell, signal, clock, log } = waiting
  const givenUpAt = clock.now() + WAIT_MOST_MILLISECONDS
  let told: string | undefined
  for (;;) {
    try {
      return await openStore(options)
    } catch (error) {
      const why = error instanceof StoreUnavailable ? error.passing : undefined
      if (why === undefined || signal.aborted || clock.now() >= givenUpAt) throw error
      if (why !== told) {
        log.warn({ why: (error as Error).message }, 'the database is waited for')
        await tell(why)
      }
      told = why
    }
    await clock.sleep(TRY_EVERY_MILLISECONDS, signal).catch(() => undefined)
  }
}
