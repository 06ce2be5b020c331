/**
 * A standby that answers reads of objects, and how new it has to be for that.
 *
 * A reader is never shown less than was asked for: a connection is used once the revision that is
 * visible on it is high enough, which is asked of each connection, because several standbys may be
 * behind one address. A standby that does not answer, or does not catch up within
 * {@link PATIENCE_MILLISECONDS}, is left alone until it is well again; the primary answers meanwhile.
 *
 * @see KEP-2340, consistent reads from cache: kube-apiserver asks etcd for the newest revision,
 *   waits for its own cache to have it, and after three seconds falls back to etcd.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { Pools } from './pools.ts'
import { type Readers, readersOf } from './readers.ts'

/** As long as kube-apiserver waits for its cache. */
const PATIENCE_MILLISECONDS = 3_000
const LOOK_AGAIN_MILLISECONDS = 20
const PROBE_MILLISECONDS = 1_000
const REVISION = 'select latest from fleet_revision'

/** Not an error of a request: the primary is asked instead. */
export class ReplicaUnusable extends Error {
  override readonly name = 'ReplicaUnusable'
}

interface Seen {
  readonly at: number
  readonly revision: bigint
}

export class ReadReplica {
  readonly #pools: Pools
  readonly #pool: pg.Pool
  readonly #control: pg.Pool
  readonly #readers: Readers
  /** The newest revision that is known to be visible on a connection. It never goes back there. */
  readonly #visible = new WeakMap<pg.PoolClient, bigint>()
  readonly #probing: NodeJS.Timeout
  /** Of the primary, oldest first, back to what a standby that is well must have. */
  #primary: Seen[] = []
  #probe: Promise<void> | undefined
  #trouble: string | undefined

  /** @param primaryRevision - asked once a second, to tell how far behind the standby is. */
  constructor(
    pools: Pools,
    settings: { readonly max: number; readonly options: string },
    primaryRevision: () => Promise<string>,
  ) {
    this.#pools = pools
    this.#pool = pools.open(settings.max, settings.options)
    this.#control = pools.open(2)
    this.#readers = readersOf(this.#pool, this.#control)
    const probe = () => {
      this.#probe ??= this.#look(primaryRevision).finally(() => {
        this.#probe = undefined
      })
    }
    probe()
    this.#probing = setInterval(probe, PROBE_MILLISECONDS).unref()
  }

  /** Why reads go to the primary, in a few words that anybody may read; undefined while it is used. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /**
   * A connection on which everything up to a revision is visible; waits for it.
   *
   * @throws {@link ReplicaUnusable} when there is none in time.
   */
  async connect(atLeast: bigint): Promise<pg.PoolClient> {
    const end = performance.now() + PATIENCE_MILLISECONDS
    while (performance.now() < end) {
      const client = await this.#open()
      if ((await this.#revisionOf(client, atLeast)) >= atLeast) return client
      client.release()
      await delay(LOOK_AGAIN_MILLISECONDS)
      if (this.#trouble) throw new ReplicaUnusable(this.#trouble)
    }
    this.#trouble = 'it is behind the primary'
    throw new ReplicaUnusable(this.#trouble)
  }

  /** What one of its connections shows now. @throws {@link ReplicaUnusable} */
  async revision(): Promise<bigint> {
    const client = await this.#open()
    const revision = await this.#revisionOf(client, undefined)
    client.release()
    return revision
  }

  /** Its connections for one request: those of the primary, where it has none that is new enough. */
  readersFrom(atLeast: bigint, primary: Readers): Readers {
    const own = new WeakSet<pg.PoolClient>()
    return {
      connect: async () => {
        try {
          const client = await this.connect(atLeast)
          own.add(client)
          return client
        } catch (error) {
          if (error instanceof ReplicaUnusable) return primary.connect()
          throw error
        }
      },
      cancel: (client) => (own.has(client) ? this.#readers : primary).cancel(client),
      usage: () => this.#readers.usage(),
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#probing)
    await this.#probe
    await this.#pools.end()
  }

  async #open(): Promise<pg.PoolClient> {
    if (this.#trouble) throw new ReplicaUnusable(this.#trouble)
    try {
      return await this.#readers.connect()
    } catch (error) {
      // All in use: that is no reason to have the primary do the work of both.
      if (error instanceof Error && /^timeout exceeded/.test(error.message)) throw error
      throw this.#silent(error)
    }
  }

  /** @param enough - what is known suffices, when it is as high as this. */
  async #revisionOf(client: pg.PoolClient, enough: bigint | undefined): Promise<bigint> {
    const known = this.#visible.get(client)
    if (known !== undefined && enough !== undefined && known >= enough) return known
    try {
      const { rows } = await client.query<{ latest: string }>(REVISION)
      const revision = BigInt(rows[0]!.latest)
      this.#visible.set(client, revision)
      return revision
    } catch (error) {
      client.release(error instanceof Error ? error : true)
      throw this.#silent(error)
    }
  }

  #silent(cause: unknown): ReplicaUnusable {
    this.#trouble = 'it does not answer'
    return new ReplicaUnusable(this.#trouble, { cause })
  }

  async #look(primaryRevision: () => Promise<string>): Promise<void> {
    const latest = await primaryRevision().catch(() => undefined)
    try {
      const { rows } = await this.#control.query<{ latest: string }>(REVISION)
      this.#trouble = this.#isBehind(BigInt(rows[0]!.latest))
        ? 'it is behind the primary'
        : undefined
    } catch (error) {
      this.#silent(error)
    }
    if (latest !== undefined) this.#remember(BigInt(latest))
  }

  #isBehind(shown: bigint): boolean {
    const due = performance.now() - PATIENCE_MILLISECONDS
    return this.#primary.some(({ at, revision }) => at <= due && revision > shown)
  }

  #remember(revision: bigint): void {
    const at = performance.now()
    const due = this.#primary.findLast((seen) => seen.at <= at - PATIENCE_MILLISECONDS)
    // A primary that lost its last transactions in a failover has a lower one now.
    this.#primary = [...this.#primary, { at, revision }].filter(
      (seen) => seen.at >= (due?.at ?? 0) && seen.revision <= revision,
    )
  }
}
