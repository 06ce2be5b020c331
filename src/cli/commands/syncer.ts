/** `fleetglass syncer`: mirrors member clusters into a database. Any number share the clusters. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Command } from 'commander'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { systemClock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { createLogger, type Logger } from '../../log.ts'
import { databaseRegistrationSource } from '../../registration/database-source.ts'
import type { Store } from '../../store/connect.ts'
import { currentRevision } from '../../store/fleet-revision.ts'
import { startFleetSyncer } from '../../sync/fleet-syncer.ts'
import { WorkQueues } from '../../sync/work-queue.ts'
import { keyringFrom } from '../data-dir/encryption-key.ts'
import { readImports } from '../import-kubeconfig.ts'
import { startControllers } from '../parts/controllers.ts'
import { MANAGEMENT_SETTINGS, openManagementCluster } from '../parts/management-cluster.ts'
import { serveMetrics } from '../parts/metrics-server.ts'
import { openRegistrations } from '../parts/open-registrations.ts'
import { METRICS_QUESTION } from '../parts/syncer-process.ts'
import { openStore, untilDatabase } from '../parts/until-database.ts'
import { addSettings, readSettings } from '../setting-options.ts'
import { aborted, stopSignal } from '../stop-signal.ts'
import { version } from '../version.ts'
import { REQUIRED_APART, required } from './required.ts'

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
  addSettings(command, TAKES, { required: REQUIRED_APART }).action(() =>
    runSyncer(readSettings(command, TAKES)),
  )
}

type SyncerConfig = Config<(typeof TAKES)[number]>

async function runSyncer(config: SyncerConfig): Promise<void> {
  const log = createLogger(config.logLevel).child({ part: 'syncer' })
  const signal = stopSignal()
  const url = required(config, 'databaseUrl')
  const keyFile = required(config, 'encryptionKeyFile')
  const keyring = keyringFrom(keyFile, 'fail')
  const trustedKubeconfigs = await readImports(config)
  const { secretValues, prune, shardingName, firstLists, firstListsPerMember } = config
  const clock = systemClock
  await using started = new AsyncDisposableStack()
  const registry = new Registry()
  const health: Health = { trouble: async () => 'the database was not asked yet' }
  // Before there is a database, so that it can be said that there is none.
  await serveOwnMetrics({ config, registry, health, log }, started)
  const store = await storeOf({ url, config, health, signal, log }, started)
  const registrations = await openRegistrations({ store, keyring, clock, keyFile }, started)
  const holder =
    config.leaseHolder ?? `${hostname()}/${process.pid}/${randomBytes(4).toString('hex')}`
  const queues = new WorkQueues(registry, clock)
  const client = openManagementCluster(config, started, registry)
  const observed = { registry, queues }
  const controllers =
    client && startControllers({ client, registrations, holder, clock, log, observed })
  if (controllers) started.defer(() => controllers.stop())
  health.trouble = async () => (await withoutDatabase(store)) ?? controllers?.trouble
  const syncer = await startFleetSyncer({
    ...{ registry, queues, store, keyring, secretValues, trustedKubeconfigs, log },
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

/** What /readyz says, by how far the start has come. */
interface Health {
  trouble: () => Promise<string | undefined>
}

interface Observed {
  readonly config: SyncerConfig
  readonly registry: Registry
  readonly health: Health
  readonly log: Logger
}

async function serveOwnMetrics(
  { config, registry, health, log }: Observed,
  started: AsyncDisposableStack,
): Promise<void> {
  answerMetrics(registry)
  if (!config.metricsListen) return
  const own = new Registry()
  collectDefaultMetrics({ register: own })
  const served = { registries: [own, registry], trouble: () => health.trouble() }
  const metrics = await serveMetrics(served, config.metricsListen)
  started.defer(() => metrics.stop())
  log.info({ port: metrics.port }, 'metrics are served')
}

interface StoreRequest extends Omit<Observed, 'registry'> {
  readonly url: string
  readonly signal: AbortSignal
}

async function storeOf(
  { url, config, health, signal, log }: StoreRequest,
  started: AsyncDisposableStack,
): Promise<Store> {
  const options = { url, applicationName: 'fleetglass syncer' }
  const tell = async (why: string) => {
    health.trouble = async () => `the database: ${why}`
  }
  const isWatchedOver = config.registrations === 'management'
  const store = isWatchedOver
    ? await untilDatabase(options, { tell, signal, clock: systemClock, log })
    : await openStore(options)
  started.defer(() => store.close())
  return store
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
