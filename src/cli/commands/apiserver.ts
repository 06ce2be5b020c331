/** `fleetglass apiserver`: answers from a database that others fill. Any number may run. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { systemClock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { createLogger } from '../../log.ts'
import { connectStore } from '../../store/connect.ts'
import { prepareDataDir } from '../data-dir/data-dir.ts'
import { keyringFrom } from '../data-dir/encryption-key.ts'
import { startCertifiedServer } from '../parts/certified-server.ts'
import { MANAGEMENT_SETTINGS, openManagementCluster } from '../parts/management-cluster.ts'
import { openRegistrations } from '../parts/open-registrations.ts'
import { runUpkeep } from '../parts/upkeep.ts'
import { addSettings, readSettings } from '../setting-options.ts'
import { aborted, stopSignal } from '../stop-signal.ts'
import { required } from './required.ts'

const TAKES = [
  'databaseUrl',
  'dataDir',
  'listen',
  'tlsSan',
  'encryptionKeyFile',
  'continueTokens',
  'changeLogHours',
  'changeLogChanges',
  ...MANAGEMENT_SETTINGS,
  'logLevel',
] as const

export function defineApiserver(program: Command): void {
  const command = program
    .command('apiserver')
    .description('run an API server alone; the database must have been migrated')
  addSettings(command, TAKES).action(() => runApiserver(readSettings(command, TAKES)))
}

async function runApiserver(config: Config<(typeof TAKES)[number]>): Promise<void> {
  const signal = stopSignal()
  const log = createLogger(config.logLevel)
  const clock = systemClock
  const url = required<'databaseUrl', string>(config, 'databaseUrl')
  const keyFile = required<'encryptionKeyFile', string>(config, 'encryptionKeyFile')
  const keyring = keyringFrom(resolve(keyFile), 'fail')
  const dataDir = prepareDataDir(config.dataDir)
  await using started = new AsyncDisposableStack()
  const store = await connectStore({ url, applicationName: 'fleetglass apiserver' })
  started.defer(() => store.close())
  const management = openManagementCluster(config, started)
  const registrations = await openRegistrations({ store, keyring, clock, keyFile }, started)
  const upkeep = runUpkeep({ store, clock, log, ...config }, signal)
  started.defer(() => upkeep)
  const server = await startCertifiedServer({
    ...{ config, dataDir, store, registrations, log, clock },
    ...(management && { management }),
  })
  started.defer(() => server.stop())
  console.log(`fleetglass apiserver is ready at ${server.url} (kubeconfig: ${server.kubeconfig})`)
  await aborted(signal)
}
