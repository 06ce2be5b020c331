/**
 * One watch request: from a resourceVersion until it ends, breaks off, or falls silent.
 *
 * Nothing is dropped: a line that cannot be read ends the watch and asks for a list, because an
 * event is missing that no later one brings back.
 */
import type { Clock } from '../clock.ts'
import { JsonError } from './json-bytes.ts'
import type { ListSource } from './list-pages.ts'
import type { FollowLimits } from './list-watch.ts'
import { connectionError, MemberError } from './member-error.ts'
import type { RelistCause } from './mirror-sink.ts'
import { versionOf } from './object-identity.ts'
import { LineSplitter, LineTooLong, readWatchEvent, type WatchEvent } from './watch-lines.ts'

export interface WatchEnd {
  /** It worked for long enough to end a row of failures. */
  readonly lasted: boolean
  /** Left out: go on from the last position. */
  readonly relist?: RelistCause
  /** The server ended it in its own time, or nothing came of it for too long. */
  readonly how?: 'complete' | 'silent'
}

export interface WatchHandlers {
  readonly resourceVersion: string
  /** The member accepted the watch. */
  readonly opened: () => void
  readonly event: (event: WatchEvent) => Promise<void>
  readonly bookmark: () => void
  /** After an event was handled, and for bookmarks. */
  readonly advance: (resourceVersion: string) => void
}

export interface WatchOptions {
  readonly path: string
  readonly limits: FollowLimits
  readonly clock: Clock
}

/** What an event holds beside its object. */
const ENVELOPE_BYTES = 1024

export class WatchStream {
  readonly #source: ListSource
  readonly #options: WatchOptions
  #timer: NodeJS.Timeout | undefined
  #lastLook: NodeJS.Immediate | undefined
  #events = 0

  constructor(source: ListSource, options: WatchOptions) {
    this.#source = source
    this.#options = options
  }

  /** @throws MemberError when the member refuses or the connection breaks; the position stays good. */
  async run(handlers: WatchHandlers, signal: AbortSignal): Promise<WatchEnd> {
    const idle = new AbortController()
    const startedAt = this.#options.clock.now()
    try {
      this.#arm(idle)
      const body = await this.#open(
        handlers.resourceVersion,
        AbortSignal.any([signal, idle.signal]),
      )
      handlers.opened()
      const relist = await this.#read(body, handlers, idle)
      const lasted = this.#lasted(startedAt)
      return { lasted, ...(relist ? { relist } : lasted && { how: 'complete' }) }
    } catch (error) {
      signal.throwIfAborted()
      // Silence is no failure of the member: a balancer forgot the connection.
      if (idle.signal.aborted) return { lasted: this.#lasted(startedAt), how: 'silent' }
      if (this.#lasted(startedAt) && isBroken(error)) return { lasted: true }
      throw error
    } finally {
      this.#disarm()
    }
  }

  #lasted(startedAt: number): boolean {
    const { clock, limits } = this.#options
    return this.#events > 0 || clock.now() - startedAt >= limits.steadyMilliseconds
  }

  async #open(resourceVersion: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    const { leastWatchSeconds: least, mostWatchSeconds: most } = this.#options.limits
    const seconds = Math.round(least + Math.random() * (most - least))
    const { body } = await this.#source.client.open({
      path: this.#options.path,
      query: {
        ...this.#source.query,
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion,
        timeoutSeconds: String(seconds),
      },
      asked: `watch ${this.#source.resource}`,
      endless: true,
      signal,
    })
    return body
  }

  async #read(
    body: AsyncIterable<Buffer>,
    handlers: WatchHandlers,
    idle: AbortController,
  ): Promise<RelistCause | undefined> {
    const splitter = new LineSplitter(this.#options.limits.objectBytes + ENVELOPE_BYTES)
    try {
      for await (const chunk of brokenAsMemberErrors(body)) {
        // Handling may take long, and is no silence of the member's.
        this.#disarm()
        for (const line of splitter.push(chunk)) {
          const relist = await this.#line(line, handlers)
          if (relist) return relist
        }
        this.#arm(idle)
      }
    } catch (error) {
      if (error instanceof JsonError || error instanceof LineTooLong) return 'unreadable'
      throw error
    }
    return undefined
  }

  async #line(line: Buffer, handlers: WatchHandlers): Promise<RelistCause | undefined> {
    const event = readWatchEvent(line)
    if (event.type === 'ERROR') return this.#errorEvent(event.object)
    this.#events++
    if (event.type !== 'BOOKMARK') await handlers.event(event)
    else handlers.bookmark()
    const version = versionOf(event.object)
    if (version !== '') handlers.advance(version)
    return undefined
  }

  /** A Status inside the stream. Its code says what it is; texts differ between servers. */
  #errorEvent(object: Buffer): RelistCause {
    const { code, reason } = readStatus(object)
    if (code === 410 || reason === 'Expired' || reason === 'Gone') return 'expired'
    const asked = `watch ${this.#source.resource}`
    throw this.#source.client.refusal({ statusCode: code, body: object, asked })
  }

  #arm(idle: AbortController): void {
    this.#disarm()
    this.#timer = setTimeout(() => this.#giveUp(idle), this.#options.limits.idleMilliseconds)
  }

  /**
   * After what has already arrived was read: where this process itself was held up, timers come
   * first, and every watch would be opened again at once.
   */
  #giveUp(idle: AbortController): void {
    this.#lastLook = setImmediate(() => idle.abort())
  }

  #disarm(): void {
    clearTimeout(this.#timer)
    clearImmediate(this.#lastLook)
  }
}

function readStatus(object: Buffer): { code: number; reason: string } {
  try {
    const { code, reason } = JSON.parse(object.toString('utf8'))
    return { code: typeof code === 'number' ? code : 500, reason: String(reason) }
  } catch (error) {
    throw new JsonError('the error event has no Status', { cause: error })
  }
}

function isBroken(error: unknown): boolean {
  return error instanceof MemberError && error.failure === 'unreachable'
}

async function* brokenAsMemberErrors(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await chunks.next().catch((error: unknown) => {
        throw connectionError(error)
      })
      if (done) return
      yield value
    }
  } finally {
    await chunks.return?.()
  }
}
