/**
 * The mirror of one type of one cluster: what list and watch hand over becomes rows.
 *
 * Owns     which objects are refused, what a complete list means, which position covers what.
 * Not here following the member (list-watch.ts), batches (change-queue.ts), SQL (store/).
 */
import type { SyncPosition } from '../store/cluster-resources.ts'
import { LeaseLost } from '../store/leases.ts'
import type { ObjectKey, ObjectRow } from '../store/object-row.ts'
import type { WriteTarget } from '../store/put-objects.ts'
import type { BudgetShare } from './byte-budget.ts'
import { ChangeQueue, type QueueBatch } from './change-queue.ts'
import { InvalidObject, type ObjectEncoder } from './encode-object.ts'
import { JsonError } from './json-bytes.ts'
import type { ListItem } from './list-splitter.ts'
import type { MemberError } from './member-error.ts'
import type { SyncMetrics, TypeLabels } from './metrics.ts'
import type { ListEnd, MirrorSink, RelistCause } from './mirror-sink.ts'
import { identityOf } from './object-identity.ts'
import type { ObjectWriter } from './object-writer.ts'
import { RefusedObjects } from './refused-objects.ts'
import type { WatchEvent } from './watch-lines.ts'

export interface BatchLimits {
  readonly rows: number
  readonly bytes: number
  readonly lingerMilliseconds: number
  readonly positionMilliseconds: number
}

export interface MirrorOptions {
  readonly of: TypeLabels
  readonly target: WriteTarget
  readonly encode: ObjectEncoder
  /** What it refuses is as if the member did not have it; it says the same of an object for ever. */
  readonly wants: (object: Buffer) => boolean
  readonly writer: ObjectWriter
  readonly budget: BudgetShare
  readonly limits: BatchLimits
  readonly metrics: SyncMetrics
  /** Of the member, as known now; `''` when it cannot be read. */
  readonly controlPlaneUid: () => string
  /** The position in the store, when it may be resumed from. */
  readonly stored: SyncPosition | undefined
  readonly now: () => number
  readonly report: (state: MirrorState) => void
  /** The list's own kind, as the member names it. */
  readonly listKind: (kind: string) => Promise<void>
  /** Nobody of this cluster may write any more; told at once, whether or not there is more to write. */
  readonly lost: (error: LeaseLost) => void
  readonly signal: AbortSignal
}

/** What the type's condition is made of. */
export type MirrorState =
  | { readonly phase: 'listing'; readonly cause: RelistCause }
  | {
      readonly phase: 'following'
      readonly by: 'watch' | 'poll'
      readonly refused: string
      readonly closedNamespaces: readonly string[]
    }
  | { readonly phase: 'failed'; readonly error: MemberError }
  | { readonly phase: 'lagging'; readonly lag: Lag }

/** The mirror is as the member was then, and may be older than it should. */
export interface Lag {
  /** Milliseconds since 1970. */
  readonly since: number
  /** The member tells nothing, or what it told is not stored yet. */
  readonly why: 'silent' | 'unstored'
}

export class TypeMirror implements MirrorSink {
  readonly #options: MirrorOptions
  readonly #queue: ChangeQueue
  readonly #refused = new RefusedObjects()
  #seen = new Set<string>()
  /** Of them, those of the part that is being listed. */
  #part: string[] = []
  #closedNamespaces: readonly string[] = []
  #listing = false
  #justListed = false
  #following: 'watch' | 'poll' | undefined
  #lag: Lag | undefined
  #hasFailed = false
  #wasHeard = false

  constructor(options: MirrorOptions) {
    this.#options = options
    const { limits, budget, signal } = options
    this.#queue = new ChangeQueue({
      ...limits,
      budget,
      signal,
      write: (batch) => this.#write(batch),
    })
  }

  /** When the oldest change came that is not stored; undefined: all are. Milliseconds since 1970. */
  get waitingSince(): number | undefined {
    return this.#queue.waitingSince
  }

  /** Said in place of that it is followed, once and without a running time, until it is over. */
  setLag(lag: Lag | undefined): void {
    if (lag?.why === this.#lag?.why) return
    this.#lag = lag
    // What failed says so, which tells more.
    if (this.#hasFailed) return
    if (lag) this.#options.report({ phase: 'lagging', lag })
    else this.#reportFollowing()
  }

  resumeFrom(): string | undefined {
    const { stored, controlPlaneUid } = this.#options
    const uid = controlPlaneUid()
    // A position means nothing to another control plane; where either is unknown, 410 will tell.
    if (!stored || (stored.controlPlaneUid && uid && stored.controlPlaneUid !== uid))
      return undefined
    return stored.resourceVersion
  }

  beginList(cause: RelistCause): void {
    this.#options.metrics.relisted(this.#options.of, cause)
    this.#listing = true
    this.#seen = new Set()
    this.#refused.clear()
    this.#queue.forgetPosition()
    if (cause !== 'poll') this.#options.report({ phase: 'listing', cause })
    this.#following = undefined
  }

  beginPart(): void {
    this.#part = []
  }

  /** What it saw may be gone: parts never see the same object, so the others keep theirs. */
  restartedPart(): void {
    for (const key of this.#part) this.#seen.delete(key)
    this.#part = []
  }

  async listed(item: ListItem): Promise<void> {
    if ('tooLargeBytes' in item) {
      this.#refuse(undefined, `an object of ${item.tooLargeBytes} bytes is too large`)
      return
    }
    if (!this.#options.wants(item.bytes)) return
    const { row } = this.#encoded(item.bytes)
    if (!row) return
    const key = `${row.namespace}/${row.name}`
    this.#seen.add(key)
    this.#part.push(key)
    await this.#queue.put({ op: 'put', row })
  }

  async endList({ kind, resourceVersion, closedNamespaces }: ListEnd): Promise<void> {
    await this.#queue.drain()
    const { writer, target, signal, controlPlaneUid } = this.#options
    const position = { resourceVersion, controlPlaneUid: controlPlaneUid() }
    this.#closedNamespaces = closedNamespaces
    const unseen = new Set(closedNamespaces)
    await writer.finish(
      target,
      // A restart lists again: no watch brings what a closed namespace held before.
      unseen.size === 0 ? { seen: this.#seen, position } : { seen: this.#seen, unseen },
      signal,
    )
    this.#seen = new Set()
    this.#part = []
    this.#listing = false
    this.#justListed = true
    this.#heard()
    if (kind !== '') await this.#options.listKind(kind)
  }

  closed(namespaces: readonly string[]): undefined {
    this.#closedNamespaces = namespaces
    this.#queue.forgetPosition()
    this.#reportFollowing()
  }

  justListed(): boolean {
    return this.#justListed
  }

  async changed(event: WatchEvent): Promise<void> {
    this.#options.metrics.event(this.#options.of)
    this.#heard()
    if (event.type === 'DELETED') return this.#deleted(event.object)
    if (!this.#options.wants(event.object)) return
    const { row, refused } = this.#encoded(event.object)
    // What is stored under the key of a refused object is no longer what the member has.
    if (refused) await this.#queue.put({ op: 'delete', key: refused })
    if (!row) return
    if (this.#refused.accepted(row)) this.#reportFollowing()
    await this.#queue.put({ op: 'put', row })
  }

  async #deleted(object: Buffer): Promise<void> {
    const key = this.#keyOf(object)
    if (!key) return this.#refuse(undefined, 'a deleted object has no name')
    if (this.#refused.accepted(key)) this.#reportFollowing()
    await this.#queue.put({ op: 'delete', key })
  }

  advance(resourceVersion: string): void {
    this.#heard()
    if (resourceVersion === '' || this.#listing || this.#closedNamespaces.length > 0) return
    this.#queue.advance({ resourceVersion, controlPlaneUid: this.#options.controlPlaneUid() })
  }

  following(by: 'watch' | 'poll'): void {
    this.#justListed = false
    this.#hasFailed = false
    // That a watch is open says nothing of what it will tell; it starts the count, once.
    if (by === 'poll' || !this.#wasHeard) this.#heard()
    this.#following = by
    this.#reportFollowing()
  }

  failed(error: MemberError): void {
    this.#following = undefined
    this.#hasFailed = true
    this.#options.metrics.failed(this.#options.of, error.failure)
    this.#options.report({ phase: 'failed', error })
  }

  #reportFollowing(): void {
    const by = this.#following
    if (!by) return
    const refused = this.#refused.sentence()
    const closedNamespaces = this.#closedNamespaces
    const following = { phase: 'following', by, refused, closedNamespaces } as const
    this.#options.report(this.#lag ? { phase: 'lagging', lag: this.#lag } : following)
  }

  #heard(): void {
    this.#wasHeard = true
    this.#options.metrics.heard(this.#options.of, this.#options.now())
  }

  /** The row; or the key of what was refused, as far as it can be read. */
  #encoded(bytes: Buffer): { row?: ObjectRow; refused?: ObjectKey | undefined } {
    try {
      return { row: this.#options.encode(bytes) }
    } catch (error) {
      if (!(error instanceof InvalidObject)) throw error
      const refused = error.key ?? this.#keyOf(bytes)
      this.#refuse(refused, error.message)
      return { refused }
    }
  }

  #keyOf(object: Buffer): ObjectKey | undefined {
    try {
      return identityOf(object)
    } catch (error) {
      if (error instanceof JsonError) return undefined
      throw error
    }
  }

  #refuse(key: ObjectKey | undefined, why: string): void {
    this.#options.metrics.refused(this.#options.of)
    this.#refused.add(key, why)
    this.#reportFollowing()
  }

  async #write(batch: QueueBatch): Promise<void> {
    const { writer, target, signal, lost } = this.#options
    try {
      const { refused } = await writer.write(target, batch, signal)
      for (const { key } of refused) this.#refuse(key, 'the database cannot hold the object')
    } catch (error) {
      if (error instanceof LeaseLost) lost(error)
      throw error
    }
  }
}
