/**
 * Which part of an answer a request gets: page size, where it starts, whether more may follow.
 *
 * A `limit` or `offset` search label caps the whole answer: it wins over kubectl's own page size,
 * and no `continue` follows unless it is asked for.
 */
import { type ContinueFrom, type Position, parseContinue } from '../../kube/continue-token.ts'
import type { ListOptions } from '../../kube/list-options.ts'
import type { Search } from '../../kube/search.ts'

export interface Page {
  /** Left out: everything. */
  readonly limit?: number
  readonly offset?: number
  readonly after?: Position
  /** How many objects stand before the page. */
  readonly seen: number
  /** Whether the answer may hold a `continue`. */
  readonly mayContinue: boolean
}

export interface PageParts {
  readonly options: ListOptions
  readonly search: Search
  /** Of the query, for the continue token. */
  readonly checksum: string
  /** What holds when the reader says nothing: Clusterpedia gives no token unless it is asked. */
  readonly continueByDefault: boolean
}

/** @throws 400 `BadRequest` for a token that is none, or belongs to another query. */
export function pageOf({ options, search, checksum, continueByDefault }: PageParts): Page {
  const limit = search.limit ?? options.limit
  const capped = search.limit !== undefined || search.offset !== undefined
  const mayContinue = search.withContinue ?? (continueByDefault && !capped)
  const from = options.continue ? parseContinue(options.continue, checksum) : undefined
  return {
    ...startOf(from, search.offset ?? 0),
    ...(limit !== undefined && limit > 0 && { limit }),
    mayContinue,
  }
}

/** As the store is asked: one row more than the page holds tells whether another page follows. */
export function rowsOfPage({ limit, offset, after, mayContinue }: Page) {
  return {
    ...(limit !== undefined && { limit: mayContinue ? limit + 1 : limit }),
    ...(offset !== undefined && { offset }),
    ...(after && { after }),
  }
}

/** Once a token is sent, an offset label is ignored: the page before has heeded it. */
function startOf(from: ContinueFrom | undefined, offsetLabel: number) {
  if (from?.kind === 'key') return { after: from.after, seen: from.seen }
  const offset = from?.offset ?? offsetLabel
  return { seen: offset, ...(offset > 0 && { offset }) }
}
