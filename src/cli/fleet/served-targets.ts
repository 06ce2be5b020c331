/**
 * Clusters as a fleetglass server serves them, with the rights of whoever asks: each is read under
 * its own path of the fleet API, as if it were live, and judged as of when the server last heard.
 */
import { resolve } from 'node:path'
import { systemClock } from '../../clock.ts'
import { withoutOldEvents } from '../../fleet/event-window.ts'
import { type LiveRequest, observeLive } from '../../fleet/live-source.ts'
import { isPartial, type MirrorRequest, mirroredCluster } from '../../fleet/mirrored-cluster.ts'
import type { Target } from '../../fleet/sweep.ts'
import {
  groupResourceOf,
  SWEPT_RESOURCES,
  type SweptResource,
} from '../../fleet/swept-resources.ts'
import { memberPrefix, serverRoot } from '../../kube/fleet-prefix.ts'
import type { GroupResource } from '../../kube/group-resource.ts'
import {
  MIRROR_STATES_PATH,
  type MirrorStates,
  mirrorStatesQuery,
  parseMirrorStates,
  type ToldMirror,
} from '../../kube/mirror-state.ts'
import type { MemberAccess } from '../../sync/member-access.ts'
import { MemberError } from '../../sync/member-error.ts'
import { CommandFailure } from '../failure.ts'
import { kubeconfigReader } from './kubeconfig-contexts.ts'
import { memberReader } from './member-reader.ts'
import type { SweepSettings } from './options.ts'
import { mirroredEntries, type Selected, type SelectionFlags, selectClusters } from './select.ts'
import { asUsage, usageError } from './usage.ts'

export interface ServedInputs {
  readonly flags: SelectionFlags
  readonly settings: SweepSettings
  /** The kubeconfig of the server; its current context is used. */
  readonly path: string
}

const INCONCLUSIVE = 2

/** @throws CommandFailure */
export async function servedTargets<T>(
  { flags, settings, path }: ServedInputs,
  work: (targets: readonly Target[]) => Promise<T>,
): Promise<T> {
  const entries = mirroredEntries(flags)
  const access = await asUsage(() => serverAccess(path))
  const { now, clusters } = await mirrorStates(access, settings.clusterTimeoutMilliseconds)
  const byName = new Map(clusters.map((one) => [one.name, one]))
  const available = () => ({ contexts: [...byName.keys()] })
  const selected = selectClusters({ flags, entries, available })
  const served = { access, settings, now }
  return work(selected.map((one) => servedTarget(one, byName.get(one.context)!, served)))
}

function serverAccess(path: string): MemberAccess {
  const file = kubeconfigReader()(resolve(path))
  const { currentContext } = file
  if (currentContext === undefined) throw usageError('the kubeconfig has no current context')
  const access = file.accessTo(currentContext, currentContext)
  return { ...access, server: serverRoot(access.server) }
}

/** @throws CommandFailure when there is no answer, or one of something else than our server. */
async function mirrorStates(access: MemberAccess, milliseconds: number): Promise<MirrorStates> {
  const reader = memberReader(access)
  const query = mirrorStatesQuery(SWEPT_RESOURCES.map(groupResourceOf))
  try {
    const signal = AbortSignal.timeout(milliseconds)
    const states = parseMirrorStates(await reader.readJson(MIRROR_STATES_PATH, signal, query))
    if (states) return states
    throw new MemberError('rubbish', 'the answer is not understood')
  } catch (error) {
    throw new CommandFailure(`the server does not tell its clusters: ${whyOf(error)}`, {
      exitCode: INCONCLUSIVE,
      cause: error,
    })
  } finally {
    await reader.close()
  }
}

function whyOf(error: unknown): string {
  if (!(error instanceof MemberError)) return 'it does not answer in time'
  const isOther = error.failure === 'not-found' || error.failure === 'rubbish'
  return isOther ? `${error.message}; is it a fleetglass server?` : error.message
}

interface Served {
  readonly access: MemberAccess
  readonly settings: SweepSettings
  /** By the server's clock. */
  readonly now: number
}

function servedTarget(
  { context, name }: Selected,
  mirror: ToldMirror,
  { access, settings, now }: Served,
): Target {
  const { namespace, maxStalenessMilliseconds, clusterTimeoutMilliseconds } = settings
  const inNamespace = namespace === undefined ? {} : { namespace }
  const request = { maxStalenessMilliseconds, now, ...inNamespace }
  return {
    context,
    ...(name !== undefined && { name }),
    observe: async (signal) => {
      const { observedAt, stateOf } = whatIsTold(mirror, request)
      const reader = memberReader(access, { prefix: memberPrefix(context) })
      try {
        const observation = await observeLive({
          ...{ reader, signal, stateOf, ...inNamespace },
          clock: { ...systemClock, now: () => observedAt },
          budgetMilliseconds: clusterTimeoutMilliseconds,
          ...(settings.rules.nodes && { nodes: true }),
        })
        return withoutOldEvents(observation)
      } finally {
        await reader.close()
      }
    },
  }
}

/** @throws Unreachable when it was never mirrored, or not for too long. */
function whatIsTold(
  mirror: ToldMirror,
  request: Omit<MirrorRequest, 'wishesOf'>,
): { readonly observedAt: number; readonly stateOf: NonNullable<LiveRequest['stateOf']> } {
  const wants = (type: GroupResource) => isAmong(mirror.unserved, type)
  // What can be seen of each type is told of each, the reader's rights included.
  const wishesOf = () => ({ wants, namespaces: undefined })
  const { observedAt, types, empty, causes } = mirroredCluster(mirror, { ...request, wishesOf })
  for (const resource of SWEPT_RESOURCES) {
    if (isAmong(mirror.forbidden, groupResourceOf(resource))) causes.set(resource, FORBIDDEN)
  }
  const stateOf = (resource: SweptResource) => {
    const type = types.get(resource)
    if (!type) return empty.includes(resource) ? 'empty' : (causes.get(resource)?.word ?? 'read')
    const namespaces = { seen: type.namespaces, asked: request.namespace }
    return isPartial(resource, namespaces) ? 'partial' : 'read'
  }
  return { observedAt, stateOf }
}

const FORBIDDEN = { word: 'forbidden' } as const

function isAmong(types: readonly GroupResource[], type: GroupResource): boolean {
  return types.some(({ group, resource }) => group === type.group && resource === type.resource)
}
