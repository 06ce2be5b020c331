/**
 * What the syncers count. Labels are clusters, types and closed lists, never objects: their number
 * is bounded by what is registered, and a cluster's series go with it.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { type GroupResource, qualifiedResource } from '../kube/group-resource.ts'
import { FAILURE_CAUSES, type FailureCause } from './member-error.ts'
import { RELIST_CAUSES, type RelistCause } from './mirror-sink.ts'

export interface TypeLabels {
  readonly cluster: string
  readonly type: GroupResource
}

interface Asked {
  readonly cluster: string
  readonly method: string
  readonly code: string
}

interface Written {
  readonly added: number
  readonly modified: number
  readonly deleted: number
  readonly unchanged: number
}

/** Custom resources beyond this many share one label: 2,500 CRDs on 80 clusters would be 200,000 series. */
const MOST_TYPES = 300
const OTHER_TYPES = 'other'

/** In the place of a member's name. */
export const MANAGEMENT_CLUSTER = ''

/** One for all clients of a process: client-go's name for what is asked of API servers. */
export function restClientRequests(registry: Registry): Counter<'cluster' | 'method' | 'code'> {
  const name = 'rest_client_requests_total'
  const known = registry.getSingleMetric(name)
  if (known instanceof Counter) return known
  return new Counter({
    name,
    help: 'Requests to members, and to the management cluster, which has no name here; by HTTP code',
    labelNames: ['cluster', 'method', 'code'],
    registers: [registry],
  })
}

export class SyncMetrics {
  readonly #types = new Set<string>()
  readonly #asked
  /** What of it there is, by cluster: series are removed by all of their labels. */
  readonly #askedOf = new Map<string, Map<string, Asked>>()
  readonly #relists
  readonly #events
  readonly #errors
  readonly #refused
  readonly #unreadable
  readonly #lag
  readonly #lagging
  readonly #rows
  readonly #batches
  readonly #writeErrors

  constructor(registry: Registry, queueBytes: () => number = () => 0) {
    const registers = [registry]
    const type = ['cluster', 'resource'] as const
    const counter = <T extends string>(name: string, help: string, labelNames: readonly T[]) =>
      new Counter({ name: `fleetglass_sync_${name}`, help, labelNames, registers })
    this.#asked = restClientRequests(registry)
    this.#relists = counter('relists_total', 'Lists begun, by cause', [...type, 'cause'])
    this.#events = counter('events_total', 'Watch events taken', type)
    this.#errors = counter('member_errors_total', 'Failed requests to members', [...type, 'cause'])
    this.#refused = counter('refused_objects_total', 'Objects that cannot be mirrored', type)
    this.#unreadable = counter('unreadable_lines_total', 'Watch lines that cannot be read', type)
    this.#lag = new Gauge({
      name: 'fleetglass_sync_last_event_timestamp_seconds',
      help: 'When the member was last heard of about a type: now minus this is the lag',
      labelNames: type,
      registers,
    })
    this.#lagging = new Gauge({
      name: 'fleetglass_sync_lagging_types',
      help: 'Types of a member whose mirror is older than it may be, without any failure',
      labelNames: ['cluster'],
      registers,
    })
    this.#rows = counter('rows_total', 'Rows written, by what happened to them', ['change'])
    this.#batches = new Histogram({
      name: 'fleetglass_sync_batch_rows',
      help: 'Rows per writing transaction',
      buckets: [1, 5, 20, 100, 500, 1000],
      registers,
    })
    this.#writeErrors = counter('write_errors_total', 'Failed writes, tried again', [])
    new Gauge({
      name: 'fleetglass_sync_queue_bytes',
      help: 'Bytes that wait to be written',
      registers,
      collect() {
        this.set(queueBytes())
      },
    })
  }

  relisted(of: TypeLabels, cause: RelistCause): void {
    this.#relists.inc({ ...this.#labels(of), cause })
    if (cause === 'unreadable') this.#unreadable.inc(this.#labels(of))
  }

  asked(labels: Asked): void {
    this.#asked.inc(labels)
    const { cluster, method, code } = labels
    const known = this.#askedOf.get(cluster) ?? new Map<string, Asked>()
    this.#askedOf.set(cluster, known.set(`${method} ${code}`, labels))
  }

  /** The cluster is not registered any more, or nobody follows it here. */
  forgetCluster(cluster: string): void {
    for (const labels of this.#askedOf.get(cluster)?.values() ?? [])
      this.#asked.remove({ ...labels })
    this.#askedOf.delete(cluster)
    this.#lagging.remove({ cluster })
  }

  event(of: TypeLabels): void {
    this.#events.inc(this.#labels(of))
  }

  heard(of: TypeLabels, atMilliseconds: number): void {
    this.#lag.set(this.#labels(of), atMilliseconds / 1000)
  }

  lagging(cluster: string, types: number): void {
    this.#lagging.set({ cluster }, types)
  }

  failed(of: TypeLabels, cause: FailureCause): void {
    this.#errors.inc({ ...this.#labels(of), cause })
  }

  refused(of: TypeLabels): void {
    this.#refused.inc(this.#labels(of))
  }

  batchWritten(counts: Written): void {
    const { added, modified, deleted, unchanged } = counts
    this.#batches.observe(added + modified + deleted + unchanged)
    for (const [change, count] of Object.entries({ added, modified, deleted, unchanged })) {
      if (count > 0) this.#rows.inc({ change }, count)
    }
  }

  remade(rows: number): void {
    if (rows > 0) this.#rows.inc({ change: 'remade' }, rows)
  }

  writeFailed(): void {
    this.#writeErrors.inc()
  }

  /** The type of this cluster is no longer followed. */
  forget(of: TypeLabels): void {
    const labels = this.#labels(of)
    if (labels.resource === OTHER_TYPES) return
    this.#lag.remove(labels)
    for (const metric of [this.#events, this.#refused, this.#unreadable]) metric.remove(labels)
    for (const cause of RELIST_CAUSES) this.#relists.remove({ ...labels, cause })
    for (const cause of FAILURE_CAUSES) this.#errors.remove({ ...labels, cause })
  }

  #labels({ cluster, type }: TypeLabels): { cluster: string; resource: string } {
    const name = qualifiedResource(type)
    if (!this.#types.has(name)) {
      if (this.#types.size >= MOST_TYPES) return { cluster, resource: OTHER_TYPES }
      this.#types.add(name)
    }
    return { cluster, resource: name }
  }
}
