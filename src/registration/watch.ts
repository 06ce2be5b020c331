/**
 * Watch: the state first if asked for, then every change, in the order of commits.
 *
 * A watcher reads events from the store by revision, so nothing is lost between two readings, and
 * a slow one holds no memory but the page that it is at.
 */
import type { Clock } from '../clock.ts'
import type { JsonObject } from '../kube/kube-object.ts'
import { type Status, StatusError, toStatus } from '../kube/status-error.ts'
import { type RegistrationEvent, readRegistrationEvents } from '../store/registrations.ts'
import { field, withPath } from './json-text.ts'
import type { RegistrationKind } from './kinds.ts'
import { listObjects, served } from './list.ts'
import type { Wake, Wakes } from './wakes.ts'
import type { RegistrationContext } from './write-object.ts'

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: JsonObject }
  /** `initialEventsEnd` marks the end of the state that was sent first. */
  | {
      readonly type: 'BOOKMARK'
      readonly resourceVersion: string
      readonly initialEventsEnd: boolean
    }
  | { readonly type: 'ERROR'; readonly status: Status }

export interface WatchRequest {
  readonly kind: RegistrationKind
  readonly selects: (object: JsonObject) => boolean
  /** Changes after this revision; left out or 0, the state first. */
  readonly after?: bigint
  readonly bookmarks: boolean
  /** The state first even so, closed by a bookmark. */
  readonly initialEvents: boolean
}

const EVENTS_PER_PAGE = 200
const BOOKMARK_EVERY_MILLISECONDS = 60_000

/** Ends when `signal` is aborted, and after an ERROR. */
export async function* watchObjects(
  context: RegistrationContext & { readonly wakes: Wakes },
  request: WatchRequest,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent> {
  const wake = context.wakes.subscribe(signal)
  const withState = request.initialEvents || !request.after
  let position = request.after ?? 0n
  if (withState) {
    const { items, resourceVersion } = await listObjects(context, {
      kind: request.kind,
      selects: request.selects,
    })
    position = BigInt(resourceVersion)
    for (const { object } of items) yield { type: 'ADDED', object }
    if (request.initialEvents && request.bookmarks) {
      yield { type: 'BOOKMARK', resourceVersion, initialEventsEnd: true }
    }
  }
  yield* follow(context, { request, position, wake, signal })
}

interface Following {
  readonly request: WatchRequest
  readonly position: bigint
  readonly wake: Wake
  readonly signal: AbortSignal
}

async function* follow(
  context: RegistrationContext,
  { request, position: start, wake, signal }: Following,
): AsyncGenerator<WatchEvent> {
  const bookmarks = bookmarkTimer(context.clock, request.bookmarks)
  let position = start
  while (!signal.aborted) {
    const woken = wake(BOOKMARK_EVERY_MILLISECONDS)
    const page = await readPage(context, request, position)
    yield* page.events
    if (page.ended) return
    position = page.position
    if (page.isFull) continue
    if (bookmarks.isDue()) yield bookmarkAt(position)
    await woken
  }
}

interface Page {
  readonly events: readonly WatchEvent[]
  /** Everything up to here was looked through. */
  readonly position: bigint
  /** There may be more at once. */
  readonly isFull: boolean
  /** The events say why. */
  readonly ended: boolean
}

async function readPage(
  { store }: RegistrationContext,
  { kind, selects }: WatchRequest,
  position: bigint,
): Promise<Page> {
  const page = await readRegistrationEvents(store, kind, {
    after: position.toString(),
    limit: EVENTS_PER_PAGE,
  })
  if (position < BigInt(page.floor)) {
    const status = tooOld(position, page.floor)
    return { events: [{ type: 'ERROR', status }], position, isFull: false, ended: true }
  }
  const isFull = page.events.length === EVENTS_PER_PAGE
  // The newest revision may be another kind's change; a watcher may be ahead of all of them.
  const newest = BigInt(isFull ? page.events.at(-1)!.resourceVersion : page.latest)
  return {
    events: page.events.flatMap((event) => asSeenBy(selects, event) ?? []),
    position: newest > position ? newest : position,
    isFull,
    ended: false,
  }
}

function bookmarkAt(position: bigint): WatchEvent {
  return { type: 'BOOKMARK', resourceVersion: position.toString(), initialEventsEnd: false }
}

function bookmarkTimer(clock: Clock, wanted: boolean) {
  let last = clock.now()
  return {
    isDue: () => {
      if (!wanted || clock.now() - last < BOOKMARK_EVERY_MILLISECONDS) return false
      last = clock.now()
      return true
    },
  }
}

/** Objects enter and leave a selection: to this watcher they were added and deleted. */
function asSeenBy(
  selects: (object: JsonObject) => boolean,
  event: RegistrationEvent,
): WatchEvent | undefined {
  const object = served(event.object).object
  const previous = event.previous === null ? undefined : served(event.previous).object
  const before = previous !== undefined && selects(previous)
  if (event.type === 'DELETED') return before ? { type: 'DELETED', object } : undefined
  const after = selects(object)
  if (after) return { type: before ? 'MODIFIED' : 'ADDED', object }
  if (!before) return undefined
  // As it was when it was last selected, with the revision at which it left.
  const resourceVersion = field(object, 'metadata', 'resourceVersion')
  const left = withPath(previous, ['metadata', 'resourceVersion'], resourceVersion)
  return { type: 'DELETED', object: left }
}

function tooOld(wanted: bigint, floor: string): Status {
  return toStatus(new StatusError('Expired', `too old resource version: ${wanted} (${floor})`))
}
