/**
 * The way to the database: pools, and one clear sentence when there is no way.
 *
 * Reads, mirror writes and everything else have pools of their own, so that a burst of one never
 * starves the others (a writer that waits for a lease row must not keep a reader waiting).
 */
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { type PoolSettings, Pools } from './pools.ts'
import { ReadReplica } from './read-replica.ts'
import { type Readers, readersOf } from './readers.ts'
import type { Database } from './schema.ts'

const OLDEST_SERVER = 140_000
const CONNECT_TIMEOUT_MILLISECONDS = 5_000
const DEFAULT_STATEMENT_TIMEOUT_SECONDS = 60
const DEFAULT_POOL_SIZE = 10
/** Three for objects and three for notes of types (sync/fleet-syncer.ts). */
const WRITERS = 6

/**
 * Answers are many and short: compiling a plan, or starting workers for it, takes longer than
 * running it does. Sorting keys takes memory, and has it. What is read has mostly been read before,
 * so that a page out of order costs little more than the next one.
 */
const READER_SETTINGS =
  '-c jit=off -c max_parallel_workers_per_gather=0 -c work_mem=16MB -c random_page_cost=1.1 -c enable_partitionwise_aggregate=on'

export interface ConnectOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string
  /** Shown in pg_stat_activity. */
  readonly applicationName: string
  /** A standby of it, for reads of objects. */
  readonly readUrl?: string
  /** Connections for reads; the other pools are small. */
  readonly poolSize?: number
  /** A statement that runs longer is ended by the server, and answered with 504. */
  readonly statementTimeoutSeconds?: number
}

/** An open store. Everything in it but `close` is for src/store only. */
export interface Store {
  readonly db: Kysely<Database>
  /** Small reads and writes; `db` runs on it. */
  readonly pool: pg.Pool
  /** Lists and searches of objects. */
  readonly readers: Readers
  /** Answers these in its place, when it is new enough: store/read-view.ts. */
  readonly replica?: ReadReplica
  /** Transactions under a cluster's lease. */
  readonly writers: pg.Pool
  /** A connection of one's own, for LISTEN and for locks that outlive a transaction. */
  readonly dedicated: Pools['dedicated']
  readonly close: () => Promise<void>
}

/** Its message is one sentence for the person who gave the URL; it never holds the password. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
  /** Why, in words that anybody may read, when waiting may help; undefined when it does not. */
  readonly passing: string | undefined

  constructor(
    message: string,
    { passing, cause }: { readonly passing?: string; readonly cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.passing = passing
  }
}

/** @throws {@link StoreUnavailable} when the database cannot be used. */
export async function connectStore(options: ConnectOptions): Promise<Store> {
  const config = clientConfig(options)
  await checkServer(config, options.url)
  const size = options.poolSize ?? DEFAULT_POOL_SIZE
  const pools = new Pools(config)
  const pool = pools.open(size)
  const readers = readersOf(pools.open(size, READER_SETTINGS), pool)
  const writers = pools.open(WRITERS)
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
  const replica = openReplica(options, db, size)
  return {
    ...{ db, pool, readers, writers, ...(replica && { replica }) },
    dedicated: (options) => pools.dedicated(options),
    close: async () => {
      await Promise.all([pools.end(), replica?.close()])
    },
  }
}

/** It need not answer yet: that is told by /readyz, and the primary answers meanwhile. */
function openReplica(
  { readUrl, ...options }: ConnectOptions,
  db: Kysely<Database>,
  max: number,
): ReadReplica | undefined {
  if (readUrl === undefined) return undefined
  const pools = new Pools(clientConfig({ ...options, url: readUrl }))
  const latest = () => db.selectFrom('fleet_revision').select('latest').executeTakeFirstOrThrow()
  return new ReadReplica(
    pools,
    { max, options: READER_SETTINGS },
    async () => (await latest()).latest,
  )
}

function clientConfig(options: ConnectOptions): PoolSettings {
  const seconds = options.statementTimeoutSeconds ?? DEFAULT_STATEMENT_TIMEOUT_SECONDS
  if (!/^postgres(ql)?:\/\//.test(options.url)) {
    throw new StoreUnavailable('the database URL must start with postgres:// or postgresql://')
  }
  return {
    connectionString: options.url,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MILLISECONDS,
    statement_timeout: seconds * 1000,
    // A transaction that we forgot must not hold back vacuum, nor one of a stopped syncer the lease
    // row of its cluster: another syncer takes over as soon as the row is free.
    idle_in_transaction_session_timeout: 15_000,
    types: { getTypeParser: parserOf },
  }
}

/** As pg's own, but JSON stays text: JSON.parse would round numbers. */
function parserOf(oid: number, format?: 'text' | 'binary') {
  const isJson = oid === pg.types.builtins.JSON || oid === pg.types.builtins.JSONB
  return isJson ? String : pg.types.getTypeParser(oid, format as 'text')
}

async function checkServer(config: pg.ClientConfig, url: string): Promise<void> {
  const where = shownAddress(url)
  const client = openClient(config, where)
  try {
    await client.connect()
    const { rows } = await client.query<{ version: string; encoding: string }>(
      "select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding",
    )
    const { version, encoding } = rows[0]!
    if (Number(version) < OLDEST_SERVER) {
      throw new StoreUnavailable(`the database at ${where} is older than PostgreSQL 14`)
    }
    if (encoding !== 'UTF8') {
      throw new StoreUnavailable(
        `the database at ${where} must have encoding UTF8, not ${encoding}`,
      )
    }
  } catch (error) {
    throw error instanceof StoreUnavailable ? error : explain(error, where)
  } finally {
    await client.end().catch(() => undefined)
  }
}

function openClient(config: pg.ClientConfig, where: string): pg.Client {
  try {
    const client = new pg.Client(config)
    client.on('error', () => undefined)
    return client
  } catch (error) {
    throw explain(error, where)
  }
}

/** Host, port and database of a URL: what may be shown. */
function shownAddress(url: string): string {
  if (!URL.canParse(url)) return 'the given URL'
  const { host, pathname, searchParams } = new URL(url)
  return `${host || searchParams.get('host') || 'localhost'}${pathname}`
}

/** SQLSTATE codes: PostgreSQL manual, Appendix A. Names in capitals come from Node's net and dns. */
const EXPLANATION: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOENT: 'there is no such socket',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be looked up',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ECONNRESET: 'the connection was closed',
  '28P01': 'the user name or password is wrong',
  '28000': 'the user may not log in',
  '3D000': 'there is no such database',
  '42501': 'the user lacks the rights',
  '53300': 'it has no connection free',
  '57P03': 'it is starting up or shutting down',
}

/** What somebody must mend, where they mend it by telling us something else. */
const LASTING: readonly string[] = ['28P01', '28000', '3D000', '42501']
/** Such a URL cannot be asked at all. */
const NEVER = /invalid url|password must be a string/i

function explain(error: unknown, where: string): StoreUnavailable {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = EXPLANATION[code] ?? plainReason(error)
  const isLasting = LASTING.includes(code) || (error instanceof Error && NEVER.test(error.message))
  return new StoreUnavailable(`cannot use the database at ${where}: ${reason}`, {
    cause: error,
    ...(!isLasting && { passing: EXPLANATION[code] ?? 'it does not answer' }),
  })
}

function plainReason(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  if (/timeout/i.test(message)) return 'it does not answer'
  if (/invalid url/i.test(message)) return 'the URL is malformed'
  if (/password must be a string/i.test(message)) return 'it asks for a password'
  return message.split('\n')[0] || 'the connection failed'
}
