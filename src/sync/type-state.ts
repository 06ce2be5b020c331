/** How the sync of one type goes, in the words of its condition. */
import type { SyncStatus } from '../kube/pedia-cluster.ts'
import { REASON } from './member-error.ts'
import type { MirrorState } from './type-mirror.ts'

export type InitialListPhase = 'Pending' | 'Running' | 'Finished'

export interface TypeState {
  readonly status: SyncStatus
  readonly reason: string
  readonly message: string
  readonly initialListPhase: InitialListPhase
}

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
      return {
        status: 'Syncing',
        reason:
          news.refused === '' ? (news.by === 'watch' ? 'Watching' : 'Polling') : 'ObjectsRefused',
        message: news.refused,
        initialListPhase: 'Finished',
      }
    case 'failed':
      return {
        status: 'Error',
        reason: REASON[news.error.failure],
        message: news.error.message,
        initialListPhase: before.initialListPhase,
      }
  }
}

/** A relist is no trouble of its own; what was wrong before stays said until a watch is open again. */
function relisting({ status, reason, message }: TypeState): Omit<TypeState, 'initialListPhase'> {
  return status === 'Error' ? { status, reason, message } : { status: 'Syncing', reason, message }
}

export function sameState(a: TypeState, b: TypeState): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.initialListPhase === b.initialListPhase
  )
}
