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

/** The words that errors of member clusters carry (sync/member-error.ts). */
const FAILURES = [
  'unreachable',
  'certificate',
  'unauthorized',
  'forbidden',
  'not-found',
  'expired',
  'throttled',
  'server',
  'rubbish',
] as const

export type ReadFailure = (typeof FAILURES)[number]

/** Undefined: it is no error of a member cluster. */
export function readFailure(error: unknown): ReadFailure | undefined {
  const failure = error instanceof Error && 'failure' in error ? error.failure : undefined
  return FAILURES.find((one) => one === failure)
}

/** Whether the cluster itself is out of reach, not this one thing. */
export function isOfConnection(error: unknown): boolean {
  const failure = readFailure(error)
  return failure === 'unreachable' || failure === 'certificate' || failure === 'unauthorized'
}
