/**
 * What the store knows of a cluster before any object is read: as of when, and which resources.
 *
 * A mirror is only as good as the news it gets. What is not mirrored is not seen; what the cluster
 * does not serve is not there, which only a registration that asks for it can tell.
 */
import type { GroupResource } from '../kube/group-resource.ts'
import { isBehindWithCluster, type MirroredType, type MirrorState } from '../kube/mirror-state.ts'
import { SYNCER_GRACE_MILLISECONDS } from '../store/catalog.ts'
import { type Cause, Unseen } from './cause.ts'
import { Unreachable } from './sweep.ts'
import {
  groupResourceOf,
  resourcesAskedFor,
  type SweptResource,
  sweptType,
} from './swept-resources.ts'

/** What a registration asks for. */
export interface MirrorWishes {
  wants(type: GroupResource): boolean
  /** Undefined: all of them. */
  readonly namespaces: readonly string[] | undefined
}

export interface MirrorRequest {
  /** By name of the cluster; undefined when nothing is known of its registration. */
  readonly wishesOf: (cluster: string) => MirrorWishes | undefined
  readonly namespace?: string
  readonly maxStalenessMilliseconds: number
  /** Milliseconds since 1970. */
  readonly now: number
}

export interface MirroredCluster<Type> {
  readonly observedAt: number
  /** To be read. */
  readonly types: ReadonlyMap<SweptResource, Type>
  /** Known to have no objects. */
  readonly empty: readonly SweptResource[]
  /** Blind spots, and why each is one. What cannot be read after all is added. */
  readonly causes: Map<SweptResource, Cause>
}

/** @throws Unreachable when it was never mirrored, or not for too long. */
export function mirroredCluster<Type extends MirroredType>(
  cluster: MirrorState<Type>,
  request: MirrorRequest,
): MirroredCluster<Type> {
  const stored = new Map(cluster.resources.map((one) => [`${one.group}/${one.resource}`, one]))
  const wishes = request.wishesOf(cluster.name)
  const types = new Map<SweptResource, Type>()
  const empty: SweptResource[] = []
  const causes = new Map<SweptResource, Cause>()
  for (const resource of resourcesAskedFor(request.namespace)) {
    const type = groupResourceOf(resource)
    const found = stored.get(`${type.group}/${resource}`)
    if (found && isReadable(cluster, found)) types.set(resource, found)
    else if (!found && wishes?.wants(type)) empty.push(resource)
    else causes.set(resource, { word: whyNot(found) })
    const namespaces = { seen: wishes?.namespaces, asked: request.namespace }
    if (types.has(resource) && isPartial(resource, namespaces)) {
      causes.set(resource, { word: 'partial' })
    }
  }
  if (types.size === 0) {
    throw new Unreachable('connecting to the cluster', { cause: new Unseen('not-mirrored') })
  }
  return { observedAt: newsOf(cluster, request), types, empty, causes }
}

function isReadable(cluster: MirrorState, type: MirroredType): boolean {
  if (type.status === 'Error') return isBehindWithCluster(cluster, type)
  return Boolean(type.position)
}

function whyNot(found: MirroredType | undefined): Cause['word'] {
  if (!found) return 'not-mirrored'
  if (found.status !== 'Error') return 'not-listed'
  return found.reason === 'Forbidden' ? 'forbidden' : 'not-in-step'
}

interface NamespacesOf {
  /** Undefined: all of them. */
  readonly seen: readonly string[] | undefined
  readonly asked: string | undefined
}

/** Whether what is asked about is in none of the namespaces that can be seen. */
export function isPartial(resource: SweptResource, { seen, asked }: NamespacesOf): boolean {
  if (!seen || !sweptType(resource).namespaced) return false
  const within = sweptType(resource).fixedNamespace ?? asked
  return within === undefined || !seen.includes(within)
}

/** When the last event, bookmark or list came. */
function newsOf(cluster: MirrorState, { now, maxStalenessMilliseconds }: MirrorRequest): number {
  const { staleReason, staleSince, syncerSeenAt } = cluster
  const lastSyncer = syncerSeenAt ? syncerSeenAt.getTime() : Number.NEGATIVE_INFINITY
  const lastInStep = staleReason === null ? now : (staleSince?.getTime() ?? lastSyncer)
  // A cluster in step is current for as long as a syncer is there to say so.
  const isLed = lastSyncer + SYNCER_GRACE_MILLISECONDS >= now
  const news = isLed ? lastInStep : Math.min(lastInStep, lastSyncer)
  if (now - news > maxStalenessMilliseconds) {
    throw new Unreachable('timed out', { cause: new Unseen('not-in-step') })
  }
  return news
}
