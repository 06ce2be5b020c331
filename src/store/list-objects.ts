/**
 * Reads mirrored objects as they lie in the store, across clusters, in a total order.
 *
 * Every function takes the reader's scope; an empty one is answered without a query. What is
 * returned are slices of PostgreSQL's answer: no string is made of an object.
 */
import { ClusterStages } from './cluster-stages.ts'
import type { Store } from './connect.ts'
import { countQuery, type ListQuery, listQuery } from './list-query.ts'
import type { ListRequest, ObjectCondition, PageRequest, RawRow } from './list-request.ts'
import { fromPostgres } from './pg-error.ts'
import { PortalReader, READ_LIMITS, type ReadLimits } from './portal-reader.ts'
import type { RawStatement } from './raw-query.ts'
import { type RowShape, rowReader } from './raw-row.ts'
import type { ReadScope } from './read-scope.ts'
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

/** Streams what one query finds, and goes on by key where it was interrupted. */
export async function* readPage<Request extends PageRequest>(
  store: Store,
  page: Request,
  { query: queryOf, scope, signal, limits }: PageReading<Request>,
): AsyncGenerator<readonly RawRow[]> {
  let rest: Request | undefined = page
  while (rest && rest.limit !== 0) {
    signal?.throwIfAborted()
    const query = queryOf(rest)
    const reader = await open(store, query, limits)
    const abort = () => reader.abort(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    const progress: Progress = { delivered: 0, last: undefined }
    try {
      yield* readRows(reader, rowReader(shapeOf(query, scope)), progress)
    } catch (error) {
      throw fromPostgres(error)
    } finally {
      signal?.removeEventListener('abort', abort)
      reader.stop()
    }
    rest = reader.outcome === 'interrupted' ? remaining(rest, progress) : undefined
  }
}

async function open(store: Store, { compiled }: ListQuery, limits: ReadLimits) {
  try {
    return await PortalReader.open(store, compiled, limits)
  } catch (error) {
    throw fromPostgres(error)
  }
}

function shapeOf({ order, columns }: ListQuery, scope: ReadScope): RowShape {
  return { order, columns, clusterNames: new Map(scope.map(({ id, name }) => [id, name])) }
}

interface Progress {
  delivered: number
  last: RawRow | undefined
}

async function* readRows(
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
export async function countRows(
  store: Store,
  { sql: text, parameters }: RawStatement,
): Promise<number> {
  const { rows } = await store.readers
    .query<{ count: string }>(text, [...parameters])
    .catch((error) => {
      throw fromPostgres(error)
    })
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
