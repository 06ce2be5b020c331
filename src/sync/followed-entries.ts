/**
 * Follows one type of a member into memory, a small entry for each object: what discovery needs to
 * know of definitions and API services. Nothing of it is stored, so a restart lists again.
 */
import type { Clock } from '../clock.ts'
import { groupVersionPath, type ResourceInfo } from '../kube/group-resource.ts'
import type { ListItem } from './list-splitter.ts'
import { type FollowLimits, ListWatch } from './list-watch.ts'
import type { MemberClient } from './member-client.ts'
import type { MirrorSink } from './mirror-sink.ts'
import type { WatchEvent } from './watch-lines.ts'

export interface Entry {
  readonly name: string
  /** Equal texts say the same: no news. */
  readonly text: string
}

export interface FollowedType {
  readonly client: MemberClient
  /** As the member serves it. */
  readonly info: ResourceInfo
  readonly limits: FollowLimits
  readonly clock: Clock
}

export interface FollowedEntriesOptions<T extends Entry> extends FollowedType {
  /** @returns undefined for what is none of them: there is nothing to learn from it. */
  readonly read: (object: unknown) => T | undefined
  /** Something is other than it was; at first, that it is known, or known that it cannot be read. */
  readonly changed: (isFirst: boolean) => void
}

export class FollowedEntries<T extends Entry> implements MirrorSink {
  readonly #options: FollowedEntriesOptions<T>
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #entries = new Map<string, T>()
  #listing = new Map<string, T>()
  #settled = false
  #justListed = false

  constructor(options: FollowedEntriesOptions<T>) {
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

  /** By name. */
  get entries(): ReadonlyMap<string, T> {
    return this.#entries
  }

  /** They are known, or it is known that they cannot be read. */
  get settled(): boolean {
    return this.#settled
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  resumeFrom(): undefined {
    return undefined
  }

  beginList(): void {
    this.#listing = new Map()
  }

  beginPart(): void {
    this.#listing = new Map()
  }

  restartedPart(): void {
    this.#listing = new Map()
  }

  closed(): undefined {
    // It has no namespaces.
  }

  async listed(item: ListItem): Promise<void> {
    const entry = 'bytes' in item ? this.#read(item.bytes) : undefined
    if (entry) this.#listing.set(entry.name, entry)
  }

  async endList(): Promise<void> {
    this.#justListed = true
    const before = textOf(this.#entries)
    this.#entries = this.#listing
    this.#listing = new Map()
    this.#settle(before !== textOf(this.#entries))
  }

  justListed(): boolean {
    return this.#justListed
  }

  async changed({ type, object }: WatchEvent): Promise<void> {
    const entry = this.#read(object)
    if (!entry) return
    const before = this.#entries.get(entry.name)?.text
    if (type === 'DELETED') this.#entries.delete(entry.name)
    else this.#entries.set(entry.name, entry)
    this.#settle(before !== this.#entries.get(entry.name)?.text)
  }

  advance(): void {
    // There is no position to keep.
  }

  following(): void {
    this.#justListed = false
  }

  failed(): void {
    this.#settle(false)
  }

  #settle(news: boolean): void {
    const isFirst = !this.#settled
    this.#settled = true
    if (news || isFirst) this.#options.changed(isFirst)
  }

  #read(bytes: Buffer): T | undefined {
    try {
      return this.#options.read(JSON.parse(bytes.toString('utf8')))
    } catch {
      return undefined // not JSON; the type itself is synced all the same
    }
  }
}

function textOf(entries: ReadonlyMap<string, Entry>): string {
  const texts = [...entries.values()].map(({ name, text }) => JSON.stringify([name, text]))
  return texts.sort().join('\n')
}

type Json = Readonly<Record<string, unknown>>

/** The members of an object; none of what is no object. */
export function fieldsOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}
