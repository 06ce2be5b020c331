/**
 * The resource syncers of one member: starts, restarts and stops them as its list of types changes.
 *
 * A type that is no longer wanted is forgotten with its rows. One that the member no longer serves
 * too, but only when the member itself says so under the type's own path: discovery can lag.
 */
import { isBuiltInGroup } from '../kube/built-in-groups.ts'
import {
  apiVersionOf,
  type GroupResource,
  groupVersionPath,
  parseApiVersion,
  type ResourceInfo,
} from '../kube/group-resource.ts'
import type { Printer } from '../printers/printer.ts'
import { listClusterResources, type StoredClusterResource } from '../store/cluster-resources.ts'
import type { Lease, LeaseLost } from '../store/leases.ts'
import { removeClusterResource } from '../store/put-objects.ts'
import { Gate } from './gate.ts'
import type { MemberClient } from './member-client.ts'
import { MemberError } from './member-error.ts'
import type { RelistCause } from './mirror-sink.ts'
import { readRevision } from './read-revision.ts'
import { ResourceSyncer } from './resource-syncer.ts'
import type { SyncServices } from './services.ts'
import { keyOf, type SyncTarget } from './sync-list.ts'
import { LAGGING, type TypeState } from './type-state.ts'
import { WatchTurns } from './watch-turns.ts'

export interface TypeSetOptions {
  readonly services: SyncServices
  readonly cluster: string
  readonly lease: Lease
  readonly client: MemberClient
  readonly controlPlaneUid: () => string
  readonly changed: () => void
  readonly lost: (error: LeaseLost) => void
}

export interface WantedTypes {
  readonly targets: readonly SyncTarget[]
  readonly namespaces: readonly string[] | undefined
  /** Whether a stored type that is not among the targets is not wanted any more, or only not served. */
  readonly isWanted: (type: GroupResource) => boolean
  /** A gap in discovery or a missing template: nothing is forgotten for it. */
  readonly mayReturn: (stored: StoredClusterResource) => boolean
  readonly printerFor: (info: ResourceInfo) => Printer
  /** Equal texts mean equal columns. */
  readonly columnsOf: (info: ResourceInfo) => string
}

interface Running {
  readonly syncer: ResourceSyncer
  /** What, when it changes, needs another syncer. */
  readonly shape: string
}

export interface SyncedType {
  readonly target: SyncTarget
  readonly state: TypeState
}

export class TypeSet {
  readonly #options: TypeSetOptions
  readonly #running = new Map<string, Running>()
  readonly #gate: Gate
  readonly #turns: WatchTurns

  constructor(options: TypeSetOptions) {
    this.#options = options
    const { firstListsPerMember, firstListMilliseconds } = options.services.limits
    this.#gate = new Gate(firstListsPerMember, firstListMilliseconds)
    const { customWatchesPerMember, turnMilliseconds } = options.services.limits
    this.#turns = new WatchTurns(customWatchesPerMember, turnMilliseconds)
  }

  get types(): SyncedType[] {
    return [...this.#running.values()].map(({ syncer }) => ({
      target: syncer.target,
      state: syncer.state,
    }))
  }

  get syncers(): readonly ResourceSyncer[] {
    return [...this.#running.values()].map(({ syncer }) => syncer)
  }

  /** How watches are shared; `''` when there is one for each type. */
  get sharing(): string {
    const custom = this.#customTypes
    const { places } = this.#turns
    return custom > places ? `${custom} custom types take turns with ${places} watches` : ''
  }

  get #customTypes(): number {
    return this.types.filter(({ target }) => !isBuiltInGroup(target.type.group)).length
  }

  /** Each type says whether it is older than it may be. To be called from time to time. */
  checkLag(): void {
    const { services, cluster } = this.#options
    const rounds = Math.ceil(this.#customTypes / this.#turns.places) - 1
    const turnsMilliseconds = Math.max(0, rounds) * services.limits.turnMilliseconds
    for (const { syncer } of this.#running.values()) syncer.checkLag(turnsMilliseconds)
    const lagging = this.types.filter(({ state }) => state.reason === LAGGING)
    services.metrics.lagging(cluster, lagging.length)
  }

  relistAll(cause: RelistCause): void {
    for (const { syncer } of this.#running.values()) syncer.relist(cause)
  }

  /** @throws LeaseLost, or what the store fails with; then it is to be called again. */
  async apply(wanted: WantedTypes, signal: AbortSignal): Promise<void> {
    const { services, lease } = this.#options
    const stored = await listClusterResources(services.store, lease.clusterId)
    const targets = new Map(wanted.targets.map((target) => [keyOf(target.type), target]))
    for (const one of stored) {
      if (!targets.has(keyOf(one))) await this.#forget(one, wanted, signal)
    }
    const byType = new Map(stored.map((one) => [keyOf(one), one]))
    for (const target of targets.values()) {
      signal.throwIfAborted()
      await this.#ensure({ target, wanted, stored: byType.get(keyOf(target.type)) }, signal)
    }
    this.#options.changed()
  }

  async stop(): Promise<void> {
    const all = [...this.#running.values()]
    this.#running.clear()
    await Promise.all(all.map(({ syncer }) => syncer.stop()))
  }

  async #ensure(
    of: { target: SyncTarget; wanted: WantedTypes; stored: StoredClusterResource | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    const { target, wanted, stored } = of
    const key = keyOf(target.type)
    const shape = shapeOf(target, wanted)
    const known = this.#running.get(key)
    if (known?.shape === shape) {
      if (!sameDescription(known.syncer.target, target)) await known.syncer.describe(target)
      return
    }
    if (known) await this.#stopOne(key, known)
    // One that is started after stop() would run for ever: nobody knows it.
    signal.throwIfAborted()
    const printer = wanted.printerFor(target.info)
    const { namespaces } = wanted
    const { services, cluster, lease, client, controlPlaneUid, changed, lost } = this.#options
    const shared = { services, cluster, lease, client, controlPlaneUid, changed, lost }
    const syncer = new ResourceSyncer({
      ...shared,
      target,
      printer,
      // A position that a syncer has moved since it was read is in the store only.
      stored: known ? undefined : stored,
      namespaces,
      gate: this.#gate,
      // Built-in types are few, and what people look at: their watches are always open.
      ...(!isBuiltInGroup(target.type.group) && { turns: this.#turns }),
    })
    this.#running.set(key, { syncer, shape })
  }

  async #forget(
    stored: StoredClusterResource,
    wanted: WantedTypes,
    signal: AbortSignal,
  ): Promise<void> {
    if (wanted.mayReturn(stored)) return
    if (wanted.isWanted(stored) && !(await this.#isGone(stored, signal))) return
    const key = keyOf(stored)
    const known = this.#running.get(key)
    if (known) await this.#stopOne(key, known)
    const { services, lease } = this.#options
    await removeClusterResource(services.store, lease, stored.typeId)
  }

  async #isGone(stored: StoredClusterResource, signal: AbortSignal): Promise<boolean> {
    const { resource } = stored
    const path = `/${groupVersionPath(parseApiVersion(stored.apiVersion))}/${resource}`
    try {
      await readRevision({ client: this.#options.client, resource }, path, signal)
      return false
    } catch (error) {
      if (!(error instanceof MemberError)) throw error
      return error.failure === 'not-found'
    }
  }

  async #stopOne(key: string, { syncer }: Running): Promise<void> {
    this.#running.delete(key)
    await syncer.stop()
  }
}

function shapeOf({ info, involved }: SyncTarget, wanted: WantedTypes): string {
  const { kind, namespaced, verbs, resource } = info
  const watch = verbs.includes('watch')
  const namespaces = namespaced ? wanted.namespaces : undefined
  const columns = wanted.columnsOf(info)
  return JSON.stringify([
    apiVersionOf(info),
    resource,
    kind,
    namespaced,
    watch,
    namespaces,
    columns,
    involved,
  ])
}

/** What discovery serves of it changes nothing in how it is synced. */
function sameDescription(a: SyncTarget, b: SyncTarget): boolean {
  const text = ({ info, servedVersions }: SyncTarget) =>
    JSON.stringify([info.singularName, info.shortNames, info.categories, servedVersions])
  return text(a) === text(b)
}
