/**
 * Reads one query row by row for a consumer that may be slow, and never waits for it with a
 * transaction open.
 *
 * Rows are asked for as the consumer takes them, about a second's worth of memory ahead. When it
 * does not come for more, or the query has been open for long, the portal is closed and the
 * connection given back; rows that have arrived are still delivered, and `outcome` says that the
 * list must be resumed behind the last of them.
 */
import type pg from 'pg'
import type { Store } from './connect.ts'
import { RawQuery, type RawStatement } from './raw-query.ts'

export interface ReadLimits {
  /** Asked for first, before the size of a row is known. */
  readonly firstRows: number
  /** Asked for at once; as many bytes again can be with the consumer. */
  readonly bytesAhead: number
  /** The socket is not read further beyond this: some rows are larger than all others. */
  readonly bytesBuffered: number
  /** A consumer that takes nothing for this long loses the portal. */
  readonly patienceMilliseconds: number
  /** So long can a portal stay open after its first row, even for a fast consumer. */
  readonly openMilliseconds: number
  /** Left running this long after the consumer left, a query is cancelled. */
  readonly cancelMilliseconds: number
}

export const READ_LIMITS: ReadLimits = {
  firstRows: 500,
  bytesAhead: 1024 * 1024,
  bytesBuffered: 4 * 1024 * 1024,
  patienceMilliseconds: 1_000,
  openMilliseconds: 3_000,
  cancelMilliseconds: 250,
}

const MOST_ROWS = 10_000

type State = 'running' | 'suspended' | 'closing' | 'released'

export class PortalReader {
  /** `complete`: every row was delivered. `interrupted`: there may be more behind the last one. */
  outcome: 'complete' | 'interrupted' = 'interrupted'

  readonly #limits: ReadLimits
  readonly #query: RawQuery
  readonly #release: (destroy: boolean) => void
  readonly #cancel: () => void
  #state: State = 'running'
  #rows: Buffer[] = []
  #bytes = 0
  #allRows = 0
  #allBytes = 0
  /** Rows that arrive are not kept: the list is resumed before them, or nobody wants them. */
  #isDiscarding = false
  #isComplete = false
  #error: Error | undefined
  #firstRowAt: number | undefined
  #patience: NodeJS.Timeout | undefined
  #cancelling: NodeJS.Timeout | undefined
  #isCancelled = false
  #wake: () => void = () => undefined

  static async open(
    store: Store,
    statement: RawStatement,
    limits: ReadLimits,
  ): Promise<PortalReader> {
    return new PortalReader({ store, client: await store.readers.connect() }, statement, limits)
  }

  private constructor(
    { store, client }: { store: Store; client: pg.PoolClient },
    statement: RawStatement,
    limits: ReadLimits,
  ) {
    this.#limits = limits
    this.#release = (destroy) => client.release(destroy)
    // A cancel request could hit the next query of the connection: so it is not used for another.
    this.#cancel = () => {
      this.#isCancelled = true
      store.readers.cancel(client)
    }
    this.#query = new RawQuery(statement, limits.firstRows, {
      row: (body) => this.#keep(body),
      suspended: () => this.#onSuspended(),
      complete: () => this.#onComplete(),
      failed: (error) => this.#onFailed(error),
      ready: () => this.#onReleased(false),
      lost: (error) => {
        this.#error ??= error
        this.#onReleased(true)
      },
    })
    client.query(this.#query)
  }

  /**
   * The rows that have come, as DataRow bodies; waits for the first.
   *
   * @returns undefined when none follows; see `outcome`.
   */
  async take(): Promise<readonly Buffer[] | undefined> {
    while (this.#rows.length === 0) {
      if (this.#error) throw this.#error
      if (this.#isComplete || this.#state === 'closing' || this.#state === 'released')
        return undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const rows = this.#rows
    this.#rows = []
    this.#bytes = 0
    clearTimeout(this.#patience)
    this.#patience = undefined
    this.#goOn()
    return rows
  }

  /** The consumer wants no more. Whatever is still under way is ended in the background. */
  stop(): void {
    this.#rows = []
    this.#bytes = 0
    clearTimeout(this.#patience)
    this.#interrupt()
    if (this.#state === 'closing' && !this.#isComplete) {
      this.#cancelling ??= setTimeout(this.#cancel, this.#limits.cancelMilliseconds)
    }
  }

  /** Makes `take` throw; for a consumer that has gone while nothing comes. */
  abort(reason: unknown): void {
    this.#error ??= reason instanceof Error ? reason : new Error('the reader has gone')
    this.stop()
    this.#wake()
  }

  #goOn(): void {
    if (this.#state === 'running') this.#query.resume()
    if (this.#state !== 'suspended') return
    if (performance.now() - this.#firstRowAt! > this.#limits.openMilliseconds) {
      this.#interrupt()
      return
    }
    this.#state = 'running'
    const rowBytes = this.#allBytes / this.#allRows
    const rows = Math.floor(this.#limits.bytesAhead / rowBytes)
    this.#query.more(Math.min(Math.max(rows, 1), MOST_ROWS))
  }

  #keep(body: Buffer): void {
    if (this.#isDiscarding) return
    this.#firstRowAt ??= performance.now()
    this.#rows.push(body)
    this.#bytes += body.length
    this.#allRows++
    this.#allBytes += body.length
    this.#patience ??= setTimeout(() => this.#interrupt(), this.#limits.patienceMilliseconds)
    if (this.#bytes > this.#limits.bytesBuffered) this.#query.pause()
    this.#wake()
  }

  #onSuspended(): void {
    if (this.#state !== 'running') return
    this.#state = 'suspended'
    // Taken while they came: the consumer waits, nobody else would go on.
    if (this.#rows.length === 0) this.#goOn()
  }

  #onComplete(): void {
    this.#isComplete = true
    if (!this.#isDiscarding) this.outcome = 'complete'
    if (this.#state !== 'released') this.#state = 'closing'
    this.#wake()
  }

  #onFailed(error: Error): void {
    this.#error ??= error
    this.#isDiscarding = true
    if (this.#state !== 'released') this.#state = 'closing'
    this.#wake()
  }

  /** Closes the portal. What is still to come of the rows that were asked for is dropped. */
  #interrupt(): void {
    if (this.#state !== 'running' && this.#state !== 'suspended') return
    this.#isDiscarding = true
    this.#state = 'closing'
    this.#query.close()
    this.#wake()
  }

  #onReleased(destroy: boolean): void {
    if (this.#state === 'released') return
    this.#state = 'released'
    clearTimeout(this.#cancelling)
    clearTimeout(this.#patience)
    this.#release(destroy || this.#isCancelled)
    this.#wake()
  }
}
