/**
 * How many requests are under way: counted for metrics, and bounded for each reader.
 *
 * One dashboard that asks for everything again and again must not keep the others waiting for the
 * database. Probes and registrations are not among what is bounded, so the server stays manageable
 * however many lists are asked of it.
 *
 * @see apiserver/pkg/server/filters/maxinflight.go; the names of the metrics are kube-apiserver's.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { StatusError } from '../../kube/status-error.ts'
import { answerBytes } from '../answer-bytes.ts'
import { laneOf, type RequestLane } from '../request-lane.ts'
import { whenClosed } from '../when-closed.ts'

/** Of one user, at the same moment. */
export interface ReaderLimits {
  /** Lists without a limit. */
  readonly streams: number
  /** Gets, counts, and pages of lists. */
  readonly queries: number
}

export const DEFAULT_READER_LIMITS: ReaderLimits = { streams: 16, queries: 64 }

/** Most that wait are short: whoever asks again then is mostly served. */
const RETRY_AFTER_SECONDS = 1

export interface InFlightOptions {
  readonly limits: ReaderLimits
  readonly registry: Registry
}

async function install(server: FastifyInstance, options: InFlightOptions): Promise<void> {
  const { limits, registry } = options
  const metrics = requestMetrics(registry)
  const readers = new ReaderCounts(limits)
  const lanes = new WeakMap<FastifyRequest, RequestLane>()
  server.addHook('onRequest', async (request, reply) => {
    const lane = laneOf(request)
    lanes.set(request, lane)
    const free = readers.take(request.identity.user, lane)
    if (!free) {
      metrics.terminations.inc({ code: '429' })
      throw tooMany(request.identity.user, lane, limits)
    }
    metrics.begin(lane, request.method)
    // Whether it ended well or its client went away; hijacked answers have no other end.
    whenClosed(reply.raw, () => {
      free()
      metrics.end(lane, request.method)
    })
  })
  server.addHook('onResponse', async (request, reply) => {
    metrics.answered(lanes.get(request) ?? 'other', request, reply)
  })
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
  const what =
    lane === 'stream' ? `${limits.streams} whole lists` : `${limits.queries} queries of the mirror`
  const message = `Too many requests: ${JSON.stringify(user)} has ${what} under way, and may have no more; please try again later.`
  const details = { retryAfterSeconds: RETRY_AFTER_SECONDS }
  return new StatusError('TooManyRequests', message, { details })
}

function requestMetrics(registry: Registry) {
  const registers = [registry]
  const inflight = new Gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'requests under way, watches and probes apart',
    labelNames: ['request_kind'],
    registers,
  })
  const longRunning = new Gauge({
    name: 'apiserver_longrunning_requests',
    help: 'watches under way',
    labelNames: ['verb'],
    registers,
  })
  const total = new Counter({
    name: 'apiserver_request_total',
    help: 'requests that were answered, by verb and HTTP code',
    labelNames: ['verb', 'code'],
    registers,
  })
  const duration = new Histogram({
    name: 'apiserver_request_duration_seconds',
    help: 'how long answers took to their last byte; watches and probes apart',
    labelNames: ['verb'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60],
    registers,
  })
  const sizes = responseSizes(registers)
  const terminations = refusedRequests(registers)
  const change = (lane: RequestLane, method: string, by: 1 | -1) => {
    if (lane === 'watch') longRunning.inc({ verb: 'WATCH' }, by)
    else if (lane !== 'probe') inflight.inc({ request_kind: kindOf(method) }, by)
  }
  return {
    terminations,
    begin: (lane: RequestLane, method: string) => change(lane, method, 1),
    end: (lane: RequestLane, method: string) => change(lane, method, -1),
    answered: (lane: RequestLane, request: FastifyRequest, reply: FastifyReply) => {
      const verb = verbOf(lane, request.method)
      total.inc({ verb, code: String(reply.raw.statusCode) })
      if (lane !== 'watch' && lane !== 'probe') {
        duration.observe({ verb }, reply.elapsedTime / 1000)
        const bytes = answerBytes(request)
        if (bytes !== undefined) sizes.observe({ verb }, bytes)
      }
    },
  }
}

function refusedRequests(registers: Registry[]) {
  return new Counter({
    name: 'apiserver_request_terminations_total',
    help: 'requests that were refused because their reader has too many under way',
    labelNames: ['code'],
    registers,
  })
}

function responseSizes(registers: Registry[]) {
  return new Histogram({
    name: 'apiserver_response_sizes',
    help: 'bytes of answers, their heads included; watches and probes apart',
    labelNames: ['verb'],
    buckets: [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9],
    registers,
  })
}

function kindOf(method: string): 'readOnly' | 'mutating' {
  return ['GET', 'HEAD'].includes(method) ? 'readOnly' : 'mutating'
}

function verbOf(lane: RequestLane, method: string): string {
  if (lane === 'watch') return 'WATCH'
  return lane === 'stream' ? 'LIST' : method
}
