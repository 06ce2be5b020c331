/**
 * What the log says of a request beside who asked and how it ended: which clusters were asked about,
 * and how many rows were told (plugins/access-log.ts writes it).
 */
import type { FastifyRequest } from 'fastify'
import type { RowJson } from './encode/row-json.ts'

interface Facts {
  clusters?: readonly string[]
  rows?: number
}

const facts = new WeakMap<FastifyRequest, Facts>()

function factsOf(request: FastifyRequest): Facts {
  const known = facts.get(request) ?? {}
  facts.set(request, known)
  return known
}

/** A fleet may have thousands: the first ones, and how many there are. */
const MOST_NAMES = 20

interface Named {
  readonly name: string
}

/** One may be there several times. */
export function noteClusters(request: FastifyRequest, clusters: readonly Named[]): void {
  factsOf(request).clusters = [...new Set(clusters.map(({ name }) => name))]
}

/** The clusters of these types. */
export function noteServed(
  request: FastifyRequest,
  served: ReadonlyArray<{ readonly cluster: Named }>,
): void {
  noteClusters(
    request,
    served.map(({ cluster }) => cluster),
  )
}

export function noteRows(request: FastifyRequest, rows: number): void {
  factsOf(request).rows = rows
}

/** Counts rows as they are written, so that those of an answer that was cut off are known, too. */
export function countingRows(request: FastifyRequest, row: RowJson): RowJson {
  noteRows(request, 0)
  const known = factsOf(request)
  return (raw) => {
    known.rows!++
    return row(raw)
  }
}

/** For a line of log; empty for a request that is not about clusters. */
export function auditOf(request: FastifyRequest) {
  const { clusters, rows } = facts.get(request) ?? {}
  return {
    ...(clusters && { clusters: clusters.slice(0, MOST_NAMES) }),
    ...(clusters && clusters.length > MOST_NAMES && { clustersInAll: clusters.length }),
    ...(rows !== undefined && { rows }),
  }
}
