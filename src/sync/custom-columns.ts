/**
 * What a member's CustomResourceDefinitions say: which types are custom, and what they print.
 *
 * Followed like any type, but into memory: one small entry per definition. A change of columns
 * concerns its own type only; a definition that comes or goes is news for discovery.
 */
import type { Clock } from '../clock.ts'
import { type GroupResource, groupVersionPath, type ResourceInfo } from '../kube/group-resource.ts'
import { type AdditionalPrinterColumn, customResourcePrinter } from '../printers/custom-resource.ts'
import type { Printer } from '../printers/printer.ts'
import type { ListItem } from './list-splitter.ts'
import { type FollowLimits, ListWatch } from './list-watch.ts'
import type { MemberClient } from './member-client.ts'
import type { MirrorSink } from './mirror-sink.ts'
import { keyOf } from './sync-list.ts'
import type { WatchEvent } from './watch-lines.ts'

interface Definition {
  readonly name: string
  readonly type: string
  /** JSON of the columns of each version. */
  readonly columns: ReadonlyMap<string, string>
}

export interface CustomColumnsOptions {
  readonly client: MemberClient
  /** As the member serves definitions. */
  readonly info: ResourceInfo
  readonly limits: FollowLimits
  readonly clock: Clock
  /** Definitions came, went or changed their columns. */
  readonly changed: () => void
}

type Json = Readonly<Record<string, unknown>>

export class CustomColumns implements MirrorSink {
  readonly #options: CustomColumnsOptions
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #byName = new Map<string, Definition>()
  #byType = new Map<string, Definition>()
  #listing = new Map<string, Definition>()
  #isListing = false
  #settled = false
  #justListed = false

  constructor(options: CustomColumnsOptions) {
    this.#options = options
    const { client, info, limits, clock } = options
    const listWatch = new ListWatch({
      source: { client, resource: info.resource },
      paths: [{ path: `/${groupVersionPath(info)}/${info.resource}` }],
      watchable: info.verbs.includes('watch'),
      limits,
      clock,
      sink: this,
      gates: [],
      weight: 0,
    })
    // It ends when it is stopped; whatever fails in between is the member's, and is tried again.
    this.#running = listWatch.run(this.#stopping.signal).catch(() => undefined)
  }

  /** The definitions are known, or it is known that they cannot be read. */
  get settled(): boolean {
    return this.#settled
  }

  isCustom(type: GroupResource): boolean {
    return this.#byType.has(keyOf(type))
  }

  /** Undefined for what no definition is known of. */
  printerFor(info: ResourceInfo): Printer | undefined {
    const columns = this.#byType.get(keyOf(info))?.columns.get(info.version)
    if (columns === undefined) return undefined
    return customResourcePrinter(JSON.parse(columns) as AdditionalPrinterColumn[])
  }

  /** Equal texts mean equal columns; `''` when none are known. */
  columnsOf(info: ResourceInfo): string {
    return this.#byType.get(keyOf(info))?.columns.get(info.version) ?? ''
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  resumeFrom(): undefined {
    return undefined
  }

  beginList(): void {
    this.#isListing = true
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
    const definition = 'bytes' in item ? readDefinition(item.bytes) : undefined
    if (definition) this.#listing.set(definition.name, definition)
  }

  async endList(): Promise<void> {
    this.#isListing = false
    this.#justListed = true
    const before = fingerprint(this.#byName)
    this.#byName = this.#listing
    this.#listing = new Map()
    this.#settle(before !== fingerprint(this.#byName))
  }

  justListed(): boolean {
    return this.#justListed
  }

  async changed(event: WatchEvent): Promise<void> {
    const definition = readDefinition(event.object)
    if (!definition || this.#isListing) return
    const before = this.#byName.get(definition.name)
    if (event.type === 'DELETED') this.#byName.delete(definition.name)
    else this.#byName.set(definition.name, definition)
    const after = this.#byName.get(definition.name)
    this.#settle((before && entryText(before)) !== (after && entryText(after)))
  }

  advance(): void {
    // Kept in memory only: a restart lists again.
  }

  following(): void {
    this.#justListed = false
  }

  failed(): void {
    if (!this.#settled) this.#settle(true)
  }

  #settle(news: boolean): void {
    this.#byType = new Map([...this.#byName.values()].map((one) => [one.type, one]))
    const first = !this.#settled
    this.#settled = true
    if (news || first) this.#options.changed()
  }
}

function fingerprint(definitions: ReadonlyMap<string, Definition>): string {
  return [...definitions.values()].map(entryText).sort().join('\n')
}

function entryText({ type, columns }: Definition): string {
  return JSON.stringify([type, [...columns]])
}

/** Undefined for what is no definition: it then has no columns of its own. */
function readDefinition(bytes: Buffer): Definition | undefined {
  const object = parsed(bytes)
  const spec = fieldsOf(object?.spec)
  const name = fieldsOf(object?.metadata).name
  const { group, versions } = spec
  const resource = fieldsOf(spec.names).plural
  if (typeof name !== 'string' || typeof group !== 'string' || typeof resource !== 'string') return
  const list = Array.isArray(versions) ? versions.map(fieldsOf) : [{ name: spec.version }]
  const columns = new Map<string, string>()
  for (const version of list) {
    // v1beta1 may have one set of columns for all versions.
    const own = version.additionalPrinterColumns ?? spec.additionalPrinterColumns
    if (typeof version.name === 'string') columns.set(version.name, JSON.stringify(listOf(own)))
  }
  return { name, type: keyOf({ group, resource }), columns }
}

function parsed(bytes: Buffer): Json | undefined {
  try {
    return fieldsOf(JSON.parse(bytes.toString('utf8')))
  } catch {
    return undefined // no definition; the type itself is synced all the same
  }
}

function fieldsOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
