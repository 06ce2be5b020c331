/**
 * Follows PediaClusters, ClusterSyncResources, FleetAccesses and our Secrets in the management
 * cluster, and keeps our store, and the finalizers there, in line with them.
 *
 * Whatever changes, all of it is compared with all of the store: nothing hangs on having seen an
 * event. One process at a time does this (lead.ts).
 */
import type { Clock } from '../clock.ts'
import { groupVersionPath } from '../kube/group-resource.ts'
import type { JsonObject } from '../kube/kube-object.ts'
import { messageOf } from '../kube/message-of.ts'
import { CLUSTER_GROUP } from '../kube/pedia-cluster.ts'
import type { Logger } from '../log.ts'
import { sameJson, withField } from '../registration/json-text.ts'
import { kindOfResource, REGISTRATION_KINDS, type RegistrationKind } from '../registration/kinds.ts'
import { nameOf, withMetadata } from '../registration/lifecycle.ts'
import {
  mirrorRegistrations,
  type WantedRegistrations,
} from '../registration/mirror-registrations.ts'
import type { RegistrationContext } from '../registration/write-object.ts'
import type { FollowLimits } from '../sync/list-watch.ts'
import { Wakeup } from '../sync/wakeup.ts'
import type { WorkQueue } from '../sync/work-queue.ts'
import type { ManagementClient } from './client.ts'
import { isBeingDeleted, keepFinalizer } from './finalizer.ts'
import { type FollowedObjects, followObjects, type ObjectChange } from './follow-objects.ts'
import type { Leadership } from './lead.ts'
import { needsSecrets, resolveCredentials } from './resolve-credentials.ts'

export interface ControllerParts {
  readonly client: ManagementClient
  readonly context: RegistrationContext
  readonly clock: Clock
  readonly log: Logger
  readonly queue?: WorkQueue
  readonly limits?: Partial<FollowLimits>
}

export interface RegistrationController {
  /** Why the store may be behind the management cluster; undefined while it is not, or another process leads. */
  readonly trouble: string | undefined
  /** Until the leadership ends. */
  run(leadership: Leadership): Promise<void>
}

/** Bursts (an apply of a whole directory) are one comparison. */
const SETTLE_MILLISECONDS = 50
const RETRY_MILLISECONDS = 5_000
/** When nobody tells of a change. */
const COMPARE_EVERY_MILLISECONDS = 300_000

const CLUSTERS = kindOfResource(CLUSTER_GROUP, 'pediaclusters')

export function createRegistrationController(parts: ControllerParts): RegistrationController {
  let leading: Leading | undefined
  return {
    get trouble() {
      return leading?.trouble
    },
    run: async (leadership) => {
      leading = new Leading(parts, leadership)
      try {
        await leading.run()
      } finally {
        leading = undefined
      }
    },
  }
}

class Leading {
  readonly #parts: ControllerParts
  readonly #leadership: Leadership
  readonly #changed = new Wakeup()
  readonly #followed: ReadonlyMap<RegistrationKind, FollowedObjects>
  readonly #secrets: FollowedObjects
  /** States that need no look any more: what we wrote to them comes back as another. */
  readonly #kept = new WeakSet<JsonObject>()
  #failure: string | undefined

  constructor(parts: ControllerParts, leadership: Leadership) {
    this.#parts = parts
    this.#leadership = leadership
    this.#followed = new Map(
      REGISTRATION_KINDS.map(
        (kind) =>
          [
            kind,
            this.#follow(`/${groupVersionPath(kind)}/${kind.resource}`, kind.resource),
          ] as const,
      ),
    )
    const { namespace } = parts.client
    this.#secrets = this.#follow(`/api/v1/namespaces/${namespace}/secrets`, 'secrets')
  }

  get trouble(): string | undefined {
    const followed = [...this.#followed.values(), this.#secrets]
    return followed.find(({ trouble }) => trouble !== undefined)?.trouble ?? this.#failure
  }

  async run(): Promise<void> {
    const { clock, log, queue } = this.#parts
    const { signal } = this.#leadership
    queue?.added()
    while (!signal.aborted) {
      const ended = queue?.begun()
      const failure = await this.#compare()
      ended?.(failure === undefined ? 'done' : 'failed')
      if (failure !== this.#failure && failure !== undefined) log.warn({ failure }, 'not in line')
      this.#failure = failure
      if (failure !== undefined) queue?.added()
      const pause = failure === undefined ? COMPARE_EVERY_MILLISECONDS : RETRY_MILLISECONDS
      await this.#changed.wait(pause, signal)
      await clock.sleep(SETTLE_MILLISECONDS, signal).catch(() => undefined)
    }
    const all = [...this.#followed.values(), this.#secrets]
    await Promise.all(all.map((followed) => followed.stop()))
  }

  #follow(path: string, resource: string): FollowedObjects {
    const { client, clock, log, limits } = this.#parts
    const changed = (change?: ObjectChange) => {
      if (change && !concernsUs(change)) return
      this.#parts.queue?.added()
      this.#changed.wake()
    }
    return followObjects({ client, path, resource, changed, clock, log, ...(limits && { limits }) })
  }

  /** @returns why it is to be tried again. */
  async #compare(): Promise<string | undefined> {
    const { context, log } = this.#parts
    try {
      const mayWrite = () => this.#leadership.isHeld()
      const failures = await mirrorRegistrations(context, this.#wanted(), mayWrite)
      for (const { what, error } of failures) log.warn({ err: error, what }, 'not stored')
      const stuck = new Set(failures.map(({ what }) => what))
      const troubles = [...stuck, ...(await this.#keepFinalizers(stuck))]
      return troubles.length === 0 ? undefined : `cannot be kept in line: ${troubles.join(', ')}`
    } catch (error) {
      return messageOf(error)
    }
  }

  /** A kind that could not be listed yet is left as it is stored. */
  #wanted(): readonly WantedRegistrations[] {
    return [...this.#followed].flatMap(([kind, { objects }]) => {
      if (!objects) return []
      const live = [...objects.values()].filter((object) => !isBeingDeleted(object))
      if (kind !== CLUSTERS) return [{ kind, objects: live, unknown: new Set<string>() }]
      return [{ kind, ...this.#resolved(live) }]
    })
  }

  #resolved(clusters: readonly JsonObject[]): Pick<WantedRegistrations, 'objects' | 'unknown'> {
    const { namespace } = this.#parts.client
    const { objects: secrets } = this.#secrets
    if (secrets) {
      const known = { namespace, secrets }
      const objects = clusters.map((cluster) => resolveCredentials(cluster, known))
      return { objects, unknown: new Set() }
    }
    return {
      objects: clusters.filter((cluster) => !needsSecrets(cluster)),
      unknown: new Set(clusters.filter(needsSecrets).map(nameOf)),
    }
  }

  /** @returns the PediaClusters whose finalizer could not be written. */
  async #keepFinalizers(stuck: ReadonlySet<string>): Promise<readonly string[]> {
    const { client, log } = this.#parts
    const { signal } = this.#leadership
    const failed: string[] = []
    for (const cluster of this.#clusters()) {
      const what = `${CLUSTERS.resource} ${JSON.stringify(nameOf(cluster))}`
      // Its rows may still be read.
      if (stuck.has(what) || this.#kept.has(cluster) || !this.#leadership.isHeld()) continue
      await keepFinalizer(client, cluster, signal).then(
        () => this.#kept.add(cluster),
        (error: unknown) => {
          log.warn({ err: error, what }, 'the finalizer was not written')
          failed.push(`${what} (finalizer)`)
        },
      )
    }
    return failed
  }

  #clusters(): readonly JsonObject[] {
    return [...(this.#followed.get(CLUSTERS)?.objects?.values() ?? [])]
  }
}

/** That a syncer wrote a status, as each does all the time while clusters start, is no news. */
function concernsUs({ before, after }: ObjectChange): boolean {
  return !before || !after || !sameJson(wanted(before), wanted(after))
}

function wanted(object: JsonObject): JsonObject {
  const bare = withMetadata(object, { managedFields: undefined, resourceVersion: undefined })
  return withField(bare, 'status', undefined)
}
