/** `fleetglass apiserver`: answers from a database that others fill. Any number may run. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { TlsOptions } from '../../apiserver/server.ts'
import { systemClock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { createLogger, type Logger } from '../../log.ts'
import type { ConnectOptions, Store } from '../../store/connect.ts'
import { prepareDataDir } from '../data-dir/data-dir.ts'
import { keyringFrom } from '../data-dir/encryption-key.ts'
import { CommandFailure } from '../failure.ts'
import { processMetrics } from '../parts/api-server.ts'
import {
  type CertifiedServerParts,
  currentPki,
  startCertifiedServer,
} from '../parts/certified-server.ts'
import { DIRECT_SETTINGS, directAddressOf } from '../parts/direct-address.ts'
import { readServingPair, startFileCertifiedServer } from '../parts/file-certified-server.ts'
import { MANAGEMENT_SETTINGS, openManagementCluster } from '../parts/management-cluster.ts'
import { openRegistrations } from '../parts/open-registrations.ts'
import { openReaders, READER_SETTINGS } from '../parts/readers.ts'
import { openStore, untilDatabase } from '../parts/until-database.ts'
import { runUpkeep } from '../parts/upkeep.ts'
import { startWaitingServer, type WaitingServer } from '../parts/waiting-server.ts'
import { addSettings, readSettings } from '../setting-options.ts'
import { aborted, stopSignal } from '../stop-signal.ts'
import { REQUIRED_APART, required } from './required.ts'

const TAKES = [
  'databaseUrl',
  'readDatabaseUrl',
  'dataDir',
  'listen',
  'tlsSan',
  'encryptionKeyFile',
  'continueTokens',
  'readerStreams',
  'readerQueries',
  'changeLogHours',
  'changeLogChanges',
  ...MANAGEMENT_SETTINGS,
  ...READER_SETTINGS,
  'tlsCertFile',
  'tlsPrivateKeyFile',
  ...DIRECT_SETTINGS,
  'proxiedListSeconds',
  'shutdownDelaySeconds',
  'shutdownGraceSeconds',
  'logLevel',
] as const

export function defineApiserver(program: Command): void {
  const command = program
    .command('apiserver')
    .description('run an API server alone; the database must have been migrated')
  addSettings(command, TAKES, { required: REQUIRED_APART }).action(() =>
    runApiserver(readSettings(command, TAKES)),
  )
}

type ApiserverConfig = Config<(typeof TAKES)[number]>

async function runApiserver(config: ApiserverConfig): Promise<void> {
  refuseContradictions(config)
  const { shutdownDelaySeconds: delaySeconds, shutdownGraceSeconds: graceSeconds } = config
  const signal = stopSignal({ graceSeconds: delaySeconds + graceSeconds })
  const log = createLogger(config.logLevel)
  const clock = systemClock
  const url = required(config, 'databaseUrl')
  const keyFile = required(config, 'encryptionKeyFile')
  const keyring = keyringFrom(resolve(keyFile), 'fail')
  await using started = new AsyncDisposableStack()
  const store = await storeOf({ url, config, signal, log }, started)
  const registry = processMetrics()
  const management = openManagementCluster(config, started, registry)
  const registrations = await openRegistrations({ store, keyring, clock, keyFile }, started)
  const upkeep = runUpkeep({ store, clock, log, ...config }, signal)
  started.defer(() => upkeep)
  const readers = openReaders({ config, management, clock, log, registry }, started)
  const direct = directAddressOf({ config, clock, log }, started)
  const where = await listen(
    {
      ...{ store, registrations, readers, registry, log, clock },
      ...(management && { management }),
      ...(direct && { direct }),
      proxiedListSeconds: config.proxiedListSeconds,
      shutdown: { delaySeconds, graceSeconds },
    },
    config,
    started,
  )
  console.log(`fleetglass apiserver is ready at ${where}`)
  await aborted(signal)
}

/** @throws CommandFailure before anything is opened. */
function refuseContradictions(config: ApiserverConfig): void {
  const { tlsCertFile, tlsPrivateKeyFile, authorizationMode, registrations } = config
  const refuse = (message: string) => {
    throw new CommandFailure(message, { exitCode: 2 })
  }
  if ((tlsCertFile === undefined) !== (tlsPrivateKeyFile === undefined)) {
    refuse('--tls-cert-file and --tls-private-key-file need each other')
  }
  if (config.advertiseDirectCaFile !== undefined && config.advertiseDirectUrl === undefined) {
    refuse('--advertise-direct-ca-file needs --advertise-direct-url')
  }
  if (authorizationMode === 'Aggregator' && registrations === 'own') {
    refuse('--authorization-mode=Aggregator needs --registrations=management')
  }
}

interface StoreRequest {
  readonly url: string
  readonly config: ApiserverConfig
  readonly signal: AbortSignal
  readonly log: Logger
}

async function storeOf(request: StoreRequest, started: AsyncDisposableStack): Promise<Store> {
  const { url, config } = request
  const { readDatabaseUrl: readUrl } = config
  const options = { url, applicationName: 'fleetglass apiserver', ...(readUrl && { readUrl }) }
  const isWatchedOver = config.registrations === 'management'
  const store = await (isWatchedOver ? waitForStore(options, request) : openStore(options))
  started.defer(() => store.close())
  return store
}

async function waitForStore(
  options: ConnectOptions,
  { config, signal, log }: StoreRequest,
): Promise<Store> {
  const waiting: { why: string; server?: WaitingServer } = { why: '' }
  const tell = async (why: string) => {
    waiting.why = why
    waiting.server ??= await startWaitingServer({
      ...{ tls: await tlsOf(config), listen: config.listen },
      why: () => waiting.why,
    })
  }
  try {
    return await untilDatabase(options, { tell, signal, clock: systemClock, log })
  } finally {
    await waiting.server?.stop()
  }
}

async function tlsOf(config: ApiserverConfig): Promise<TlsOptions> {
  const { tlsCertFile: certFile, tlsPrivateKeyFile: keyFile } = config
  if (certFile !== undefined && keyFile !== undefined) return readServingPair({ certFile, keyFile })
  const dataDir = prepareDataDir(config.dataDir)
  return (await currentPki({ dataDir, config, clock: systemClock })).server
}

type Serving = Omit<CertifiedServerParts, 'dataDir' | 'config'>

/** @returns where it is, for people. */
async function listen(
  parts: Serving,
  config: ApiserverConfig,
  started: AsyncDisposableStack,
): Promise<string> {
  const { tlsCertFile: certFile, tlsPrivateKeyFile: keyFile } = config
  if (certFile === undefined || keyFile === undefined) {
    const dataDir = prepareDataDir(config.dataDir)
    const server = await startCertifiedServer({ ...parts, config, dataDir })
    started.defer(() => server.stop())
    return `${server.url} (kubeconfig: ${server.kubeconfig})`
  }
  const continueByDefault = config.continueTokens === 'always'
  const { listen, readerStreams, readerQueries } = config
  const readerLimits = { streams: readerStreams, queries: readerQueries }
  const given = { ...parts, certFile, keyFile, continueByDefault, listen, readerLimits }
  const server = await startFileCertifiedServer(given)
  started.defer(() => server.stop())
  return `https://${listen.host}:${server.port}`
}
