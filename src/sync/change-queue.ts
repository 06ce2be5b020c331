/**
 * What waits to be written of one type: changes in order, and the position that covers them.
 *
 * Bounded by rows and bytes, of this queue and of all together; a full one makes its producer wait,
 * and with it the socket. One batch is written at a time, so what is written is always in order.
 */
import type { SyncPosition } from '../store/cluster-resources.ts'
import type { ObjectChange } from '../store/object-row.ts'
import type { BudgetShare } from './byte-budget.ts'

export interface QueueBatch {
  readonly changes: readonly ObjectChange[]
  /** Everything up to it is in this batch or was in one before. */
  readonly position: SyncPosition | undefined
}

export interface QueueOptions {
  readonly rows: number
  readonly bytes: number
  /** How long the first change waits for others to share its transaction. */
  readonly lingerMilliseconds: number
  /** How long a position without changes waits: a bookmark is not worth a transaction. */
  readonly positionMilliseconds: number
  readonly budget: BudgetShare
  /** Rejects only when writing can never succeed again: the lease is lost. */
  readonly write: (batch: QueueBatch) => Promise<void>
  /** Aborted: nothing is written any more, what waits gives up its room, who waits is let go. */
  readonly signal: AbortSignal
}

const CHANGE_OVERHEAD_BYTES = 200

export class ChangeQueue {
  readonly #options: QueueOptions
  #changes: ObjectChange[] = []
  #bytes = 0
  #position: SyncPosition | undefined
  #timer: NodeJS.Timeout | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #writing: Promise<void> | undefined
  /** When the oldest was put: of what gathers, and of the batch that is being written. */
  #gatheringSince: number | undefined
  #writingSince: number | undefined
  /** When each came that still waits for room. */
  readonly #entering = new Set<{ readonly since: number }>()
  #failure: unknown

  constructor(options: QueueOptions) {
    this.#options = options
    options.signal.addEventListener('abort', () => this.#drop(), { once: true })
  }

  /** Waits while the queue is full. @throws what `write` rejected with, or the signal's reason. */
  async put(change: ObjectChange): Promise<void> {
    const bytes = sizeOf(change)
    const entering = { since: Date.now() }
    this.#entering.add(entering)
    try {
      await this.#options.budget.take(bytes, this.#options.signal)
    } finally {
      this.#entering.delete(entering)
    }
    this.#gatheringSince ??= entering.since
    this.#changes.push(change)
    this.#bytes += bytes
    // Aborted between being let in and getting here: nobody else would give the room back.
    if (this.#options.signal.aborted) this.#drop()
    if (this.#isFull()) await this.#flush()
    else this.#schedule(this.#options.lingerMilliseconds)
  }

  /** When the oldest change was put that is not stored; undefined: all are. Milliseconds since 1970. */
  get waitingSince(): number | undefined {
    const entering = [...this.#entering].map(({ since }) => since)
    const all = [this.#writingSince, this.#gatheringSince, ...entering]
    const times = all.filter((one) => one !== undefined)
    return times.length === 0 ? undefined : Math.min(...times)
  }

  /** What was put so far takes the mirror to this position. */
  advance(position: SyncPosition): void {
    this.#position = position
    const { lingerMilliseconds, positionMilliseconds } = this.#options
    this.#schedule(this.#changes.length > 0 ? lingerMilliseconds : positionMilliseconds)
  }

  /** A list begins: what the position covered is no longer what the next batches mean. */
  forgetPosition(): void {
    this.#position = undefined
  }

  /** Resolves when all that was put is stored. */
  async drain(): Promise<void> {
    while (this.#isWriting || this.#changes.length > 0 || this.#position) await this.#flush()
    this.#check()
  }

  get #isWriting(): boolean {
    return this.#writing !== undefined
  }

  #isFull(): boolean {
    return this.#changes.length >= this.#options.rows || this.#bytes >= this.#options.bytes
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure
    this.#options.signal.throwIfAborted()
  }

  #schedule(milliseconds: number): void {
    const at = Date.now() + milliseconds
    if (at >= this.#timerAt || this.#options.signal.aborted) return
    this.#stopTimer()
    this.#timerAt = at
    this.#timer = setTimeout(() => {
      // A failure is kept, and thrown to whoever puts or drains next.
      this.#flush().catch(() => undefined)
    }, milliseconds)
  }

  #stopTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#timerAt = Number.POSITIVE_INFINITY
  }

  /** The budget is shared by all queues, and outlives this one. */
  #drop(): void {
    this.#stopTimer()
    this.#options.budget.give(this.#bytes)
    this.#gatheringSince = undefined
    this.#changes = []
    this.#bytes = 0
    this.#position = undefined
  }

  /** Waits for the batch that is being written, then writes what has gathered since. */
  async #flush(): Promise<void> {
    while (this.#isWriting) await this.#writing
    this.#check()
    if (this.#changes.length === 0 && !this.#position) return
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined
    })
    // Not waited for: the producer may go on filling the next batch meanwhile.
    await Promise.resolve()
  }

  async #write(): Promise<void> {
    this.#stopTimer()
    const batch = { changes: this.#changes, position: this.#position }
    const bytes = this.#bytes
    this.#writingSince = this.#gatheringSince
    this.#gatheringSince = undefined
    this.#changes = []
    this.#bytes = 0
    this.#position = undefined
    try {
      await this.#options.write(batch)
    } catch (error) {
      this.#failure = error
    } finally {
      this.#writingSince = undefined
      this.#options.budget.give(bytes)
    }
    if (this.#failure === undefined && (this.#changes.length > 0 || this.#position)) {
      this.#schedule(this.#options.lingerMilliseconds)
    }
  }
}

/** Bytes that a queued change keeps in memory. */
export function sizeOf(change: ObjectChange): number {
  if (change.op === 'delete') return CHANGE_OVERHEAD_BYTES
  const { head, metadata, tail, cells, tokens, statusTokens } = change.row
  const texts = head.length + metadata.length + tail.length + cells.length
  return texts + 8 * (tokens.length + statusTokens.length) + CHANGE_OVERHEAD_BYTES
}
