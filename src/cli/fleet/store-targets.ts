/** Clusters as the store knows them: of a database, or of the one in a data directory. */
import { resolve } from 'node:path'
import { systemClock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { storeSource } from '../../fleet/store-source.ts'
import type { Target } from '../../fleet/sweep.ts'
import { StatusError } from '../../kube/status-error.ts'
import { createLogger } from '../../log.ts'
import { StoreUnavailable } from '../../store/connect.ts'
import { existingDataDir } from '../data-dir/data-dir.ts'
import { CommandFailure } from '../failure.ts'
import { withStore } from '../parts/with-store.ts'
import { storedWishes } from './mirror-wishes.ts'
import type { SweepSettings } from './options.ts'
import { mirroredEntries, type SelectionFlags, selectClusters } from './select.ts'
import { asUsage } from './usage.ts'

export const STORE_SETTINGS = ['dataDir', 'databaseUrl'] as const

export interface StoreInputs {
  readonly flags: SelectionFlags
  readonly settings: SweepSettings
  readonly config: Config<(typeof STORE_SETTINGS)[number]>
}

/** A store that cannot be used says nothing about any cluster: that is no failure of theirs. */
const INCONCLUSIVE = 2

/** @throws CommandFailure */
export async function withStoreTargets<T>(
  { flags, settings, config }: StoreInputs,
  work: (targets: readonly Target[]) => Promise<T>,
): Promise<T> {
  const entries = mirroredEntries(flags)
  const { databaseUrl } = config
  const dataDir = databaseUrl
    ? resolve(config.dataDir)
    : await asUsage(() => existingDataDir(config.dataDir))
  const log = createLogger('warn')
  return withStore({ databaseUrl, dataDir, log }, async (store) => {
    const source = await storeSource({
      ...{ store, clock: systemClock },
      wishesOf: await storedWishes(store),
      maxStalenessMilliseconds: settings.maxStalenessMilliseconds,
      ...(settings.namespace !== undefined && { namespace: settings.namespace }),
      ...(settings.rules.nodes && { nodes: true }),
    })
    const available = () => ({ contexts: source.names })
    return work(source.targets(selectClusters({ flags, entries, available })))
  }).catch((error: unknown) => {
    if (!isOfStore(error)) throw error
    throw new CommandFailure(error.message, { exitCode: INCONCLUSIVE, cause: error })
  })
}

/** Not a usage error, which has its own exit code; and not a mistake of ours. */
function isOfStore(error: unknown): error is Error {
  if (error instanceof CommandFailure) return error.exitCode === 1
  return error instanceof StoreUnavailable || error instanceof StatusError
}
