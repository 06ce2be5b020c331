/** `fleetglass resync`: has syncers compare a cluster with its mirror now, and list what differs. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { createLogger } from '../../log.ts'
import type { Store } from '../../store/connect.ts'
import { countWantedReconciles, requestReconcile } from '../../store/reconcile.ts'
import { existingDataDir } from '../data-dir/data-dir.ts'
import { CommandFailure } from '../failure.ts'
import { withStore } from '../parts/with-store.ts'
import { addSettings, readSettings } from '../setting-options.ts'

const TAKES = ['dataDir', 'databaseUrl', 'logLevel'] as const
const DONE_WITHIN_SECONDS = 60

export function defineResync(program: Command): void {
  const command = program
    .command('resync <CLUSTER> [TYPE]')
    .description(
      'compare a cluster with its mirror now: all of it, or one type such as deployments.apps',
    )
  addSettings(command, TAKES).action(async (cluster: string, type?: string) => {
    const { databaseUrl, dataDir, logLevel } = readSettings(command, TAKES)
    const directory = databaseUrl === undefined ? existingDataDir(dataDir) : dataDir
    const log = createLogger(logLevel)
    await withStore({ databaseUrl, dataDir: directory, log }, (store) =>
      resync(store, cluster, type),
    )
  })
}

async function resync(store: Store, cluster: string, type: string | undefined): Promise<void> {
  const types = await requestReconcile(store, cluster, type === undefined ? undefined : named(type))
  if (types.length === 0) {
    const what = type === undefined ? '' : ` that mirrors ${type}`
    throw new CommandFailure(`there is no cluster ${JSON.stringify(cluster)}${what}`)
  }
  for (let tenths = 0; tenths < DONE_WITHIN_SECONDS * 10; tenths++) {
    const left = await countWantedReconciles(store, cluster)
    if (left === 0) {
      console.log(
        `compared ${types.length} ${types.length === 1 ? 'type' : 'types'} of ${cluster} with its mirror`,
      )
      return
    }
    await delay(100)
  }
  throw new CommandFailure(
    `not done within ${DONE_WITHIN_SECONDS} s; it is done as soon as a syncer reaches ${cluster}`,
  )
}

/** `deployments.apps`, or `deployments` in any group. */
function named(type: string): { resource: string; group?: string } {
  const dot = type.indexOf('.')
  if (dot < 0) return { resource: type }
  return { resource: type.slice(0, dot), group: type.slice(dot + 1) }
}
