/**
 * A whole installation in one process tree: database, API server here, syncer beside it.
 *
 * Each part is stopped in the reverse order of its start, and none for longer than its share of the
 * five seconds that a stop may take.
 */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { type Config, variablesFor } from '../../config.ts'
import { formatFieldPath } from '../../kube/field-selector.ts'
import type { Logger } from '../../log.ts'
import { connectStore, type Store } from '../../store/connect.ts'
import { migrate } from '../../store/migrate.ts'
import { keyFileIn, prepareDataDir } from '../data-dir/data-dir.ts'
import { keyringFrom } from '../data-dir/encryption-key.ts'
import { lockDirectory } from '../data-dir/lock.ts'
import { readImports, registerImports } from '../import-kubeconfig.ts'
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../postgres/embedded-postgres.ts'
import { startCertifiedServer } from './certified-server.ts'
import { openRegistrations } from './open-registrations.ts'
import { type SyncerProcess, startSyncerProcess } from './syncer-process.ts'
import { runUpkeep } from './upkeep.ts'

export const STANDALONE_SETTINGS = [
  'dataDir',
  'listen',
  'databaseUrl',
  'tlsSan',
  'encryptionKeyFile',
  'secretValues',
  'prune',
  'importKubeconfig',
  'context',
  'firstLists',
  'firstListsPerMember',
  'continueTokens',
  'readerStreams',
  'readerQueries',
  'changeLogHours',
  'changeLogChanges',
  'logLevel',
] as const

export type StandaloneConfig = Config<(typeof STANDALONE_SETTINGS)[number]>

export interface StandaloneOptions {
  readonly config: StandaloneConfig
  readonly log: Logger
  readonly clock: Clock
  /** Entries of their own in the kubeconfig. */
  readonly memberClusters?: readonly string[]
  /** Starts with an empty embedded database, whatever was in it. */
  readonly fresh?: true
}

export interface Standalone {
  /** `https://127.0.0.1:8443` */
  readonly url: string
  readonly kubeconfig: string
  /** Absolute. */
  readonly dataDir: string
  /** Resolves with a sentence when it cannot go on. */
  readonly ended: Promise<string>
  stop(): Promise<void>
}

const SERVING_STOPS_WITHIN_MILLISECONDS = 2800
const STORE_CLOSES_WITHIN_MILLISECONDS = 300

/** @throws CommandFailure, StoreUnavailable; nothing is left running then. */
export async function startStandalone(options: StandaloneOptions): Promise<Standalone> {
  const started = new AsyncDisposableStack()
  try {
    return await startParts(options, started)
  } catch (error) {
    await started.disposeAsync()
    throw error
  }
}

async function startParts(
  options: StandaloneOptions,
  started: AsyncDisposableStack,
): Promise<Standalone> {
  const { config, log, clock } = options
  const imports = await readImports(config)
  const dataDir = prepareDataDir(config.dataDir)
  const lock = lockDirectory(dataDir)
  started.defer(() => lock.release())
  const keyFile = resolve(config.encryptionKeyFile ?? keyFileIn(dataDir))
  const keyring = keyringFrom(keyFile, config.encryptionKeyFile ? 'fail' : 'create')
  const database = await startDatabase(dataDir, options, started)
  const store = await openStore(database.url, started)
  const registrations = await openRegistrations({ store, keyring, clock, keyFile }, started)
  startUpkeep(store, options, started)
  const serving = serveTogether(started)
  const running: { syncer?: SyncerProcess } = {}
  const syncerMetrics = async () => (await running.syncer?.metrics()) ?? ''
  const parts = { ...options, dataDir, store, registrations, syncerMetrics }
  const api = await startCertifiedServer(parts)
  serving.push(() => api.stop())
  if (config.importKubeconfig) await registerImports(registrations, imports)
  const variables = variablesFor({
    ...inherited(config),
    databaseUrl: database.url,
    encryptionKeyFile: keyFile,
    leaseHolder: leaseHolderOf(config, dataDir),
  })
  const syncer = startSyncerProcess({ variables, log, clock })
  running.syncer = syncer
  serving.push(() => syncer.stop())
  const { url, kubeconfig } = api
  const stop = () => started.disposeAsync()
  return { url, kubeconfig, dataDir, ended: database.ended, stop }
}

/**
 * One name for every syncer that we start here, so that one that is started again has its clusters
 * back at once. On a store of our own the lock of the directory keeps others out; a database may be
 * shared, so there the name is good for this start only.
 */
function leaseHolderOf({ databaseUrl }: StandaloneConfig, dataDir: string): string {
  const here = `${hostname()}:${dataDir}`
  return databaseUrl === undefined ? here : `${here}/${randomBytes(4).toString('hex')}`
}

/** What the syncer must know as it was given to us. */
function inherited(config: StandaloneConfig) {
  const { secretValues, firstLists, firstListsPerMember, logLevel } = config
  const { importKubeconfig, context, prune } = config
  return {
    ...{ secretValues, firstLists, firstListsPerMember, logLevel },
    ...(importKubeconfig !== undefined && { importKubeconfig }),
    ...(context !== undefined && { context }),
    ...(prune !== undefined && { prune: prune.map(formatFieldPath) }),
  }
}

interface StartedDatabase {
  readonly url: string
  readonly ended: Promise<string>
}

async function startDatabase(
  dataDir: string,
  { config, log, fresh }: StandaloneOptions,
  started: AsyncDisposableStack,
): Promise<StartedDatabase> {
  const { databaseUrl } = config
  if (databaseUrl !== undefined) return { url: databaseUrl, ended: new Promise(() => undefined) }
  if (fresh) await removeEmbeddedPostgres(dataDir)
  const postgres = await startEmbeddedPostgres(dataDir, log)
  started.defer(() => postgres.stop())
  return postgres
}

async function openStore(url: string, started: AsyncDisposableStack): Promise<Store> {
  const store = await connectStore({ url, applicationName: 'fleetglass serve' })
  started.defer(() => within(STORE_CLOSES_WITHIN_MILLISECONDS, store.close()))
  await migrate(store)
  return store
}

function startUpkeep(
  store: Store,
  { config, log, clock }: StandaloneOptions,
  started: AsyncDisposableStack,
): void {
  const { changeLogHours, changeLogChanges } = config
  const stopping = new AbortController()
  const parts = { store, log, clock, changeLogHours, changeLogChanges }
  const done = runUpkeep(parts, stopping.signal)
  started.defer(() => {
    stopping.abort()
    return within(STORE_CLOSES_WITHIN_MILLISECONDS, done)
  })
}

/** API server and syncer need nothing of each other, so they stop at the same time. */
function serveTogether(started: AsyncDisposableStack): (() => Promise<void>)[] {
  const stops: (() => Promise<void>)[] = []
  started.defer(() =>
    within(SERVING_STOPS_WITHIN_MILLISECONDS, Promise.all(stops.map((stop) => stop()))),
  )
  return stops
}

/** What takes longer is left to itself: the process ends all the same. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const enough = new AbortController()
  await Promise.race([work, delay(milliseconds, undefined, { signal: enough.signal })]).finally(
    () => enough.abort(),
  )
}
