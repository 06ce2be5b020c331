/** How the sync of one type goes, in the words of its condition. */
import type { SyncStatus } from '../kube/pedia-cluster.ts'
import { REASON } from './member-error.ts'
import type { Lag, MirrorState } from './type-mirror.ts'

export type InitialListPhase = 'Pending' | 'Running' | 'Finished'

export interface TypeState {
  readonly status: SyncStatus
  readonly reason: string
  readonly message: string
  readonly initialListPhase: InitialListPhase
  /** Since when it is no longer in step, where that is earlier than its being said; milliseconds since 1970. */
  readonly since?: number
}

export const LAGGING = 'Lagging'

/** Before anything was asked, of a type that was never listed completely. */
export const PENDING: TypeState = {
  status: 'Pending',
  reason: 'Pending',
  message: 'waits for its first list',
  initialListPhase: 'Pending',
}

/** What the state becomes. Once the first list is complete it stays so. */
export function nextState(before: TypeState, news: MirrorState): TypeState {
  const finished = before.initialListPhase === 'Finished'
  switch (news.phase) {
    case 'listing':
      if (finished) return { ...before, ...relisting(before) }
      return { status: 'Pending', reason: 'Listing', message: '', initialListPhase: 'Running' }
    case 'following':
      return { ...following(news), initialListPhase: 'Finished' }
    case 'failed':
      return {
        status: 'Error',
        reason: REASON[news.error.failure],
        message: news.error.message,
        initialListPhase: before.initialListPhase,
      }
    case 'lagging':
      return { ...lagging(news.lag), initialListPhase: before.initialListPhase }
  }
}

/** Since when, not for how long: what is said once must stay true. */
function lagging({ since, why }: Lag): Omit<TypeState, 'initialListPhase'> {
  const at = new Date(since).toISOString().replace(/\.\d+Z$/, 'Z')
  const said = why === 'silent' ? `last event ${at}` : `changes wait to be stored since ${at}`
  // Readers are warned: what they are shown may be older than it looks.
  return { status: 'Error', reason: LAGGING, message: `${LAGGING}: ${said}`, since }
}

function following({
  by,
  refused,
  closedNamespaces,
}: Extract<MirrorState, { phase: 'following' }>): Omit<TypeState, 'initialListPhase'> {
  if (closedNamespaces.length > 0) {
    const closed = `${REASON.forbidden}: cannot read the namespaces ${someOf(closedNamespaces)}; the others are in step`
    const message = refused === '' ? closed : `${closed}; ${refused}`
    // Readers are warned: an answer lacks what these hold.
    return { status: 'Error', reason: REASON.forbidden, message }
  }
  if (refused !== '') return { status: 'Syncing', reason: 'ObjectsRefused', message: refused }
  return { status: 'Syncing', reason: by === 'watch' ? 'Watching' : 'Polling', message: '' }
}

const NAMED = 5

function someOf(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : ''
  return names.slice(0, NAMED).join(', ') + more
}

/** A relist is no trouble of its own; what was wrong before stays said until a watch is open again. */
function relisting(before: TypeState): Omit<TypeState, 'initialListPhase'> {
  return before.status === 'Error' ? before : { ...before, status: 'Syncing' }
}

export function sameState(a: TypeState, b: TypeState): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.initialListPhase === b.initialListPhase
  )
}
