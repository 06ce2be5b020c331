/**
 * What a member's etcd is: objects by type, one revision that only grows, and the changes since
 * the last compaction.
 *
 * A snapshot of any revision that is not compacted can be read back, which is what keeps the
 * pages of one list consistent.
 */
import type { GroupResource } from '../../kube/group-resource.ts'
import { atRevision, keyOf, type StoredObject } from './stored-object.ts'

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: bigint
  readonly of: string
  /** Of a deletion: the last state, at the revision of the deletion. */
  readonly object: StoredObject
  readonly previous: StoredObject | undefined
}

export type Listener = (change: Change) => void

/** Where objects of a type are kept, whatever group or version they are served in. */
export function storageKey({ group, resource }: GroupResource): string {
  return `${group}/${resource}`
}

const SNAPSHOTS_KEPT = 16

export class ObjectHistory {
  #revision: bigint
  #floor: bigint
  readonly #objects = new Map<string, Map<string, StoredObject>>()
  #changes: Change[] = []
  readonly #listeners = new Set<Listener>()
  readonly #snapshots: Array<{
    readonly of: string
    readonly revision: bigint
    readonly objects: readonly StoredObject[]
  }> = []
  readonly #maxChanges: number

  constructor(options: { firstRevision: bigint; maxChanges: number }) {
    this.#revision = options.firstRevision
    this.#floor = options.firstRevision
    this.#maxChanges = options.maxChanges
  }

  /** The revision of the last change. */
  get revision(): bigint {
    return this.#revision
  }

  /** Changes at or below it are forgotten; a watch can start from it, not from before. */
  get floor(): bigint {
    return this.#floor
  }

  get(of: string, key: string): StoredObject | undefined {
    return this.#objects.get(of)?.get(key)
  }

  /** Stores what `make` makes for the next revision. */
  put(of: string, make: (revision: bigint) => StoredObject): StoredObject {
    const object = make(this.#revision + 1n)
    const objects = this.#typed(of)
    const previous = objects.get(keyOf(object))
    objects.set(keyOf(object), object)
    const type = previous ? 'MODIFIED' : 'ADDED'
    this.#record({ type, revision: object.revision, of, object, previous })
    return object
  }

  /** Returns what was removed. */
  remove(of: string, key: string): StoredObject | undefined {
    const previous = this.#objects.get(of)?.get(key)
    if (!previous) return undefined
    this.#objects.get(of)?.delete(key)
    const revision = this.#revision + 1n
    const object = atRevision(previous, revision)
    this.#record({ type: 'DELETED', revision, of, object, previous })
    return object
  }

  /** Removes without telling any watcher, as a watch cache that missed a deletion does. */
  loseSilently(of: string, key: string): void {
    this.#objects.get(of)?.delete(key)
    this.#revision += 1n
  }

  /** All objects of a type in key order, as they were at `revision`. */
  snapshot(of: string, revision = this.#revision): readonly StoredObject[] {
    // The pages of a list come one after another: only the first one pays for the snapshot.
    const cached = this.#snapshots.find((one) => one.of === of && one.revision === revision)
    if (cached) return cached.objects
    const objects = this.#makeSnapshot(of, revision)
    this.#snapshots.unshift({ of, revision, objects })
    this.#snapshots.length = Math.min(this.#snapshots.length, SNAPSHOTS_KEPT)
    return objects
  }

  #makeSnapshot(of: string, revision: bigint): StoredObject[] {
    const state = new Map(this.#objects.get(of) ?? [])
    for (let i = this.#changes.length - 1; i >= 0; i--) {
      const change = this.#changes[i]!
      if (change.revision <= revision) break
      if (change.of !== of) continue
      if (change.previous) state.set(keyOf(change.previous), change.previous)
      else state.delete(keyOf(change.object))
    }
    return [...state].sort(byKey).map(([, object]) => object)
  }

  changesSince(of: string, revision: bigint): Change[] {
    return this.#changes.filter((change) => change.of === of && change.revision > revision)
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Forgets all changes up to now: watches and pages from before get 410. */
  compact(): void {
    this.#changes = []
    this.#floor = this.#revision
  }

  /** Goes back to an earlier state, as after an etcd restore: revisions are given out again. */
  restore(state: {
    revision: bigint
    objects: ReadonlyMap<string, readonly StoredObject[]>
  }): void {
    this.#objects.clear()
    this.#snapshots.length = 0
    for (const [of, objects] of state.objects) {
      this.#objects.set(of, new Map(objects.map((object) => [keyOf(object), object])))
    }
    this.#revision = state.revision
    this.#changes = []
    this.#floor = state.revision
  }

  /** What {@link restore} takes. */
  backup(): { revision: bigint; objects: ReadonlyMap<string, readonly StoredObject[]> } {
    const entries = [...this.#objects].map(([of, map]) => [of, [...map.values()]] as const)
    return { revision: this.#revision, objects: new Map(entries) }
  }

  #typed(of: string): Map<string, StoredObject> {
    const present = this.#objects.get(of)
    if (present) return present
    const made = new Map<string, StoredObject>()
    this.#objects.set(of, made)
    return made
  }

  #record(change: Change): void {
    this.#revision = change.revision
    this.#changes.push(change)
    if (this.#changes.length > this.#maxChanges) {
      const dropped = this.#changes.splice(0, Math.ceil(this.#maxChanges / 4))
      this.#floor = dropped.at(-1)!.revision
    }
    for (const listener of [...this.#listeners]) listener(change)
  }
}

/** etcd orders by bytes; `<` on strings orders by UTF-16 units, the same for legal names. */
function byKey(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : 1
}
