/**
 * The store for a command that does one thing and ends: a given database, the one of a server that
 * runs on the data directory now, or the embedded one started for as long as it takes.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../log.ts'
import { connectStore, type Store } from '../../store/connect.ts'
import { migrate } from '../../store/migrate.ts'
import { isLocked, lockDirectory } from '../data-dir/lock.ts'
import { CommandFailure } from '../failure.ts'
import { runningPostgresUrl, startEmbeddedPostgres } from '../postgres/embedded-postgres.ts'

export interface StoreRequest {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  readonly log: Logger
}

const SERVER_READY_WITHIN_SECONDS = 30

export async function withStore<T>(
  request: StoreRequest,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const { databaseUrl, dataDir, log } = request
  if (databaseUrl !== undefined) return useStore(databaseUrl, work)
  if (isLocked(dataDir)) return useStore(await urlOfServer(dataDir), work)
  const lock = lockDirectory(dataDir)
  try {
    const postgres = await startEmbeddedPostgres(dataDir, log)
    try {
      return await useStore(postgres.url, work)
    } finally {
      await postgres.stop()
    }
  } finally {
    lock.release()
  }
}

async function useStore<T>(url: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await connectStore({ url, applicationName: 'fleetglass command', poolSize: 2 })
  try {
    await migrate(store)
    return await work(store)
  } finally {
    await store.close()
  }
}

/** A server that is just starting has the directory before its database is ready. */
async function urlOfServer(dataDir: string): Promise<string> {
  for (let tenths = 0; tenths < SERVER_READY_WITHIN_SECONDS * 10; tenths++) {
    const url = runningPostgresUrl(dataDir)
    if (url) return url
    await delay(100)
  }
  throw new CommandFailure(
    `a fleetglass runs on ${dataDir} without the embedded database: give --database-url as it has`,
  )
}
