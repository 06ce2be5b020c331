/**
 * Syncs one type of one cluster, until it is stopped: puts list, watch and mirror together.
 *
 * One type's trouble stays its own: it shows in its state, and is tried again in here.
 */
import { isBuiltInGroup } from '../kube/built-in-groups.ts'
import { apiVersionOf, groupVersionPath, type ResourceInfo } from '../kube/group-resource.ts'
import type { Printer } from '../printers/printer.ts'
import {
  listClusterResources,
  putClusterResource,
  type StoredClusterResource,
  type SyncPosition,
  setSyncStatus,
} from '../store/cluster-resources.ts'
import { type Lease, LeaseLost } from '../store/leases.ts'
import type { WriteTarget } from '../store/put-objects.ts'
import { ensureColumnSet, ensureType } from '../store/resource-types.ts'
import type { ObjectEncoder } from './encode-object.ts'
import type { FollowedPath } from './followed-paths.ts'
import type { Gate } from './gate.ts'
import { isAbout } from './involved-events.ts'
import { ListWatch } from './list-watch.ts'
import type { MemberClient } from './member-client.ts'
import type { RelistCause } from './mirror-sink.ts'
import { countLost } from './reconcile-type.ts'
import { remakeType } from './remake-type.ts'
import type { SyncServices } from './services.ts'
import type { SyncTarget } from './sync-list.ts'
import {
  bytesText,
  coversText,
  makerText,
  type TypeEncoders,
  typeEncoders,
} from './type-encoder.ts'
import { type Lag, TypeMirror } from './type-mirror.ts'
import { LAGGING, nextState, PENDING, sameState, type TypeState } from './type-state.ts'
import type { WatchTurns } from './watch-turns.ts'

export interface ResourceSyncerOptions {
  readonly services: SyncServices
  readonly cluster: string
  readonly lease: Lease
  readonly client: MemberClient
  readonly target: SyncTarget
  readonly printer: Printer
  /** What the store has of the type, when the syncer is made. */
  readonly stored: StoredClusterResource | undefined
  /** Left out: all. */
  readonly namespaces?: readonly string[] | undefined
  readonly controlPlaneUid: () => string
  /** First lists of this member. */
  readonly gate: Gate
  readonly turns?: WatchTurns
  readonly changed: () => void
  /** The lease is lost: nobody of this cluster may write any more. */
  readonly lost: (error: LeaseLost) => void
}

/** Types that are mostly the largest: their first lists come last, so that the many small ones do not wait. */
const HEAVY: ReadonlyMap<string, number> = new Map([
  ['configmaps', 1],
  ['secrets', 1],
  ['endpointslices', 1],
  ['replicasets', 2],
  ['pods', 3],
  ['events', 4],
])
const RETRY_MILLISECONDS = 2_000
const DEFECT = {
  status: 'Error',
  reason: 'SyncFailed',
  message: 'the syncer failed and tries again; see its log',
} as const

export class ResourceSyncer {
  readonly #options: ResourceSyncerOptions
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #target: SyncTarget
  #listWatch: ListWatch | undefined
  #mirror: TypeMirror | undefined
  #typeId: number | undefined
  #columnsId: number | undefined
  #listKind: string
  #state: TypeState = PENDING
  /** Good for the first start only: later the store knows better. */
  #stored: StoredClusterResource | undefined
  #storing: Promise<void> = Promise.resolve()

  constructor(options: ResourceSyncerOptions) {
    this.#options = options
    this.#target = options.target
    this.#listKind = `${options.target.info.kind}List`
    this.#stored = options.stored
    this.#running = this.#run()
  }

  get target(): SyncTarget {
    return this.#target
  }

  get state(): TypeState {
    return this.#state
  }

  /** Ends every request. What was not yet stored is read again: the position has not passed it. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await this.#storing
    this.#options.services.metrics.forget({
      cluster: this.#options.cluster,
      type: this.#options.target.type,
    })
  }

  /** Undefined until the store knows the type. */
  get typeId(): number | undefined {
    return this.#typeId
  }

  /** Objects that the watch did not tell of; undefined while there is no complete mirror to compare. */
  async countLost(signal: AbortSignal): Promise<number | undefined> {
    const { services, lease, client } = this.#options
    const { store, clock, limits } = services
    const { type, involved } = this.#target
    const paths = this.#listWatch?.openPaths ?? []
    if (this.#state.initialListPhase !== 'Finished' || paths.length === 0) return undefined
    const { pageItems, objectBytes } = limits.follow
    const work = {
      ...{ store, clock, paths, pageItems, objectBytes },
      source: { client, resource: type.resource },
      of: { clusterId: lease.clusterId, typeId: this.#typeId! },
      isFiltered: involved !== undefined,
      settleMilliseconds: limits.settleMilliseconds,
    }
    return countLost(work, AbortSignal.any([signal, this.#stopping.signal]))
  }

  /**
   * Says whether the mirror is older than it may be. To be called from time to time.
   *
   * @param turnsMilliseconds - until a type that waits for its turn to be watched has it.
   */
  checkLag(turnsMilliseconds: number): void {
    if (this.#state.initialListPhase !== 'Finished') return
    const { services, target, turns } = this.#options
    const { lagMilliseconds, follow } = services.limits
    const between = target.info.verbs.includes('watch') ? 0 : follow.pollMilliseconds
    const most = lagMilliseconds + between + (turns ? turnsMilliseconds : 0)
    this.#mirror?.setLag(this.#lag(services.clock.now(), most))
  }

  #lag(now: number, mostMilliseconds: number): Lag | undefined {
    const waitingSince = this.#mirror?.waitingSince ?? now
    // It is over only when it is well over: a status is not to be written back and forth.
    const most = this.#state.reason === LAGGING ? mostMilliseconds / 2 : mostMilliseconds
    if (now - waitingSince > most) return { since: waitingSince, why: 'unstored' }
    const heardAt = this.#listWatch?.heardAt ?? now
    return now - heardAt > mostMilliseconds ? { since: heardAt, why: 'silent' } : undefined
  }

  relist(cause: RelistCause): void {
    this.#listWatch?.requestRelist(cause)
  }

  /** Discovery says something else of the type that does not change how it is synced. */
  async describe(target: SyncTarget): Promise<void> {
    this.#target = target
    if (this.#typeId !== undefined) await this.#noted(() => this.#put())
  }

  /** What fails in here is the store; a member's failures are kept inside of the list-watch. */
  async #run(): Promise<void> {
    const { services, lost } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#follow(signal)
      } catch (error) {
        if (error instanceof LeaseLost) return lost(error)
        if (signal.aborted) return
        services.log.error({ err: error, type: this.#target.type }, 'the sync of a type failed')
        this.#setState({ ...this.#state, ...DEFECT })
        await services.clock.sleep(RETRY_MILLISECONDS, signal).catch(() => undefined)
      }
    }
  }

  async #follow(signal: AbortSignal): Promise<never> {
    const { services, printer, lease, client, gate, turns, cluster } = this.#options
    const { type, info } = this.#target
    const { position, remake, typeId, columnsId } = await this.#noted(
      () => this.#register(),
      signal,
    )
    const target = { lease, typeId, columnsId }
    if (position) this.#setState({ ...this.#state, initialListPhase: 'Finished' })
    const encoders = typeEncoders({ cluster, info, printer }, services)
    this.#mirror = this.#createMirror({ target, encoders, stored: position }, signal)
    this.#listWatch = new ListWatch({
      source: { client, resource: type.resource },
      paths: pathsOf(info, this.#options.namespaces),
      watchable: info.verbs.includes('watch'),
      limits: services.limits.follow,
      clock: services.clock,
      sink: this.#mirror,
      gates: [services.firstLists, gate],
      weight: HEAVY.get(type.resource) ?? 0,
      ...(turns && { turns }),
      // kube-apiserver does, of all that it serves itself.
      sendsBookmarks: isBuiltInGroup(type.group),
    })
    const remaking = remake && this.#remake({ target, encode: encoders.again }, signal)
    try {
      return await this.#listWatch.run(signal)
    } finally {
      await remaking
    }
  }

  /** @param signal - left out: it is noted although the type is stopped. */
  #noted<T>(work: () => Promise<T>, signal = new AbortController().signal): Promise<T> {
    const { services, lease } = this.#options
    return services.notes.run(lease.clusterId, work, signal)
  }

  /** Makes the type known to the store, and learns what that has of it. */
  async #register() {
    const { services, printer } = this.#options
    const { type } = this.#target
    const maker = makerText(bytesText(type, services))
    const typeId = await ensureType(services.store, type)
    const columnsId = await ensureColumnSet(services.store, printer.columns, maker)
    this.#typeId = typeId
    this.#columnsId = columnsId
    return { ...(await this.#resumePosition(typeId)), typeId, columnsId }
  }

  /** Goes on beside the watch; what it did not do, a later start does: the store remembers. */
  async #remake(
    work: { readonly target: WriteTarget; readonly encode: ObjectEncoder },
    signal: AbortSignal,
  ): Promise<void> {
    const { services } = this.#options
    while (!signal.aborted) {
      try {
        return await remakeType(services, work, signal)
      } catch (error) {
        // A lost lease shows where objects are written, too; it ends the signal.
        if (signal.aborted) return
        services.log.warn({ err: error, type: this.#target.type }, 'rows are not made again yet')
        await services.clock.sleep(RETRY_MILLISECONDS, signal).catch(() => undefined)
      }
    }
  }

  /** The stored position, unless rows must be listed anew: putClusterResource forgets it by the same rule. */
  async #resumePosition(
    typeId: number,
  ): Promise<{ readonly position: SyncPosition | undefined; readonly remake: boolean }> {
    const stored = this.#stored ?? (await this.#readStored(typeId))
    this.#stored = undefined
    if (stored) this.#listKind = stored.listKind
    await this.#put()
    const remake = stored?.remake === true || stored?.columnsId !== this.#columnsId
    const same =
      stored?.apiVersion === apiVersionOf(this.#target.info) && stored.covers === this.#covers()
    // Without a position everything is listed anyway.
    return same && stored.position
      ? { position: stored.position, remake }
      : { position: undefined, remake: false }
  }

  #covers(): string {
    const { services, namespaces } = this.#options
    const { type, info, involved } = this.#target
    return coversText({
      bytes: bytesText(type, services),
      involved,
      namespaces: info.namespaced && namespaces?.length ? namespaces : undefined,
    })
  }

  async #readStored(typeId: number): Promise<StoredClusterResource | undefined> {
    const { services, lease } = this.#options
    const all = await listClusterResources(services.store, lease.clusterId)
    return all.find((one) => one.typeId === typeId)
  }

  #createMirror(
    of: {
      readonly target: WriteTarget
      readonly encoders: TypeEncoders
      readonly stored: SyncPosition | undefined
    },
    signal: AbortSignal,
  ): TypeMirror {
    const { services, cluster, controlPlaneUid, lost } = this.#options
    const { writer, budget, metrics, limits, clock } = services
    const { target, encoders, stored } = of
    const { type, involved } = this.#target
    return new TypeMirror({
      of: { cluster, type },
      target,
      encode: encoders.fresh,
      wants: involved ? (object) => isAbout(involved, object) : () => true,
      writer,
      budget: budget.shareOf(cluster),
      limits: limits.batch,
      metrics,
      controlPlaneUid,
      lost,
      stored,
      now: () => clock.now(),
      report: (news) => this.#setState(nextState(this.#state, news)),
      listKind: async (kind) => {
        if (kind === this.#listKind) return
        this.#listKind = kind
        await this.#noted(() => this.#put())
      },
      signal,
    })
  }

  async #put(): Promise<void> {
    const { services, lease } = this.#options
    const { info, servedVersions } = this.#target
    await putClusterResource(services.store, lease, {
      typeId: this.#typeId!,
      kind: info.kind,
      listKind: this.#listKind,
      singularName: info.singularName,
      shortNames: info.shortNames,
      categories: info.categories,
      namespaced: info.namespaced,
      apiVersion: apiVersionOf(info),
      servedVersions,
      covers: this.#covers(),
      ...(this.#columnsId !== undefined && { columnsId: this.#columnsId }),
    })
  }

  #setState(state: TypeState): void {
    if (sameState(state, this.#state)) return
    this.#state = state
    this.#options.changed()
    // One behind the other, so that the last state is the one that stays.
    this.#storing = this.#storing.then(() => this.#storeState())
  }

  async #storeState(): Promise<void> {
    const { services, lease } = this.#options
    const { status, reason, message, since } = this.#state
    if (this.#typeId === undefined) return
    const typeId = this.#typeId
    try {
      const noted = {
        ...{ typeId, status, reason, message },
        ...(since !== undefined && { since: new Date(since) }),
      }
      await this.#noted(() => setSyncStatus(services.store, lease, noted))
    } catch (error) {
      // The next change of state brings it up to date; a lost lease shows where objects are written.
      services.log.debug({ err: error }, 'the status of a type could not be stored')
    }
  }
}

/** Cluster-scoped types have one path whatever namespaces are wanted. */
function pathsOf(info: ResourceInfo, namespaces: readonly string[] | undefined): FollowedPath[] {
  const prefix = `/${groupVersionPath(info)}`
  if (!info.namespaced || !namespaces || namespaces.length === 0)
    return [{ path: `${prefix}/${info.resource}` }]
  return [...new Set(namespaces)].map((namespace) => ({
    path: `${prefix}/namespaces/${encodeURIComponent(namespace)}/${info.resource}`,
    namespace,
  }))
}
