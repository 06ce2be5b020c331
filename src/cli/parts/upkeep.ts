/**
 * What the store needs done while it is in use, by any number of processes at once: revisions are
 * stamped on the change log, old changes cut off, removed clusters and their documents purged.
 */
import type { Clock } from '../../clock.ts'
import type { Logger } from '../../log.ts'
import { purgeRemovedClusters } from '../../store/clusters.ts'
import type { Store } from '../../store/connect.ts'
import { pruneOpenApiDocuments } from '../../store/openapi-documents.ts'
import { pruneChanges } from '../../store/prune-changes.ts'
import { runSequencer } from '../../store/sequencer.ts'

export interface UpkeepParts {
  readonly store: Store
  readonly log: Logger
  readonly clock: Clock
  readonly changeLogHours: number
  readonly changeLogChanges: number
}

const PURGE = { everySeconds: 10, batchRows: 5000 }
const PRUNE = { everySeconds: 60, batchesAtOnce: 500 }
const PRUNE_DOCUMENTS = { everySeconds: 3600 }
/** Between two batches, so that a large cleaning leaves room for the rest. */
const PAUSE_MILLISECONDS = 20

/** Runs until aborted; never rejects. What fails is logged and tried again. */
export async function runUpkeep(parts: UpkeepParts, signal: AbortSignal): Promise<void> {
  const { store, log, changeLogHours, changeLogChanges } = parts
  const bounds = {
    maxAgeSeconds: changeLogHours * 3600,
    maxChanges: changeLogChanges,
    batchesAtOnce: PRUNE.batchesAtOnce,
  }
  const purge = () => purgeRemovedClusters(store, PURGE)
  const prune = () => pruneChanges(store, bounds)
  const pruneDocuments = () => pruneOpenApiDocuments(store)
  await Promise.all([
    runSequencer(store, { signal, log }),
    cleanEvery(PURGE.everySeconds, purge, { ...parts, signal }),
    cleanEvery(PRUNE.everySeconds, prune, { ...parts, signal }),
    cleanEvery(PRUNE_DOCUMENTS.everySeconds, pruneDocuments, { ...parts, signal }),
  ])
}

/** Batch after batch until one finds nothing, and again some time later. */
async function cleanEvery(
  seconds: number,
  cleanBatch: () => Promise<number>,
  { clock, log, signal }: UpkeepParts & { readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    let cleaned = 0
    try {
      cleaned = await cleanBatch()
    } catch (error) {
      if (!signal.aborted)
        log.warn({ err: error }, 'cannot clean up in the store; tried again later')
    }
    const wait = cleaned > 0 ? PAUSE_MILLISECONDS : seconds * 1000
    await clock.sleep(wait, signal).catch(() => undefined)
  }
}
