/**
 * A PostgreSQL server of our own, as a child process on a folder of ours.
 *
 * It listens on 127.0.0.1 with a password that only the data directory knows. It does not share our
 * process group, so that Ctrl-C reaches it after the API has drained and not before.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { totalmem } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Logger } from '../../log.ts'
import { createFile } from '../data-dir/create-file.ts'
import { CommandFailure, messageOf } from '../failure.ts'
import { listenOn } from '../listen.ts'
import { type BinariesFolder, postgresBinaries } from './binaries.ts'
import { lastWordsIn } from './last-words.ts'
import { readPostmaster, stopOrphan, stopPostmaster } from './postmaster-pid.ts'
import { canReach, type SystemUser, unprivilegedUser } from './unprivileged-user.ts'

export interface EmbeddedPostgres {
  /** With the password: never to be shown. */
  readonly url: string
  readonly pid: number
  /** Resolves with a sentence when the server ends without being asked to. */
  readonly ended: Promise<string>
  stop(): Promise<void>
}

/** Where files go that another user than root must reach when the data directory hides them. */
const SHARED_DIR = '/var/lib/fleetglass'
const USER = 'fleetglass'
const STARTS_WITHIN_SECONDS = 60

/** What differs from PostgreSQL's own defaults, and why. */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=', // A path in a deep folder would be longer than a socket's may be.
  'max_connections=80', // API server and syncers, with their pools.
  `shared_buffers=${sharedMebibytes()}MB`,
  'work_mem=16MB',
  // First syncs write in bursts, and after each checkpoint every page is logged whole once.
  'max_wal_size=4GB',
  'checkpoint_timeout=15min',
  'wal_buffers=16MB',
  // At 1,000 changes a second a minute, the default, leaves 60,000 dead rows between two looks.
  'autovacuum_naptime=10s',
  // What is not in the buffers is in the system's cache: handing it to a worker costs more.
  'io_method=sync',
  'jit=off', // Short queries over many partitions: compiling costs more than it saves.
  'log_min_messages=warning',
  'logging_collector=off',
]

/** A sixteenth of the machine, because others live there, too; from 1 GB on it gains little. */
function sharedMebibytes(): number {
  const sixteenth = Math.floor(totalmem() / 16 / 1024 / 1024)
  return Math.min(Math.max(sixteenth, 128), 1024)
}

interface Place {
  readonly user: SystemUser | undefined
  readonly binaries: BinariesFolder
  /** Its real path: what the server has on its command line. */
  readonly folder: string
  readonly data: string
  readonly log: string
}

/**
 * Starts the server of this data directory; makes its database the first time. A server that was
 * left running by an earlier start is stopped first.
 *
 * @throws CommandFailure with one sentence when it cannot start.
 */
export async function startEmbeddedPostgres(
  dataDir: string,
  log: Logger,
): Promise<EmbeddedPostgres> {
  const place = preparePlace(dataDir)
  const orphan = await stopOrphan(place.data)
  if (orphan) log.info({ pid: orphan }, 'stopped the PostgreSQL that an earlier start left behind')
  const password = passwordOf(dataDir)
  if (!existsSync(join(place.data, 'PG_VERSION'))) await initialise(place, password)
  const port = await freePort()
  const child = launch(place, port)
  await becomesReady(place, child)
  return running(place, child, urlOf(password, port))
}

/** Stops what runs on this data directory's database, and removes all that is in it. */
export async function removeEmbeddedPostgres(dataDir: string): Promise<void> {
  const link = join(dataDir, 'postgres')
  if (!existsSync(link)) return
  const folder = realpathSync(link)
  await stopOrphan(join(folder, 'data'))
  rmSync(folder, { recursive: true, force: true })
  rmSync(link, { recursive: true, force: true })
}

/**
 * Where the database is when the data directory only links to it, because the user that it runs as
 * cannot reach it there. It outlives the directory.
 */
export function databaseElsewhere(dataDir: string): string | undefined {
  const link = join(dataDir, 'postgres')
  if (!lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined
  return realpathSync(link)
}

/** How to reach the server that runs on this data directory now; undefined when none does. */
export function runningPostgresUrl(dataDir: string): string | undefined {
  const link = join(dataDir, 'postgres')
  if (!existsSync(link)) return undefined
  const postmaster = readPostmaster(join(realpathSync(link), 'data'))
  return postmaster?.isReady ? urlOf(passwordOf(dataDir), postmaster.port) : undefined
}

function urlOf(password: string, port: number): string {
  return `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`
}

function running(place: Place, child: ChildProcess, url: string): EmbeddedPostgres {
  const pid = child.pid!
  let asked = false
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const ended = new Promise<string>((resolve) => {
    child.once('exit', () => {
      if (!asked) resolve(`the embedded PostgreSQL ended: ${lastWords(place)}`)
    })
  })
  // The event loop must be free to end while the server runs.
  child.unref()
  return {
    url,
    pid,
    ended,
    async stop() {
      asked = true
      child.ref()
      await stopPostmaster(pid)
      await gone
    },
  }
}

function preparePlace(dataDir: string): Place {
  const link = join(dataDir, 'postgres')
  const folder = existsSync(link) ? realpathSync(link) : makeFolder(link)
  // Whoever made the files must go on with them.
  const { uid, gid } = statSync(folder)
  const user = unprivilegedUser() && { uid, gid }
  // As a copy of the data directory is that root made.
  if (user?.uid === 0) {
    throw cannotStart(
      `it does not run as root, and ${folder} is root's: chown -R it to another user`,
    )
  }
  return {
    user,
    binaries: postgresBinaries(user, sharedDir),
    folder,
    data: join(folder, 'data'),
    log: join(folder, 'server.log'),
  }
}

/** A folder that the server's user can reach: beside the rest, or linked to from there. */
function makeFolder(link: string): string {
  const user = unprivilegedUser()
  const dataDir = realpathSync(dirname(link))
  const isReachable = !user || canReach(user, dataDir, 'pass')
  const folder = isReachable ? link : join(sharedDir(), nameFor(dataDir))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (user) chownSync(folder, user.uid, user.gid)
  if (!isReachable) {
    rmSync(link, { force: true })
    symlinkSync(folder, link)
  }
  return realpathSync(link)
}

function nameFor(dataDir: string): string {
  const digest = createHash('sha256').update(dataDir).digest('hex').slice(0, 12)
  return `${basename(dataDir)}-${digest}`
}

function sharedDir(): string {
  mkdirSync(SHARED_DIR, { recursive: true })
  chmodSync(SHARED_DIR, 0o755)
  return SHARED_DIR
}

function passwordOf(dataDir: string): string {
  const file = join(dataDir, 'postgres-password')
  createFile(file, () => randomBytes(24).toString('base64url'))
  const password = readFileSync(file, 'utf8').trim()
  if (password === '') throw cannotStart(`${file} is empty: restore it`)
  return password
}

/** initdb beside, then a rename: a start that was cut off leaves nothing half made. */
async function initialise({ user, binaries, folder, data }: Place, password: string) {
  const unfinished = join(folder, 'data.unfinished')
  const passwordFile = join(folder, 'password')
  rmSync(unfinished, { recursive: true, force: true })
  rmSync(data, { recursive: true, force: true })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user) chownSync(passwordFile, user.uid, user.gid)
  const flags = ['--auth=scram-sha-256', `--username=${USER}`, '--encoding=UTF8', '--locale=C']
  const paths = [`--pwfile=${passwordFile}`, `--pgdata=${unfinished}`]
  try {
    await promisify(execFile)(join(binaries, 'bin/initdb'), [...flags, ...paths], asUser(user))
    renameSync(unfinished, data)
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
    throw cannotStart(lastWordsIn(said) || messageOf(error), error)
  } finally {
    rmSync(passwordFile, { force: true })
  }
}

function launch({ user, binaries, folder, data, log }: Place, port: number): ChildProcess {
  // A file, not a pipe: the server may outlive us, and must be able to say why it ends.
  const output = openSync(log, 'w', 0o600)
  const settings = [...SETTINGS, `port=${port}`].flatMap((setting) => ['-c', setting])
  const child = spawn(join(binaries, 'bin/postgres'), ['-D', data, ...settings], {
    ...asUser(user),
    cwd: folder,
    detached: true,
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  endWithUs(child)
  return child
}

/** However this process ends, short of being killed, it does not leave the server behind. */
function endWithUs(child: ChildProcess): void {
  const end = () => child.kill('SIGINT')
  process.once('exit', end)
  child.once('exit', () => process.removeListener('exit', end))
}

async function becomesReady(place: Place, child: ChildProcess): Promise<void> {
  let ended: string | undefined
  child.once('error', (error) => {
    ended = error.message
  })
  child.once('exit', () => {
    ended ??= lastWords(place)
  })
  const end = Date.now() + STARTS_WITHIN_SECONDS * 1000
  while (ended === undefined) {
    const postmaster = readPostmaster(place.data)
    if (postmaster?.isReady && postmaster.pid === child.pid) return
    if (Date.now() > end) {
      if (child.pid) await stopPostmaster(child.pid)
      throw cannotStart(`not ready after ${STARTS_WITHIN_SECONDS} s; ${place.log} has its messages`)
    }
    await delay(10)
  }
  throw cannotStart(ended)
}

/** Of the server. */
function lastWords({ log }: Place): string {
  return lastWordsIn(readFileSync(log, 'utf8')) || 'it left no message'
}

function cannotStart(why: string, cause?: unknown): CommandFailure {
  return new CommandFailure(`the embedded PostgreSQL cannot start: ${why}`, { cause })
}

function asUser(user: SystemUser | undefined): { uid?: number; gid?: number } {
  return user ? { uid: user.uid, gid: user.gid } : {}
}

/** Free now; PostgreSQL takes no port 0. */
async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listenOn(server, { host: '127.0.0.1', port: 0 })
  await new Promise((resolve) => server.close(resolve))
  return port
}
