/** How a live cluster is read, whoever makes the connection: two calls, and what their errors say. */
import type { Fields } from '../printers/read-field.ts'

export interface ListAsked {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** Only to know whether it may be listed: one object is enough. */
  readonly isProbe: boolean
}

export interface ListCall extends ListAsked {
  /** The plural, for messages. */
  readonly resource: string
  readonly signal: AbortSignal
  /** What is kept of an object. */
  readonly keep: (object: Fields) => Fields
}

/** Get and list only. */
export interface MemberReader {
  /** All pages of a list. @throws when the last one was not reached, or an item is no object. */
  list(call: ListCall): Promise<readonly Fields[]>
  readJson(
    path: string,
    signal: AbortSignal,
    query?: Readonly<Record<string, string>>,
  ): Promise<unknown>
  close(): Promise<void>
}

/** `connection`: the cluster itself is out of reach, not this one thing. */
export type ReadFailure = 'connection' | 'not-found' | 'throttled' | 'other'

/** By the word that errors of member clusters carry (sync/member-error.ts). */
export function readFailure(error: unknown): ReadFailure {
  const failure = error instanceof Error && 'failure' in error ? error.failure : undefined
  switch (failure) {
    case 'unreachable':
    case 'certificate':
    case 'unauthorized':
      return 'connection'
    case 'not-found':
    case 'throttled':
      return failure
    default:
      return 'other'
  }
}
