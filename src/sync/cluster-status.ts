/**
 * The status of a PediaCluster, and what readers are warned of. Pure: from what is known to what is said.
 *
 * lastTransitionTime is carried over from the status before, so an unchanged state is an equal text
 * and is not written again.
 */
import { type GroupResource, qualifiedResource } from '../kube/group-resource.ts'
import type {
  Condition,
  PediaClusterStatus,
  ResourceStatus,
  SyncCondition,
} from '../kube/pedia-cluster.ts'
import { timestamp } from '../kube/timestamp.ts'
import { REASON } from './member-error.ts'
import type { SessionState } from './member-session.ts'
import { keyOf, type MissingType } from './sync-list.ts'
import type { SyncedType } from './type-set.ts'

/** What is known of one registration at a moment. */
export interface ClusterFacts {
  readonly apiserver: string | undefined
  readonly shardingName: string | undefined
  /** Why the registration cannot be used; undefined when it can. */
  readonly invalid: { readonly reason: string; readonly message: string } | undefined
  readonly paused: boolean
  /** Undefined: another process holds the cluster, or nothing was started. */
  readonly session: SessionState | undefined
  readonly types: readonly SyncedType[]
  readonly missing: readonly MissingType[]
  /** How watches are shared; `''` when there is one for each type. */
  readonly sharing: string
}

export const PAUSED_REASON = 'paused by the annotation fleetglass.io/paused'

type Verdict = Omit<Condition, 'type' | 'lastTransitionTime'>

export function clusterStatus(
  facts: ClusterFacts,
  before: PediaClusterStatus | undefined,
  now: number,
): PediaClusterStatus {
  const at = timestamp(now)
  const verdicts: Readonly<Record<string, Verdict>> = {
    Validated: validated(facts),
    SynchroRunning: running(facts),
    ClusterHealthy: healthy(facts),
  }
  const conditions = Object.entries({ ...verdicts, Ready: ready(facts, verdicts) }).map(
    ([type, verdict]) => condition({ type, ...verdict }, before?.conditions, at),
  )
  const version = facts.session?.health?.version ?? before?.version
  const syncResources = resourceStatuses(facts, before, at)
  // Of a kubeconfig only a session knows the address, and what is paused has none.
  const apiserver = facts.apiserver ?? (facts.paused ? before?.apiserver : undefined)
  return {
    ...(apiserver !== undefined && { apiserver }),
    ...(version !== undefined && { version }),
    ...(facts.shardingName !== undefined && { shardingName: facts.shardingName }),
    conditions,
    ...(syncResources && { syncResources }),
  }
}

function validated({ invalid }: ClusterFacts): Verdict {
  if (invalid) return { status: 'False', ...invalid }
  return { status: 'True', reason: 'Validated', message: '' }
}

function running({ paused, session, invalid, sharing }: ClusterFacts): Verdict {
  if (paused) return { status: 'False', reason: 'Paused', message: PAUSED_REASON }
  if (session?.started) return { status: 'True', reason: 'Running', message: sharing }
  if (session) {
    const message = session.discoveryTrouble?.message ?? 'waits for the cluster to answer'
    return { status: 'False', reason: 'Pending', message }
  }
  const message = invalid ? 'the registration is not valid' : 'waits for a syncer'
  return { status: 'False', reason: 'Pending', message }
}

function healthy({ session, paused }: ClusterFacts): Verdict {
  if (session?.trouble) {
    const reason = session.trouble.failure === 'unreachable' ? 'NotReachable' : 'Unhealthy'
    return { status: 'False', reason, message: session.trouble.message }
  }
  if (session?.health) return { status: 'True', reason: 'Healthy', message: '' }
  const message = paused ? PAUSED_REASON : 'was not asked yet'
  return { status: 'Unknown', reason: 'Pending', message }
}

/** Ready means that an answer about this cluster is complete and current: first lists included. */
function ready({ types }: ClusterFacts, verdicts: Readonly<Record<string, Verdict>>): Verdict {
  const wrong = Object.entries(verdicts).find(([, { status }]) => status !== 'True')
  if (wrong) {
    const [type, { reason, message }] = wrong
    return { status: 'False', reason: 'NotReady', message: message || `${type}: ${reason}` }
  }
  if (types.some(({ state }) => state.initialListPhase !== 'Finished' && !isHopeless(state))) {
    const message = 'types are listed for the first time'
    return { status: 'False', reason: 'NotReady', message }
  }
  return { status: 'True', reason: 'Ready', message: '' }
}

/** A type that is refused or always fails holds up no cluster; one that was put off does. */
function isHopeless({ status, reason }: SyncedType['state']): boolean {
  return status === 'Error' && reason !== REASON.throttled && reason !== REASON.unreachable
}

function condition(
  news: Omit<Condition, 'lastTransitionTime'>,
  before: readonly Condition[] | undefined,
  at: string,
): Condition {
  const known = before?.find(({ type }) => type === news.type)
  const lastTransitionTime = known?.status === news.status ? known.lastTransitionTime : at
  return { ...news, lastTransitionTime }
}

type GroupStatus = { readonly group: string; readonly resources: readonly ResourceStatus[] }

function resourceStatuses(
  facts: ClusterFacts,
  before: PediaClusterStatus | undefined,
  at: string,
): readonly GroupStatus[] | undefined {
  const known = before?.syncResources
  if (facts.paused) return known && stopped(known, at)
  // Before the first discovery nothing is known that would be better than what was known.
  if (!facts.session?.started) return known
  const carried = { known: conditionsOf(known), at }
  const groups = new Map<string, ResourceStatus[]>()
  const add = (group: string, one: ResourceStatus) => {
    const others = groups.get(group)
    if (others) others.push(one)
    else groups.set(group, [one])
  }
  for (const one of facts.types) add(one.target.type.group, syncedStatus(one, carried))
  for (const one of facts.missing) add(one.group, missingStatus(one, carried))
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, resources]) => ({
      group,
      resources: resources.sort((a, b) => (a.name < b.name ? -1 : 1)),
    }))
}

/** By type: a member may serve thousands. */
type KnownConditions = ReadonlyMap<string, SyncCondition | undefined>

function conditionsOf(groups: readonly GroupStatus[] = []): KnownConditions {
  return new Map(
    groups.flatMap(({ group, resources }) =>
      resources.map(({ name, syncConditions }) => [
        keyOf({ group, resource: name }),
        syncConditions[0],
      ]),
    ),
  )
}

interface Carried {
  readonly known: KnownConditions
  readonly at: string
}

function syncedStatus({ target, state }: SyncedType, carried: Carried): ResourceStatus {
  const { type, info } = target
  const moved = info.group !== type.group
  const news: Omit<SyncCondition, 'lastTransitionTime'> = {
    version: info.version,
    syncVersion: info.version,
    ...(moved && { syncResource: qualifiedResource(info) }),
    storageVersion: info.version,
    status: state.status,
    reason: state.reason,
    message: state.message,
    ...(state.initialListPhase !== 'Finished' && { initialListPhase: true }),
  }
  const { kind, namespaced } = info
  const syncConditions = [dated(news, type, carried)]
  return { name: type.resource, kind, namespaced, syncConditions }
}

function missingStatus(type: MissingType, carried: Carried): ResourceStatus {
  const { resource, reason } = type
  const news = { version: '', status: 'Unknown' as const, reason: 'NotServed', message: reason }
  const syncConditions = [dated(news, type, carried)]
  return { name: resource, kind: '', namespaced: false, syncConditions }
}

function dated(
  news: Omit<SyncCondition, 'lastTransitionTime'>,
  type: GroupResource,
  { known, at }: Carried,
): SyncCondition {
  const before = known.get(keyOf(type))
  const lastTransitionTime = before?.status === news.status ? before.lastTransitionTime : at
  return { ...news, lastTransitionTime }
}

function stopped(known: readonly GroupStatus[], at: string): GroupStatus[] {
  return known.map(({ group, resources }) => ({
    group,
    resources: resources.map((resource) => ({
      ...resource,
      syncConditions: resource.syncConditions.map((one) => ({
        ...one,
        status: 'Stop' as const,
        reason: 'Paused',
        message: PAUSED_REASON,
        lastTransitionTime: one.status === 'Stop' ? one.lastTransitionTime : at,
      })),
    })),
  }))
}

/** What readers of the cluster are warned of; null when its mirror is in step. */
export function staleReason(facts: ClusterFacts): string | null {
  if (facts.paused) return PAUSED_REASON
  if (facts.invalid?.reason === 'InvalidConfig') return `InvalidConfig: ${facts.invalid.message}`
  return facts.session?.trouble?.message ?? facts.session?.discoveryTrouble?.message ?? null
}
