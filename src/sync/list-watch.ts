/**
 * Follows one type of one member: lists it, then watches from where the list was, for ever.
 *
 * Owns     when to resume and when to list anew, which failures end what, how long to wait.
 * Not here one request each (list-pages.ts, watch-stream.ts), what becomes of objects (type-mirror.ts).
 *
 * A type is followed under one path, or under one per namespace where only some are mirrored.
 */
import type { Clock } from '../clock.ts'
import { Backoff } from './backoff.ts'
import type { Gate } from './gate.ts'
import { type ListSource, listPages } from './list-pages.ts'
import { MemberError } from './member-error.ts'
import type { MirrorSink, RelistCause } from './mirror-sink.ts'
import { readRevision } from './read-revision.ts'
import { type WatchEnd, WatchStream } from './watch-stream.ts'

export interface FollowLimits {
  readonly pageItems: number
  /** A larger object is refused. */
  readonly objectBytes: number
  /** A watch asks for a random time between these two. */
  readonly leastWatchSeconds: number
  readonly mostWatchSeconds: number
  /** A watch that is silent for longer is taken for dead; bookmarks come every minute. */
  readonly idleMilliseconds: number
  /** Between two lists of what cannot be watched. */
  readonly pollMilliseconds: number
  readonly firstBackoffMilliseconds: number
  readonly mostBackoffMilliseconds: number
  /** A watch that lasted this long ends a row of failures. */
  readonly steadyMilliseconds: number
}

export interface FollowOptions {
  readonly source: ListSource
  /** `/api/v1/pods`, or one path per namespace; never empty. */
  readonly paths: readonly string[]
  readonly watchable: boolean
  readonly limits: FollowLimits
  readonly clock: Clock
  readonly sink: MirrorSink
  /** Bound first lists, of the process and of the member. */
  readonly gates: readonly Gate[]
  /** Light types first. */
  readonly weight: number
}

/** Somebody else saw that the mirror must be read anew. */
export class RelistWanted extends Error {
  override readonly name = 'RelistWanted'
  readonly relistCause: RelistCause

  constructor(relistCause: RelistCause) {
    super(relistCause)
    this.relistCause = relistCause
  }
}

export class ListWatch {
  readonly #options: FollowOptions
  readonly #backoff: Backoff
  readonly #relists: Backoff
  /** Per path; what is stored is the lowest of them. */
  readonly #positions = new Map<string, string>()
  #watches: AbortController | undefined
  #wanted: RelistCause | undefined
  /** Before the next list. */
  #pauseMilliseconds = 0

  constructor(options: FollowOptions) {
    this.#options = options
    this.#backoff = this.#newBackoff()
    this.#relists = this.#newBackoff()
  }

  /** Lists anew as soon as may be, without losing what is being written. */
  requestRelist(cause: RelistCause): void {
    this.#wanted = cause
    this.#watches?.abort(new RelistWanted(cause))
  }

  /** Ends only by throwing: the signal's reason, or what the sink threw because it cannot go on. */
  async run(signal: AbortSignal): Promise<never> {
    const { sink, paths, watchable } = this.#options
    const from = sink.resumeFrom()
    let cause: RelistCause | undefined = from === undefined ? 'first' : this.#wanted
    if (from !== undefined) for (const path of paths) this.#positions.set(path, from)
    for (;;) {
      if (cause) await this.#listUntilDone(cause, signal)
      cause =
        watchable && this.#canWatch() ? await this.#watchAll(signal) : await this.#poll(signal)
      await this.#sleep(this.#pauseMilliseconds, signal)
      this.#pauseMilliseconds = 0
    }
  }

  async #listUntilDone(cause: RelistCause, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        this.#wanted = undefined
        this.#options.sink.beginList(cause)
        await this.#inGates(cause === 'first', () => this.#list(signal), signal)
        this.#backoff.reset()
        return
      } catch (error) {
        await this.#recover(error, signal)
      }
    }
  }

  /** Only first lists are bounded: a relist is one type's affair, and backs off by itself. */
  async #inGates(first: boolean, work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const { gates, weight } = this.#options
    const through = first ? gates : []
    const inner = through.reduceRight<() => Promise<void>>(
      (next, gate) => () => gate.run(next, { weight, signal }),
      work,
    )
    await inner()
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { source, paths, limits, sink } = this.#options
    let kind = ''
    for (const path of paths) {
      const meta = await listPages(source, {
        path,
        pageItems: limits.pageItems,
        objectBytes: limits.objectBytes,
        signal,
        restarted: () => sink.restartedList(),
        item: (item) => sink.listed(item),
      })
      kind = meta.kind
      this.#positions.set(path, meta.resourceVersion)
    }
    await sink.endList({ kind, resourceVersion: this.#lowest() })
  }

  /** An API server without resourceVersions cannot say where a watch would begin. */
  #canWatch(): boolean {
    const { paths } = this.#options
    return paths.every((path) => !['', '0'].includes(this.#positions.get(path) ?? ''))
  }

  async #poll(signal: AbortSignal): Promise<RelistCause> {
    this.#options.sink.following('poll')
    await this.#sleep(this.#options.limits.pollMilliseconds, signal)
    return 'poll'
  }

  /** Watches every path; the first that needs a list ends the others. */
  async #watchAll(signal: AbortSignal): Promise<RelistCause> {
    const watches = new AbortController()
    this.#watches = watches
    if (this.#wanted) return this.#wanted
    const all = AbortSignal.any([signal, watches.signal])
    const run = async (path: string): Promise<void> => {
      const cause = await this.#watchPath(path, all)
      watches.abort(new RelistWanted(cause))
    }
    const ended = await Promise.allSettled(this.#options.paths.map(run))
    signal.throwIfAborted()
    const fatal = ended.find(
      (one) => one.status === 'rejected' && !(one.reason instanceof RelistWanted),
    )
    if (fatal?.status === 'rejected') throw fatal.reason
    const reason: unknown = watches.signal.reason
    return reason instanceof RelistWanted ? reason.relistCause : 'expired'
  }

  async #watchPath(path: string, signal: AbortSignal): Promise<RelistCause> {
    const backoff = this.#newBackoff()
    // A list that was just made needs no check that the member is still ahead of it.
    let check = !this.#options.sink.justListed()
    for (;;) {
      try {
        const cause = await this.#watchTurn({ path, backoff, check }, signal)
        if (cause) return this.#relistFor(cause)
      } catch (error) {
        signal.throwIfAborted()
        const expired = error instanceof MemberError && error.failure === 'expired'
        if (expired) return this.#relistFor('expired')
        await this.#wait(error, backoff, signal)
      }
      check = true
    }
  }

  async #watchTurn(
    turn: { path: string; backoff: Backoff; check: boolean },
    signal: AbortSignal,
  ): Promise<RelistCause | undefined> {
    if (turn.check && (await this.#wentBack(turn.path, signal))) return 'restored'
    const end = await this.#watchOnce(turn.path, signal)
    if (end.lasted) this.#steady(turn.backoff)
    else if (!end.relist) await this.#sleep(turn.backoff.next(), signal)
    return end.relist
  }

  /** A row of relists without a steady watch between them is slowed down. */
  #relistFor(cause: RelistCause): RelistCause {
    const pause = this.#relists.next()
    this.#pauseMilliseconds = this.#relists.failures > 1 ? pause : 0
    return cause
  }

  #steady(backoff: Backoff): void {
    backoff.reset()
    this.#relists.reset()
  }

  async #watchOnce(path: string, signal: AbortSignal): Promise<WatchEnd> {
    const { source, limits, sink } = this.#options
    const stream = new WatchStream(source, { path, limits, clock: this.#options.clock })
    return stream.run(
      {
        resourceVersion: this.#positions.get(path)!,
        opened: () => sink.following('watch'),
        event: (event) => sink.changed(event),
        advance: (resourceVersion) => {
          this.#positions.set(path, resourceVersion)
          sink.advance(this.#lowest())
        },
      },
      signal,
    )
  }

  /** After a restore from backup the member counts from an older number: a watch would wait in silence. */
  async #wentBack(path: string, signal: AbortSignal): Promise<boolean> {
    const { source } = this.#options
    const now = await readRevision(source, path, signal)
    const ours = this.#positions.get(path)!
    return isNumber(now) && isNumber(ours) && BigInt(now) < BigInt(ours)
  }

  /** What every path has passed: resuming there repeats some events, and misses none. */
  #lowest(): string {
    const all = this.#options.paths.map((path) => this.#positions.get(path) ?? '')
    if (!all.every(isNumber)) return all.length === 1 ? all[0]! : ''
    return all.reduce((lowest, one) => (BigInt(one) < BigInt(lowest) ? one : lowest))
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    await this.#wait(error, this.#backoff, signal)
  }

  /** @throws what is no fault of the member. */
  async #wait(error: unknown, backoff: Backoff, signal: AbortSignal): Promise<void> {
    if (!(error instanceof MemberError)) throw error
    // One broken connection, resumed at once, is no news to anybody.
    const hiccup = error.failure === 'unreachable' && backoff.failures === 0
    if (!hiccup) this.#options.sink.failed(error)
    const asked = (error.retryAfterSeconds ?? 0) * 1000
    await this.#sleep(Math.max(asked, backoff.next()), signal)
  }

  async #sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (milliseconds > 0)
      await this.#options.clock.sleep(milliseconds, signal).catch(() => undefined)
    signal.throwIfAborted()
  }

  #newBackoff(): Backoff {
    const { firstBackoffMilliseconds, mostBackoffMilliseconds } = this.#options.limits
    return new Backoff({
      firstMilliseconds: firstBackoffMilliseconds,
      mostMilliseconds: mostBackoffMilliseconds,
    })
  }
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text)
}
