/** What a followed type hands on: the seam between list and watch, and the mirror. */
import type { ListItem } from './list-splitter.ts'
import type { MemberError } from './member-error.ts'
import type { WatchEvent } from './watch-lines.ts'

/** Why a type is listed: a label of the metric, so a closed list. */
export const RELIST_CAUSES = [
  /** Nothing is stored yet, or not under this version. */
  'first',
  /** The member no longer knows the position (410). */
  'expired',
  /** The member counts from before the position: restored from a backup. */
  'restored',
  /** Another control plane answers under the address. */
  'replaced',
  /** A watch line could not be read, so an event is missing. */
  'unreadable',
  /** It cannot be watched. */
  'poll',
  /** A comparison found what the watch did not tell. */
  'reconciled',
  /** A namespace that could not be read may be read now. */
  'rights',
] as const

export type RelistCause = (typeof RELIST_CAUSES)[number]

export interface ListEnd {
  readonly kind: string
  readonly resourceVersion: string
  /** Those that the member refused. */
  readonly closedNamespaces: readonly string[]
}

export interface MirrorSink {
  /** The stored position, when a watch may go on there. */
  resumeFrom(): string | undefined
  beginList(cause: RelistCause): void
  /** One path begins: a namespace of several, or everything. */
  beginPart(): void
  /** The pages of this part are void: it begins again. */
  restartedPart(): void
  /** Waits while there is no room. */
  listed(item: ListItem): Promise<void>
  /** The list was complete: what it did not see is gone. Of closed namespaces it says nothing. */
  endList(list: ListEnd): Promise<void>
  /** The member refuses these namespaces from now on; the others go on. */
  closed(namespaces: readonly string[]): undefined
  /** True from the end of a list to the first watch after it. */
  justListed(): boolean
  /** ADDED, MODIFIED or DELETED. Waits while there is no room. */
  changed(event: WatchEvent): Promise<void>
  /** All events up to here were handed over. */
  advance(resourceVersion: string): void
  following(by: 'watch' | 'poll'): void
  /** It will be tried again. */
  failed(error: MemberError): void
}
