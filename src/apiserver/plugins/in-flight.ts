/**
 * How many requests are under way: counted (request-metrics.ts), and bounded for each reader.
 *
 * One dashboard that asks for everything again and again must not keep the others waiting for the
 * database. Probes and registrations are not among what is bounded, so the server stays manageable
 * however many lists are asked of it.
 *
 * @see apiserver/pkg/server/filters/maxinflight.go
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { StatusError } from '../../kube/status-error.ts'
import { laneOf, type RequestLane } from '../request-lane.ts'
import type { RequestMetrics } from '../request-metrics.ts'
import { whenClosed } from '../when-closed.ts'

/** Of one user, at the same moment. */
export interface ReaderLimits {
  /** Lists without a limit. */
  readonly streams: number
  /** Gets, counts, pages of lists, and what is worked out: verdicts, comparisons. */
  readonly queries: number
}

export const DEFAULT_READER_LIMITS: ReaderLimits = { streams: 16, queries: 64 }

/** Most that wait are short: whoever asks again then is mostly served. */
const RETRY_AFTER_SECONDS = 1

export interface InFlightOptions {
  readonly limits: ReaderLimits
  readonly metrics: RequestMetrics
}

async function install(server: FastifyInstance, options: InFlightOptions): Promise<void> {
  const { limits, metrics } = options
  const readers = new ReaderCounts(limits)
  server.addHook('onRequest', async (request, reply) => {
    const lane = laneOf(request)
    const free = readers.take(request.identity.user, lane)
    if (!free) {
      metrics.refused(request)
      throw tooMany(request.identity.user, lane, limits)
    }
    const ended = metrics.begin(request)
    // Whether it ended well or its client went away; hijacked answers have no other end.
    whenClosed(reply.raw, () => {
      free()
      ended()
    })
  })
  server.addHook('onResponse', async (request, reply) => metrics.answered(request, reply))
}

/** Fastify plugin; to be registered behind authentication. */
export const inFlight = fp(install, { name: 'in-flight', dependencies: ['authenticate'] })

/** How many requests of each bounded lane each reader has under way. */
class ReaderCounts {
  readonly #limits: Readonly<Partial<Record<RequestLane, number>>>
  readonly #counts = new Map<string, number>()

  constructor({ streams, queries }: ReaderLimits) {
    this.#limits = { stream: streams, query: queries }
  }

  /** @returns what gives the place back; undefined when there is none. */
  take(user: string, lane: RequestLane): (() => void) | undefined {
    const most = this.#limits[lane]
    if (most === undefined) return () => undefined
    const key = `${lane} ${user}`
    const count = this.#counts.get(key) ?? 0
    if (count >= most) return undefined
    this.#counts.set(key, count + 1)
    return () => {
      const left = this.#counts.get(key)! - 1
      if (left === 0) this.#counts.delete(key)
      else this.#counts.set(key, left)
    }
  }
}

function tooMany(user: string, lane: RequestLane, limits: ReaderLimits): StatusError {
  const what = lane === 'stream' ? `${limits.streams} whole lists` : `${limits.queries} queries`
  const message = `Too many requests: ${JSON.stringify(user)} has ${what} under way, and may have no more; please try again later.`
  const details = { retryAfterSeconds: RETRY_AFTER_SECONDS }
  return new StatusError('TooManyRequests', message, { details })
}
