/**
 * What is counted of requests: kube-apiserver's names and labels, so that its dashboards and alerts
 * read ours.
 *
 * Labels name types that are served, never what a request merely says, and the first of them only:
 * a fleet may have thousands. Whether a request went to the fleet or to one member is no label.
 *
 * @see apiserver/pkg/endpoints/metrics/metrics.go
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { GroupVersionResource } from '../kube/group-resource.ts'
import { parseResourcePath, type ResourcePath } from '../kube/request-path.ts'
import { answerBytes } from './answer-bytes.ts'
import { laneOf, type RequestLane } from './request-lane.ts'
import { targetOf } from './request-target.ts'

export interface RequestMetricsOptions {
  readonly registry: Registry
  /** Whether there is such a type, in that version. */
  readonly isServed: (type: GroupVersionResource) => boolean
}

/** Types beyond these share one label, as in sync/metrics.ts. */
const MOST_TYPES = 300
const OTHER_TYPES = 'other'
const COMPONENT = 'apiserver'

const OF_TYPE = ['group', 'version', 'resource', 'subresource', 'scope', 'component'] as const
type Labels = Readonly<Record<'verb' | (typeof OF_TYPE)[number], string>>

/** What one request is to all of the metrics. */
interface Facts {
  readonly lane: RequestLane
  readonly labels: Labels
  readonly dryRun: string
}

export class RequestMetrics {
  readonly #isServed: RequestMetricsOptions['isServed']
  readonly #facts = new WeakMap<FastifyRequest, Facts>()
  readonly #types = new Set<string>()
  readonly #metrics: ReturnType<typeof register>

  constructor({ registry, isServed }: RequestMetricsOptions) {
    this.#isServed = isServed
    this.#metrics = register([registry])
  }

  /** @returns to be called once it is over, however it ended. */
  begin(request: FastifyRequest): () => void {
    const { lane, labels } = this.#factsOf(request)
    const { inflight, longRunning } = this.#metrics
    const change = (by: 1 | -1) => {
      if (lane === 'watch') longRunning.inc(labels, by)
      else if (lane !== 'probe') inflight.inc({ request_kind: kindOf(request.method) }, by)
    }
    change(1)
    return () => change(-1)
  }

  /** Its reader has too many under way. */
  refused(request: FastifyRequest): void {
    this.#metrics.terminations.inc({ ...this.#factsOf(request).labels, code: '429' })
  }

  answered(request: FastifyRequest, reply: FastifyReply): void {
    const { lane, labels, dryRun } = this.#factsOf(request)
    const { total, duration, sizes } = this.#metrics
    total.inc({ ...labels, dry_run: dryRun, code: String(reply.raw.statusCode) })
    if (lane === 'watch' || lane === 'probe') return
    duration.observe({ ...labels, dry_run: dryRun }, reply.elapsedTime / 1000)
    const bytes = answerBytes(request)
    if (bytes !== undefined) sizes.observe(labels, bytes)
  }

  #factsOf(request: FastifyRequest): Facts {
    const known = this.#facts.get(request) ?? this.#readFacts(request)
    this.#facts.set(request, known)
    return known
  }

  #readFacts(request: FastifyRequest): Facts {
    const { path, query } = targetOf(request)
    const lane = laneOf(request)
    const asked = parseResourcePath(path)
    const labels = {
      verb: verbOf(lane, request.method, asked),
      ...this.#typeLabels(asked),
      scope: scopeOf(request.method, asked),
      component: COMPONENT,
    }
    return { lane, labels, dryRun: query.get('dryRun') === 'All' ? 'All' : '' }
  }

  #typeLabels(asked: ResourcePath | undefined) {
    if (!asked || !this.#isServed(asked)) return NO_TYPE
    const { group, version, resource } = asked
    const key = `${group}/${version}/${resource}`
    if (!this.#types.has(key)) {
      if (this.#types.size >= MOST_TYPES) return { ...NO_TYPE, resource: OTHER_TYPES }
      this.#types.add(key)
    }
    // What else stands behind a name is not served.
    return { group, version, resource, subresource: asked.subresource === 'status' ? 'status' : '' }
  }
}

const NO_TYPE = { group: '', version: '', resource: '', subresource: '' }

function register(registers: Registry[]) {
  const verb = ['verb', ...OF_TYPE] as const
  return {
    inflight: new Gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'requests under way, watches and probes apart',
      labelNames: ['request_kind'],
      registers,
    }),
    longRunning: new Gauge({
      name: 'apiserver_longrunning_requests',
      help: 'watches under way',
      labelNames: verb,
      registers,
    }),
    total: new Counter({
      name: 'apiserver_request_total',
      help: 'requests that were answered, by verb, type and HTTP code',
      labelNames: [...verb, 'dry_run', 'code'],
      registers,
    }),
    duration: new Histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'how long answers took to their last byte; watches and probes apart',
      labelNames: [...verb, 'dry_run'],
      buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60],
      registers,
    }),
    sizes: new Histogram({
      name: 'apiserver_response_sizes',
      help: 'bytes of answers, their heads included; watches and probes apart',
      labelNames: verb,
      buckets: [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9],
      registers,
    }),
    terminations: new Counter({
      name: 'apiserver_request_terminations_total',
      help: 'requests that were refused because their reader has too many under way',
      labelNames: [...verb, 'code'],
      registers,
    }),
  }
}

function kindOf(method: string): 'readOnly' | 'mutating' {
  return ['GET', 'HEAD'].includes(method) ? 'readOnly' : 'mutating'
}

/** A page of a list is a LIST as the whole is; a collection resource is a list, whatever its path. */
function verbOf(lane: RequestLane, method: string, asked: ResourcePath | undefined): string {
  if (lane === 'watch') return 'WATCH'
  if (lane === 'stream') return 'LIST'
  if (method === 'GET' && asked && asked.name === undefined) return 'LIST'
  return VERBS.has(method) ? method : 'other'
}

/** A method is whatever the client says, too. */
const VERBS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

function scopeOf(method: string, asked: ResourcePath | undefined): string {
  if (!asked) return ''
  if (asked.name !== undefined || method === 'POST') return 'resource'
  return asked.namespace === undefined ? 'cluster' : 'namespace'
}
