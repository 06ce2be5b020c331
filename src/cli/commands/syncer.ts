/** `fleetglass syncer`: mirrors member clusters into a database. Any number share the clusters. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Command } from 'commander'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { systemClock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { createLogger } from '../../log.ts'
import { databaseRegistrationSource } from '../../registration/database-source.ts'
import { connectStore, type Store } from '../../store/connect.ts'
import { currentRevision } from '../../store/fleet-revision.ts'
import { checkSchema } from '../../store/migrate.ts'
import { startFleetSyncer } from '../../sync/fleet-syncer.ts'
import { keyringFrom } from '../data-dir/encryption-key.ts'
import { readImports } from '../import-kubeconfig.ts'
import { startControllers } from '../parts/controllers.ts'
import { MANAGEMENT_SETTINGS, openManagementCluster } from '../parts/management-cluster.ts'
import { serveMetrics } from '../parts/metrics-server.ts'
import { openRegistrations } from '../parts/open-registrations.ts'
import { METRICS_QUESTION } from '../parts/syncer-process.ts'
import { addSettings, readSettings } from '../setting-options.ts'
import { aborted, stopSignal } from '../stop-signal.ts'
import { version } from '../version.ts'
import { required } from './required.ts'

const TAKES = [
  'databaseUrl',
  'encryptionKeyFile',
  'secretValues',
  'prune',
  'importKubeconfig',
  'context',
  'firstLists',
  'firstListsPerMember',
  'metricsListen',
  'shardingName',
  'leaseHolder',
  ...MANAGEMENT_SETTINGS,
  'logLevel',
] as const

export function defineSyncer(program: Command): void {
  const command = program
    .command('syncer')
    .description('run a syncer alone; the database must have been migrated')
  addSettings(command, TAKES).action(() => runSyncer(readSettings(command, TAKES)))
}

async function runSyncer(config: Config<(typeof TAKES)[number]>): Promise<void> {
  const log = createLogger(config.logLevel).child({ part: 'syncer' })
  const signal = stopSignal()
  const url = required<'databaseUrl', string>(config, 'databaseUrl')
  const keyFile = required<'encryptionKeyFile', string>(config, 'encryptionKeyFile')
  const keyring = keyringFrom(keyFile, 'fail')
  const trustedKubeconfigs = await readImports(config)
  const { secretValues, prune, shardingName, firstLists, firstListsPerMember } = config
  await using started = new AsyncDisposableStack()
  const store = await connectStore({ url, applicationName: 'fleetglass syncer' })
  started.defer(() => store.close())
  await checkSchema(store)
  const parts = { store, keyring, clock: systemClock, keyFile }
  const registrations = await openRegistrations(parts, started)
  const holder =
    config.leaseHolder ?? `${hostname()}/${process.pid}/${randomBytes(4).toString('hex')}`
  const client = openManagementCluster(config, started)
  const { clock } = parts
  const controllers = client && startControllers({ client, registrations, holder, clock, log })
  if (controllers) started.defer(() => controllers.stop())
  const registry = new Registry()
  answerMetrics(registry)
  if (config.metricsListen) {
    const own = new Registry()
    collectDefaultMetrics({ register: own })
    const trouble = async () => (await withoutDatabase(store)) ?? controllers?.trouble
    const served = { registries: [own, registry], trouble }
    const metrics = await serveMetrics(served, config.metricsListen)
    started.defer(() => metrics.stop())
    log.info({ port: metrics.port }, 'metrics are served')
  }
  const syncer = await startFleetSyncer({
    registry,
    ...{ store, keyring, secretValues, trustedKubeconfigs, log },
    registrations: controllers?.source ?? databaseRegistrationSource(registrations),
    ...{ clock, holder },
    ...(prune && { prune }),
    ...(shardingName !== undefined && { shardingName }),
    limits: { firstLists, firstListsPerMember },
    version: version(),
  })
  started.defer(() => syncer.stop())
  await aborted(signal)
}

async function withoutDatabase(store: Store): Promise<string | undefined> {
  return currentRevision(store).then(
    () => undefined,
    () => 'the database does not answer',
  )
}

/** Beside an API server, its /metrics has ours too: it asks over the channel between the processes. */
function answerMetrics(registry: Registry): void {
  process.on('message', (message) => {
    if (message !== METRICS_QUESTION) return
    registry.metrics().then(
      (text) => process.send?.(text),
      () => process.send?.(''),
    )
  })
  // Waiting for questions is no reason to go on running.
  process.channel?.unref()
}
