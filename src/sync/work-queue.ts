/**
 * What is told of work that waits and is done, under the names of client-go's work queues: alerts on
 * controllers that fall behind are made for these.
 *
 * @see component-base/metrics/prometheus/workqueue/metrics.go, client-go/util/workqueue
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Clock } from '../clock.ts'

/** 1 µs to 1000 s. */
const BUCKETS = Array.from({ length: 10 }, (_, i) => 10 ** (i - 6))

/** Of one process. */
export class WorkQueues {
  readonly #metrics: ReturnType<typeof register>
  readonly #clock: Clock
  readonly #queues = new Map<string, WorkQueue>()

  constructor(registry: Registry, clock: Clock) {
    this.#clock = clock
    this.#metrics = register([registry], () => [...this.#queues])
  }

  /** @param name - of a closed list: it is a label. */
  named(name: string): WorkQueue {
    const queue = this.#queues.get(name) ?? new WorkQueue(name, this.#metrics, this.#clock)
    this.#queues.set(name, queue)
    return queue
  }
}

/** Items that are to be worked on: each waits once, however often it is added. */
export class WorkQueue {
  readonly #name: string
  readonly #metrics: ReturnType<typeof register>
  readonly #clock: Clock
  /** Since when. */
  readonly #waiting = new Map<string, number>()
  readonly #running = new Map<string, number>()

  constructor(name: string, metrics: ReturnType<typeof register>, clock: Clock) {
    this.#name = name
    this.#metrics = metrics
    this.#clock = clock
  }

  added(item = ''): void {
    if (this.#waiting.has(item)) return
    this.#waiting.set(item, this.#clock.now())
    this.#metrics.adds.inc({ name: this.#name })
  }

  /** @returns to be called at its end; what has failed is to be added again by whoever tries again. */
  begun(item = ''): (how: 'done' | 'failed') => void {
    const name = this.#name
    const since = this.#waiting.get(item)
    // Looked at without having been added: nothing was to be done.
    if (since === undefined) return () => undefined
    this.#waiting.delete(item)
    const startedAt = this.#clock.now()
    this.#running.set(item, startedAt)
    this.#metrics.latency.observe({ name }, (startedAt - since) / 1000)
    return (how) => {
      this.#running.delete(item)
      this.#metrics.duration.observe({ name }, (this.#clock.now() - startedAt) / 1000)
      if (how === 'failed') this.#metrics.retries.inc({ name })
    }
  }

  /** It will not be worked on. */
  forget(item = ''): void {
    this.#waiting.delete(item)
  }

  get depth(): number {
    return this.#waiting.size
  }

  /** How long what is worked on has been, each. */
  unfinishedSeconds(): readonly number[] {
    const now = this.#clock.now()
    return [...this.#running.values()].map((since) => (now - since) / 1000)
  }
}

type Queues = () => ReadonlyArray<readonly [string, WorkQueue]>

function register(registers: Registry[], queues: Queues) {
  const labelNames = ['name'] as const
  const named = (name: string, help: string) => ({
    ...{ name: `workqueue_${name}`, help, labelNames, registers },
  })
  const gauge = (name: string, help: string, read: (queue: WorkQueue) => number) =>
    new Gauge({
      ...named(name, help),
      collect() {
        for (const [name, queue] of queues()) this.set({ name }, read(queue))
      },
    })
  gauge('depth', 'How much waits to be done', ({ depth }) => depth)
  gauge('unfinished_work_seconds', 'How long what is being done has taken, in all', (queue) =>
    queue.unfinishedSeconds().reduce((all, seconds) => all + seconds, 0),
  )
  gauge('longest_running_processor_seconds', 'How long the longest of it has taken', (queue) =>
    Math.max(0, ...queue.unfinishedSeconds()),
  )
  return {
    adds: new Counter(named('adds_total', 'What was to be done')),
    retries: new Counter(named('retries_total', 'What failed, and is tried again')),
    latency: new Histogram({
      ...named('queue_duration_seconds', 'How long it waited'),
      buckets: BUCKETS,
    }),
    duration: new Histogram({
      ...named('work_duration_seconds', 'How long it took'),
      buckets: BUCKETS,
    }),
  }
}
