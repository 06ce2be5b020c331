/**
 * Hears of API groups that come and go behind the member's aggregator, so that discovery is asked
 * again at once. Without the right to see them, discovery is asked every half minute all the same.
 */
import type { Clock } from '../clock.ts'
import { groupVersionPath, type ResourceInfo } from '../kube/group-resource.ts'
import type { ListItem } from './list-splitter.ts'
import { type FollowLimits, ListWatch } from './list-watch.ts'
import type { MemberClient } from './member-client.ts'
import type { MirrorSink } from './mirror-sink.ts'
import type { WatchEvent } from './watch-lines.ts'

export interface ApiServicesOptions {
  readonly client: MemberClient
  /** As the member serves them. */
  readonly info: ResourceInfo
  readonly limits: FollowLimits
  readonly clock: Clock
  /** Another set of groups, or one that answers again. */
  readonly changed: () => void
}

type Json = Readonly<Record<string, unknown>>

export class ApiServices implements MirrorSink {
  readonly #options: ApiServicesOptions
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  /** Whether each is available, as text. */
  #known = new Map<string, string>()
  #justListed = false
  #first = true

  constructor(options: ApiServicesOptions) {
    this.#options = options
    const { client, info, limits, clock } = options
    const listWatch = new ListWatch({
      source: { client, resource: info.resource },
      paths: [{ path: `/${groupVersionPath(info)}/${info.resource}` }],
      watchable: info.verbs.includes('watch'),
      ...{ limits, clock, sink: this, gates: [], weight: 0 },
    })
    // It ends when it is stopped; whatever fails in between is the member's, and is tried again.
    this.#running = listWatch.run(this.#stopping.signal).catch(() => undefined)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  resumeFrom(): undefined {
    return undefined
  }

  beginList(): void {
    this.#before = textOf(this.#known)
    this.#known = new Map()
  }
  #before = ''

  beginPart(): void {
    // It has one.
  }

  restartedPart(): void {
    this.#known = new Map()
  }

  async listed(item: ListItem): Promise<void> {
    if ('bytes' in item) this.#learn(item.bytes)
  }

  async endList(): Promise<void> {
    this.#justListed = true
    const news = !this.#first && textOf(this.#known) !== this.#before
    this.#first = false
    if (news) this.#options.changed()
  }

  closed(): undefined {
    // It has no namespaces.
  }

  justListed(): boolean {
    return this.#justListed
  }

  async changed({ type, object }: WatchEvent): Promise<void> {
    const before = textOf(this.#known)
    const name = this.#learn(object)
    if (type === 'DELETED' && name !== undefined) this.#known.delete(name)
    if (textOf(this.#known) !== before) this.#options.changed()
  }

  advance(): void {
    // Kept in memory only: a restart lists again.
  }

  following(): void {
    this.#justListed = false
  }

  failed(): void {
    // Discovery is asked again without it.
  }

  #learn(bytes: Buffer): string | undefined {
    const object = parsed(bytes)
    const name = fieldsOf(object.metadata).name
    if (typeof name !== 'string') return undefined
    const { conditions } = fieldsOf(object.status)
    const available = (Array.isArray(conditions) ? conditions : [])
      .map(fieldsOf)
      .find(({ type }) => type === 'Available')
    this.#known.set(name, String(available?.status ?? ''))
    return name
  }
}

function textOf(known: ReadonlyMap<string, string>): string {
  return JSON.stringify([...known].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function parsed(bytes: Buffer): Json {
  try {
    return fieldsOf(JSON.parse(bytes.toString('utf8')))
  } catch {
    return {} // not one of them: there is nothing to learn from it
  }
}

function fieldsOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}
