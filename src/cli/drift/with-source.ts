/** What a comparison reads from: a server, or the store itself. */
import { resolve } from 'node:path'
import { systemClock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { apiSource } from '../../drift/api-source.ts'
import type { DriftSource } from '../../drift/source.ts'
import { everyCluster, storeSource } from '../../drift/store-source.ts'
import { createLogger } from '../../log.ts'
import { loadCatalog } from '../../store/catalog.ts'
import { existingDataDir } from '../data-dir/data-dir.ts'
import { withStore } from '../parts/with-store.ts'
import { withServer } from './server-api.ts'

export const SOURCE_SETTINGS = ['dataDir', 'databaseUrl', 'logLevel'] as const

export interface SourceRequest {
  readonly config: Config<(typeof SOURCE_SETTINGS)[number]>
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
  readonly maxStalenessMilliseconds: number
  readonly usageExitCode: number
}

export async function withSource<T>(
  request: SourceRequest,
  work: (source: DriftSource) => Promise<T>,
): Promise<T> {
  const { kubeconfig, context, usageExitCode, maxStalenessMilliseconds } = request
  if (kubeconfig !== undefined) {
    return withServer({ kubeconfig, context, usageExitCode }, (read) =>
      work(apiSource(read, maxStalenessMilliseconds)),
    )
  }
  const { databaseUrl, logLevel } = request.config
  const dataDir =
    databaseUrl === undefined
      ? existingDataDir(request.config.dataDir)
      : resolve(request.config.dataDir)
  return withStore({ databaseUrl, dataDir, log: createLogger(logLevel) }, async (store) => {
    const catalog = await loadCatalog(store)
    const now = systemClock.now()
    const readable = everyCluster(catalog)
    return work(storeSource({ store, catalog, ...readable, now, maxStalenessMilliseconds }))
  })
}
