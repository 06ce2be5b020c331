/**
 * Whether a mirror can be compared, and why not: the same for the store's own catalog and for what
 * a server tells of it.
 */
import type { GroupResource } from '../kube/group-resource.ts'
import { isBehindWithCluster, type MirroredType, type MirrorState } from '../kube/mirror-state.ts'
import { timestamp } from '../kube/timestamp.ts'
import { SYNCER_GRACE_MILLISECONDS } from '../store/catalog.ts'
import { textAt } from './field.ts'
import type { Problem, SourceCluster } from './source.ts'

export interface Freshness {
  /** Milliseconds since 1970. */
  readonly now: number
  /** A mirror that is behind its cluster by at most this is compared nevertheless. */
  readonly maxStalenessMilliseconds: number
}

export function sourceCluster(cluster: MirrorState, asOf: Freshness): SourceCluster {
  const { name, labels } = cluster
  const { observedAt, problem } = freshness(cluster, asOf)
  const version = gitVersion(cluster.version)
  return { name, labels, version, observedAt, ...(problem && { problem }) }
}

const NEVER = new Date(0)

function freshness(
  { staleReason, staleSince, syncerSeenAt, resources }: MirrorState,
  { now, maxStalenessMilliseconds }: Freshness,
): Pick<SourceCluster, 'observedAt' | 'problem'> {
  const isTolerable = (since: Date | null) =>
    since !== null && since.getTime() >= now - maxStalenessMilliseconds
  if (staleReason !== null) {
    const problem: Problem = {
      why: 'disconnected',
      message: behind(staleReason, staleSince, resources),
    }
    return { observedAt: staleSince ?? NEVER, ...(!isTolerable(staleSince) && { problem }) }
  }
  const goneAt = syncerSeenAt ? syncerSeenAt.getTime() + SYNCER_GRACE_MILLISECONDS : 0
  if (goneAt >= now) return { observedAt: new Date(now) }
  const message = behind('no syncer is at work', syncerSeenAt, [])
  return {
    observedAt: syncerSeenAt ?? NEVER,
    ...(!isTolerable(syncerSeenAt) && { problem: { why: 'stale', message } }),
  }
}

/** A mirror that was listed once was in step, even if nobody noted when that ended. */
function behind(
  reason: string,
  since: Date | null,
  resources: ReadonlyArray<Pick<MirroredType, 'position'>>,
): string {
  if (since) return `${reason}; last in step ${timestamp(since.getTime())}`
  return resources.some(({ position }) => position) ? reason : `${reason}; never in step`
}

/** A member may answer anything; what is no version counts as untold. */
function gitVersion(document: string | null): string | undefined {
  if (document === null) return undefined
  try {
    return textAt(JSON.parse(document), 'gitVersion') || undefined
  } catch {
    return undefined
  }
}

/** Why objects of one type cannot be compared. */
export function typeProblem(
  cluster: MirrorState | undefined,
  isAllowed: boolean,
  of: GroupResource,
): Problem | undefined {
  if (!isAllowed) {
    return { why: 'forbidden', message: `you may not read ${of.resource} of it` }
  }
  const resource = cluster && typeIn(cluster, of)
  if (!resource) return { why: 'not collected', message: `its ${of.resource} are not synced` }
  // How old that may be has been decided of the cluster.
  return isBehindWithCluster(cluster, resource) ? undefined : stateProblem(resource)
}

export function typeIn<Type extends MirroredType>(
  { resources }: MirrorState<Type>,
  of: GroupResource,
): Type | undefined {
  return resources.find(({ group, resource }) => group === of.group && resource === of.resource)
}

function stateProblem(type: MirroredType): Problem | undefined {
  const { status, reason, message, position } = type
  const text = message || `its ${type.resource} are not in step`
  if (status === 'Error' && reason === 'Forbidden') return { why: 'forbidden', message: text }
  if (!position) {
    const waiting = `the first list of its ${type.resource} is not complete`
    return { why: 'not collected', message: status === 'Error' ? text : waiting }
  }
  return status === 'Error' || status === 'Stop' ? { why: 'stale', message: text } : undefined
}
