/**
 * Follows one type of one member: lists it, then watches from where the list was, for ever.
 *
 * Owns     when to resume and when to list anew, which failures end what, how long to wait.
 * Not here one request each (list-pages.ts, watch-stream.ts), what becomes of objects (type-mirror.ts).
 *
 * A type is followed under one path, or under one per namespace where only some are mirrored; a
 * namespace that the member refuses is asked for again from time to time, beside the others.
 */
import type { Clock } from '../clock.ts'
import { Backoff } from './backoff.ts'
import { type FollowedPath, FollowedPaths, isNumber } from './followed-paths.ts'
import { Freshness } from './freshness.ts'
import type { Gate } from './gate.ts'
import { type ListBounds, type ListSource, listPages } from './list-pages.ts'
import { MemberError } from './member-error.ts'
import type { MirrorSink, RelistCause } from './mirror-sink.ts'
import { readRevision } from './read-revision.ts'
import { type WatchEnd, WatchStream } from './watch-stream.ts'
import { TurnOver, type WatchTurns } from './watch-turns.ts'

export interface FollowLimits {
  readonly pageItems: number
  /** A larger object is refused. */
  readonly objectBytes: number
  /** A longer list has no end, and ends in a condition. */
  readonly list?: ListBounds
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
  /** Never empty. */
  readonly paths: readonly FollowedPath[]
  readonly watchable: boolean
  readonly limits: FollowLimits
  readonly clock: Clock
  readonly sink: MirrorSink
  /** Bound first lists, of the process and of the member. */
  readonly gates: readonly Gate[]
  /** Light types first. */
  readonly weight: number
  /** Left out: the watch is always open. */
  readonly turns?: WatchTurns
  /** It is known to, before one has come. */
  readonly sendsBookmarks?: boolean
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
  readonly #paths: FollowedPaths
  readonly #freshness: Freshness
  #watches: AbortController | undefined
  #wanted: RelistCause | undefined
  /** Before the next list. */
  #pauseMilliseconds = 0

  constructor(options: FollowOptions) {
    this.#options = options
    this.#paths = new FollowedPaths(options.paths)
    const { clock, sendsBookmarks = false } = options
    this.#freshness = new Freshness({ now: () => clock.now(), sendsBookmarks })
    this.#backoff = this.#newBackoff()
    this.#relists = this.#newBackoff()
  }

  /** Those that the member does not refuse. */
  get openPaths(): readonly FollowedPath[] {
    const open = new Set(this.#paths.open)
    return this.#options.paths.filter(({ path }) => open.has(path))
  }

  /** When the member last told of it, milliseconds since 1970; undefined: never, or it refuses all. */
  get heardAt(): number | undefined {
    return this.#freshness.heardAt(this.#paths.open)
  }

  /** Lists anew as soon as may be, without losing what is being written. */
  requestRelist(cause: RelistCause): void {
    this.#wanted = cause
    this.#watches?.abort(new RelistWanted(cause))
  }

  /** Ends only by throwing: the signal's reason, or what the sink threw because it cannot go on. */
  async run(signal: AbortSignal): Promise<never> {
    const { sink, watchable } = this.#options
    const from = sink.resumeFrom()
    let cause: RelistCause | undefined = from === undefined ? 'first' : this.#wanted
    if (from !== undefined) for (const path of this.#paths.all) this.#paths.move(path, from)
    for (;;) {
      if (cause) await this.#listUntilDone(cause, signal)
      cause =
        watchable && this.#paths.canWatch ? await this.#watchAll(signal) : await this.#poll(signal)
      await this.#sleep(this.#pauseMilliseconds, signal)
      this.#pauseMilliseconds = 0
    }
  }

  async #listUntilDone(cause: RelistCause, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        this.#wanted = undefined
        this.#options.sink.beginList(cause)
        await this.#inGates(cause === 'first', () => this.#list(cause, signal), signal)
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

  async #list(cause: RelistCause, signal: AbortSignal): Promise<void> {
    const { sink } = this.#options
    let kind = ''
    let refusal: MemberError | undefined
    this.#paths.forgetRefusals()
    for (const path of this.#paths.all) {
      sink.beginPart()
      try {
        kind = await this.#listPath(path, cause, signal)
      } catch (error) {
        if (!this.#isRefusal(error)) throw error
        this.#paths.refuse(path)
        refusal = error
      }
    }
    if (refusal && this.#paths.open.length === 0) throw refusal
    const { lowest, closedNamespaces } = this.#paths
    await sink.endList({ kind, resourceVersion: lowest, closedNamespaces })
  }

  async #listPath(path: string, cause: RelistCause, signal: AbortSignal): Promise<string> {
    const { source, limits, sink } = this.#options
    const { kind, resourceVersion } = await listPages(source, {
      path,
      pageItems: limits.pageItems,
      // What the watch did not tell, a list from the same cache would not either.
      fromStorage: cause === 'reconciled',
      objectBytes: limits.objectBytes,
      ...(limits.list && { most: limits.list }),
      signal,
      restarted: () => sink.restartedPart(),
      item: (item) => sink.listed(item),
    })
    this.#paths.move(path, resourceVersion)
    this.#freshness.heard(path)
    return kind
  }

  #isRefusal(error: unknown): error is MemberError {
    return this.#paths.isDivided && error instanceof MemberError && error.failure === 'forbidden'
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
      if (cause) watches.abort(new RelistWanted(cause))
    }
    const asking = this.#askRefused(watches, all)
    const ended = await Promise.allSettled([...this.#paths.open.map(run), asking])
    signal.throwIfAborted()
    const fatal = ended.find(
      (one) => one.status === 'rejected' && !(one.reason instanceof RelistWanted),
    )
    if (fatal?.status === 'rejected') throw fatal.reason
    const reason: unknown = watches.signal.reason
    return reason instanceof RelistWanted ? reason.relistCause : 'expired'
  }

  /** A namespace that may be read again is listed with the others: then all have one position. */
  async #askRefused(watches: AbortController, signal: AbortSignal): Promise<void> {
    const { source, limits } = this.#options
    while (this.#paths.isDivided) {
      await this.#sleep(limits.mostBackoffMilliseconds, signal)
      for (const path of this.#paths.refused) {
        const answers = await readRevision(source, path, signal).then(
          () => true,
          () => false,
        )
        if (answers) return watches.abort(new RelistWanted('rights'))
      }
      if (this.#paths.open.length === 0) return watches.abort(new RelistWanted('rights'))
    }
  }

  /** @returns why to list; undefined when the member refuses this path now. */
  async #watchPath(path: string, signal: AbortSignal): Promise<RelistCause | undefined> {
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
        if (this.#isRefusal(error)) {
          this.#paths.refuse(path)
          return this.#options.sink.closed(this.#paths.closedNamespaces)
        }
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
    if (end.how === 'silent') this.#freshness.fellSilent(turn.path)
    if (end.how === 'complete') this.#freshness.heard(turn.path)
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
    const { turns } = this.#options
    if (!turns) return this.#openWatch(path, this.#options.limits, signal)
    return turns.run(async (turn) => {
      const { seconds } = turn
      const limits = {
        ...this.#options.limits,
        ...(seconds && { leastWatchSeconds: seconds, mostWatchSeconds: seconds }),
      }
      try {
        return await this.#openWatch(path, limits, AbortSignal.any([signal, turn.signal]))
      } catch (error) {
        if (error instanceof TurnOver) return { lasted: true }
        throw error
      }
    }, signal)
  }

  async #openWatch(path: string, limits: FollowLimits, signal: AbortSignal): Promise<WatchEnd> {
    const { source, sink, clock } = this.#options
    const freshness = this.#freshness
    const stream = new WatchStream(source, { path, limits, clock })
    return stream.run(
      {
        resourceVersion: this.#paths.positionOf(path),
        opened: () => {
          freshness.opened(path)
          sink.following('watch')
        },
        event: (event) => sink.changed(event),
        bookmark: () => freshness.bookmark(),
        advance: (resourceVersion) => {
          freshness.heard(path)
          this.#paths.move(path, resourceVersion)
          sink.advance(this.#paths.lowest)
        },
      },
      signal,
    )
  }

  /** After a restore from backup the member counts from an older number: a watch would wait in silence. */
  async #wentBack(path: string, signal: AbortSignal): Promise<boolean> {
    const { source } = this.#options
    const now = await readRevision(source, path, signal)
    const ours = this.#paths.positionOf(path)
    return isNumber(now) && isNumber(ours) && BigInt(now) < BigInt(ours)
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
