/**
 * Reads mirrored objects as they lie in the store, across clusters, in a total order.
 *
 * Every function takes the reader's scope; an empty one is answered without a query. What is
 * returned are slices of PostgreSQL's answer: no string is made of an object.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { ClusterStages } from './cluster-stages.ts'
import type { Store } from './connect.ts'
import { countQuery, type ListQuery, listQuery } from './list-query.ts'
import type { ListRequest, ObjectCondition, PageRequest, RawRow } from './list-request.ts'
import { fromPostgres } from './pg-error.ts'
import { PortalReader, READ_LIMITS, type ReadLimits } from './portal-reader.ts'
import type { RawStatement } from './raw-query.ts'
import { type RowShape, rowReader } from './raw-row.ts'
import type { ReadScope } from './read-scope.ts'
import { readRows } from './readers.ts'
import { isInterruption } from './retry.ts'
import { visibleClusters } from './scope-filter.ts'

export interface ReadOptions {
  /** Ends the query too, when nothing of it has come yet. */
  readonly signal?: AbortSignal
  readonly limits?: ReadLimits
}

/**
 * Streams the rows of a list, in batches.
 *
 * A slow consumer is waited for without a transaction; the list then goes on by key. So each key
 * comes at most once, but rows of a long list are not all of one moment.
 *
 * @throws StatusError when the database does not answer, or when `after` is not of this order.
 */
export async function* listObjects(
  store: Store,
  request: ListRequest,
  { signal, limits = READ_LIMITS }: ReadOptions = {},
): AsyncGenerator<readonly RawRow[]> {
  const stages = new ClusterStages({ ...request, scope: visibleClusters(request.scope) })
  for (let stage = stages.next(); stage; stage = stages.next()) {
    const read = { query: (rest: ListRequest) => listQuery(store, rest), scope: stage.scope }
    for await (const rows of readPage(store, stage, { ...read, signal, limits })) {
      stages.delivered(rows.length)
      yield rows
    }
  }
}

export interface PageReading<Request extends PageRequest> {
  readonly query: (request: Request) => ListQuery
  /** Every cluster that a row may be of. */
  readonly scope: ReadScope
  readonly signal: AbortSignal | undefined
  readonly limits: ReadLimits
}

/** Before each attempt to go on with a list whose connection was lost: a failover takes seconds. */
const GO_ON_AFTER_MILLISECONDS = [0, 100, 400, 1_000, 2_000, 4_000]

/**
 * Streams what one query finds, and goes on by key where it was interrupted: by a slow consumer, a
 * standby whose replay needed the rows, or the end of a server that another one takes over from.
 */
export async function* readPage<Request extends PageRequest>(
  store: Store,
  page: Request,
  reading: PageReading<Request>,
): AsyncGenerator<readonly RawRow[]> {
  let rest: Request | undefined = page
  let failures = 0
  while (rest && rest.limit !== 0) {
    reading.signal?.throwIfAborted()
    const progress: Progress = { delivered: 0, last: undefined, began: failures > 0 }
    try {
      const outcome: PortalReader['outcome'] = yield* readPart(store, rest, { reading, progress })
      if (outcome === 'complete') return
    } catch (error) {
      if (progress.delivered > 0) failures = 0
      const pause = GO_ON_AFTER_MILLISECONDS[failures++]
      if (!progress.began || pause === undefined || !isInterruption(error)) {
        throw fromPostgres(error)
      }
      await delay(pause, undefined, { ...(reading.signal && { signal: reading.signal }) })
    }
    rest = remaining(rest, progress)
  }
}

/** One query of it. @returns whether anything can follow. */
async function* readPart<Request extends PageRequest>(
  store: Store,
  rest: Request,
  { reading, progress }: { reading: PageReading<Request>; progress: Progress },
): AsyncGenerator<readonly RawRow[], PortalReader['outcome']> {
  const { query: queryOf, scope, signal, limits } = reading
  const query = queryOf(rest)
  const reader = await PortalReader.open(store, query.compiled, limits)
  progress.began = true
  const abort = () => reader.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted) abort() // while a connection was waited for
  try {
    yield* rowsOf(reader, rowReader(shapeOf(query, scope)), progress)
    return reader.outcome
  } finally {
    signal?.removeEventListener('abort', abort)
    reader.stop()
  }
}

function shapeOf({ order, columns }: ListQuery, scope: ReadScope): RowShape {
  return { order, columns, clusterNames: new Map(scope.map(({ id, name }) => [id, name])) }
}

interface Progress {
  delivered: number
  last: RawRow | undefined
  /** There was a connection: a server that cannot be reached in the first place is told at once. */
  began: boolean
}

async function* rowsOf(
  reader: PortalReader,
  read: (body: Buffer) => RawRow,
  progress: Progress,
): AsyncGenerator<readonly RawRow[]> {
  for (let bodies = await reader.take(); bodies; bodies = await reader.take()) {
    const rows = bodies.map(read)
    progress.delivered += rows.length
    progress.last = rows.at(-1)
    yield rows
  }
}

/** What is left of a request after an interruption; an offset is used up with the first row. */
function remaining<Request extends PageRequest>(
  request: Request,
  { delivered, last }: Progress,
): Request {
  if (!last) return request
  return {
    ...request,
    offset: 0,
    after: last.position(),
    ...(request.limit !== undefined && { limit: request.limit - delivered }),
  }
}

/** How many rows a list has in all: `after`, `offset` and `limit` do not count. */
export async function countObjects(store: Store, request: ListRequest): Promise<number> {
  const scope = visibleClusters(request.scope)
  return scope.length === 0 ? 0 : countRows(store, countQuery(store, { ...request, scope }))
}

/** What a query for one number gives. */
export async function countRows(store: Store, statement: RawStatement): Promise<number> {
  const rows = await readRows<{ count: string }>(store.readers, statement)
  return Number(rows[0]?.count ?? 0)
}

/** One object of every cluster of the scope that has it, by cluster name. */
export async function getObject(
  store: Store,
  wanted: Pick<ListRequest, 'type' | 'scope' | 'want'> & { namespace: string; name: string },
): Promise<readonly RawRow[]> {
  const { namespace, name, ...rest } = wanted
  const conditions: readonly ObjectCondition[] = [
    { on: 'namespace', operator: 'In', values: [namespace] },
    { on: 'name', operator: 'In', values: [name] },
  ]
  const found: RawRow[] = []
  for await (const rows of listObjects(store, { ...rest, conditions, order: [] })) {
    found.push(...rows)
  }
  return found
}
