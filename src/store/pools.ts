/**
 * Pools of connections that outlive a failover: of the server behind the URL, and of the network.
 *
 * A connection can be whole and lead nowhere: to a host that is gone without a word, or to a former
 * primary that goes on answering and takes no writes. The first is found out by time, the second
 * by SQLSTATE 25006; either way it is closed, and the next one leads to whoever is behind the URL
 * then.
 */
import type { Socket } from 'node:net'
import pg from 'pg'

/** Sent on an idle connection, so that a host that is gone is noticed within half a minute. */
const KEEP_ALIVE_AFTER_MILLISECONDS = 10_000
/** The same from the server's side: a lock must not outlive the host of its holder for hours. */
const SERVER_SETTINGS =
  '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3'
/** Beyond the statement timeout, after which a server that lives has answered. */
const ANSWERS_LATER_MILLISECONDS = 5_000
const ENDS_WITHIN_MILLISECONDS = 1_000
/** How often all connections are given up at most: a database may be read-only by intention. */
const RENEWED_EVERY_MILLISECONDS = 2_000

/** SQLSTATE read_only_sql_transaction: a write on a standby, or on a primary that was demoted. */
const READ_ONLY = '25006'

export interface PoolSettings extends pg.ClientConfig {
  /** Milliseconds. */
  readonly statement_timeout: number
}

/** The pools of one server. */
export class Pools {
  readonly #config: PoolSettings
  readonly #clients = new Set<pg.ClientBase>()
  readonly #pools: pg.Pool[] = []
  #renewedAt = Number.NEGATIVE_INFINITY

  constructor(config: PoolSettings) {
    this.#config = {
      ...config,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MILLISECONDS,
    }
  }

  /** @param settings - of the sessions, as `-c name=value`. */
  open(max: number, settings = ''): pg.Pool {
    const options = `${SERVER_SETTINGS} ${settings}`.trim()
    const pool = new pg.Pool({ ...this.#config, options, max })
    // An idle connection that breaks is dropped by the pool, and the next query opens another and
    // fails by itself if it cannot; without a listener the process would end.
    pool.on('error', () => undefined)
    pool.on('connect', (client) => this.#watch(client))
    this.#endSilent(pool)
    this.#pools.push(pool)
    return pool
  }

  /**
   * A connection of one's own.
   *
   * @param options.patient - its statements may take any time, such as those of migrations.
   */
  async dedicated({ patient = false } = {}): Promise<pg.Client> {
    const client = new pg.Client({
      ...this.#config,
      options: SERVER_SETTINGS,
      ...(patient ? { statement_timeout: 0 } : { query_timeout: this.#answersWithin() }),
    })
    this.#watch(client)
    await client.connect()
    return client
  }

  async end(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.end()))
  }

  #answersWithin(): number {
    return this.#config.statement_timeout + ANSWERS_LATER_MILLISECONDS
  }

  #watch(client: pg.ClientBase): void {
    this.#clients.add(client)
    client.once('end', () => this.#clients.delete(client))
    endInTime(client)
    // One that breaks while it is in use fails its query, and that is how its user learns of it.
    client.on('error', () => undefined)
    connectionOf(client).on('errorMessage', ({ code }: { readonly code?: string }) => {
      if (code !== READ_ONLY) return
      socketOf(client).destroy()
      this.#renew()
    })
  }

  /** pg would wait for an answer as long as TCP does for an acknowledgement: a quarter of an hour. */
  #endSilent(pool: pg.Pool): void {
    const listeners = new WeakMap<pg.PoolClient, () => void>()
    pool.on('acquire', (client) => {
      const stream = socketOf(client)
      const end = () => {
        stream.destroy(new Error('Connection terminated: it was silent too long'))
        this.#renew()
      }
      listeners.set(client, end)
      stream.setTimeout(this.#answersWithin(), end)
    })
    pool.on('release', (_error, client) => {
      const end = listeners.get(client)
      if (end) socketOf(client).setTimeout(0).off('timeout', end)
    })
  }

  /** Whatever else is open to that server is as old as the one that was refused. */
  #renew(): void {
    const now = performance.now()
    if (now - this.#renewedAt < RENEWED_EVERY_MILLISECONDS) return
    this.#renewedAt = now
    for (const client of this.#clients) socketOf(client).destroy()
  }
}

/** pg says goodbye and waits for the server to hang up, which one that is gone never does. */
function endInTime(client: pg.ClientBase & { end?: pg.Client['end'] }): void {
  const { end } = client
  if (!end) return
  client.end = ((...given: Parameters<typeof end>) => {
    const timer = setTimeout(() => socketOf(client).destroy(), ENDS_WITHIN_MILLISECONDS)
    client.once('end', () => clearTimeout(timer))
    return end.apply(client as pg.Client, given)
  }) as typeof end
}

function connectionOf(client: pg.ClientBase): pg.Connection {
  return (client as unknown as { readonly connection: pg.Connection }).connection
}

function socketOf(client: pg.ClientBase): Socket {
  return connectionOf(client).stream as Socket
}
