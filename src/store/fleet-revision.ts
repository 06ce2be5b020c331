/** The fleet's own resourceVersion: a decimal integer that counts changes over all clusters. */
import type { Store } from './connect.ts'
import { fromPostgres } from './pg-error.ts'

/** The newest revision. Everything at or below it is visible to whoever reads it. */
export async function currentRevision(store: Store): Promise<string> {
  return (await revisionBounds(store)).latest
}

/** @returns the newest revision, and the one below which the change log is gone. */
export async function revisionBounds(store: Store): Promise<{ latest: string; floor: string }> {
  try {
    return await store.db
      .selectFrom('fleet_revision')
      .select(['latest', 'floor'])
      .executeTakeFirstOrThrow()
  } catch (error) {
    throw fromPostgres(error)
  }
}
