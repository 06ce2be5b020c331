/** Watches: the state first where asked for, then every change, with bookmarks in between. */
import type { Clock } from '../../clock.ts'
import type { GroupVersionResource } from '../../kube/group-resource.ts'
import type { ResourceRequest } from './list.ts'
import { type ListOptions, readListOptions } from './list-options.ts'
import type { Change, ObjectHistory } from './object-history.ts'
import { type Output, statusJson } from './reply.ts'
import { type Representation, representationOf } from './representation.ts'
import type { MemberRequest } from './request.ts'
import { readSelection, type Selection } from './selection.ts'
import { storageOf } from './served-resources.ts'
import { atRevision, type StoredObject } from './stored-object.ts'

/** How kube-apiserver bounds watches that name no end themselves. */
const LONGEST_WATCH_SECONDS = 3600
/** The last bookmark comes this long before a watch ends by its own timeout. */
const BOOKMARK_BEFORE_END_SECONDS = 2

/** One watch that a client holds open. */
export interface OpenWatch {
  readonly of: GroupVersionResource
  readonly request: MemberRequest
  /** Ends the stream as a timeout does. */
  end(): void
  /** Sends bytes between the events; faults do. */
  sendRaw(bytes: Buffer): void
  sendBookmark(): void
}

export interface WatchOptions {
  readonly bookmarkSeconds: number
  readonly clock: Clock
}

/** Starts answering; returns the watch, which `closed` is told of when it is over. */
export function watchObjects(
  asked: ResourceRequest,
  to: { output: Output; options: WatchOptions; closed: (watch: OpenWatch) => void },
): OpenWatch {
  const { request, resource, history } = asked
  const watch = new Watch({
    representation: representationOf(resource, request.headers.accept ?? ''),
    options: readListOptions(request),
    selection: readSelection(request, resource),
    of: storageOf(resource),
    history,
    output: to.output,
  })
  const { response } = to.output
  response.writeHead(200, {
    'content-type': 'application/json',
    'cache-control': 'no-cache, private',
  })
  response.flushHeaders()
  const open: OpenWatch = {
    of: { group: resource.group, version: resource.version, resource: resource.resource },
    request,
    end: () => watch.end(),
    sendRaw: (bytes) => to.output.write(bytes),
    sendBookmark: () => watch.bookmark(),
  }
  response.once('close', () => {
    watch.stop()
    to.closed(open)
  })
  watch.start(to.options)
  return open
}

class Watch {
  readonly #representation: Representation
  readonly #options: ListOptions
  readonly #selection: Selection
  readonly #of: string
  readonly #history: ObjectHistory
  readonly #output: Output
  readonly #stopped = new AbortController()
  #unsubscribe: (() => void) | undefined

  constructor(of: {
    representation: Representation
    options: ListOptions
    selection: Selection
    of: string
    history: ObjectHistory
    output: Output
  }) {
    this.#representation = of.representation
    this.#options = of.options
    this.#selection = of.selection
    this.#of = of.of
    this.#history = of.history
    this.#output = of.output
  }

  start({ bookmarkSeconds, clock }: WatchOptions): void {
    const { revision, timeoutSeconds } = this.#options
    const fromState = revision === undefined || revision === 0n || this.#options.sendInitialEvents
    if (!fromState && revision < this.#history.floor) {
      this.#tooOld(revision)
      return
    }
    if (fromState) this.#sendState()
    else for (const change of this.#history.changesSince(this.#of, revision)) this.#send(change)
    const above = revision ?? 0n
    this.#unsubscribe = this.#history.subscribe((change) => {
      // A revision from the future is waited for, as recorded.
      if (change.of === this.#of && change.revision > above) this.#send(change)
    })
    void this.#bookmarkEvery(bookmarkSeconds, clock)
    void this.#endAfter(timeoutSeconds || LONGEST_WATCH_SECONDS, clock)
  }

  bookmark(annotations?: Readonly<Record<string, string>>): void {
    if (!this.#options.bookmarks) return
    this.#event('BOOKMARK', this.#representation.bookmark(this.#history.revision, annotations))
  }

  end(): void {
    this.stop()
    this.#output.end()
  }

  stop(): void {
    this.#stopped.abort()
    this.#unsubscribe?.()
  }

  #sendState(): void {
    for (const object of this.#history.snapshot(this.#of)) {
      if (this.#selection.matches(object)) this.#object('ADDED', object)
    }
    if (this.#options.sendInitialEvents) this.bookmark({ 'k8s.io/initial-events-end': 'true' })
  }

  /** To a watcher of a selection, entering it is an addition and leaving it a deletion. */
  #send(change: Change): void {
    const { object, previous, revision } = change
    const was = previous !== undefined && this.#selection.matches(previous)
    const is = change.type !== 'DELETED' && this.#selection.matches(object)
    if (is) this.#object(was ? 'MODIFIED' : 'ADDED', object)
    else if (was) this.#object('DELETED', atRevision(previous, revision))
  }

  #object(type: Change['type'], object: StoredObject): void {
    this.#event(type, this.#representation.single(object))
  }

  #event(type: string, object: Buffer | string): void {
    this.#output.write(
      Buffer.concat([
        Buffer.from(`{"type":"${type}","object":`),
        Buffer.from(object),
        Buffer.from('}\n'),
      ]),
    )
  }

  #tooOld(revision: bigint): void {
    const message = `too old resource version: ${revision} (${this.#history.floor})`
    this.#event('ERROR', statusJson({ code: 410, reason: 'Expired', message }))
    this.end()
  }

  async #bookmarkEvery(seconds: number, clock: Clock): Promise<void> {
    while (await this.#wait(seconds, clock)) this.bookmark()
  }

  async #endAfter(seconds: number, clock: Clock): Promise<void> {
    const last = Math.min(seconds, BOOKMARK_BEFORE_END_SECONDS)
    if (await this.#wait(seconds - last, clock)) this.bookmark()
    if (await this.#wait(last, clock)) this.end()
  }

  /** False when the watch is over. */
  async #wait(seconds: number, clock: Clock): Promise<boolean> {
    const { signal } = this.#stopped
    try {
      await clock.sleep(seconds * 1000, signal)
    } catch {
      return false // aborted while asleep
    }
    return !signal.aborted
  }
}
