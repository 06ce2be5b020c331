/**
 * Clusters as a fleetglass server serves them, with the rights of whoever asks: each is read under
 * its own path of the fleet API, as if it were live, and judged as of when the server last heard.
 */
import { resolve } from 'node:path'
import { systemClock } from '../../clock.ts'
import { observeLive } from '../../fleet/live-source.ts'
import type { MemberReader } from '../../fleet/member-reader.ts'
import type { MirrorWishes } from '../../fleet/mirrored-cluster.ts'
import { recordsIn } from '../../fleet/read-object.ts'
import { type Target, Unreachable } from '../../fleet/sweep.ts'
import { groupResourceOf, type SweptResource, sweptType } from '../../fleet/swept-resources.ts'
import { memberPrefix, serverRoot } from '../../kube/fleet-prefix.ts'
import {
  CLUSTER_GROUP,
  CLUSTER_VERSION,
  type ClusterSyncResources,
  type PediaCluster,
} from '../../kube/pedia-cluster.ts'
import { fields, isRecord, timeOf } from '../../printers/read-field.ts'
import type { MemberAccess } from '../../sync/member-access.ts'
import { MemberError } from '../../sync/member-error.ts'
import { CommandFailure } from '../failure.ts'
import { kubeconfigReader } from './kubeconfig-contexts.ts'
import { memberReader } from './member-reader.ts'
import { wishesIn } from './mirror-wishes.ts'
import type { SweepSettings } from './options.ts'
import { readFleetFile, type Selected, type SelectionFlags, selectClusters } from './select.ts'
import { asUsage, usageError } from './usage.ts'

export interface ServedInputs {
  readonly flags: SelectionFlags
  readonly settings: SweepSettings
  /** The kubeconfig of the server; its current context is used. */
  readonly path: string
}

const INCONCLUSIVE = 2
const REGISTRATIONS = `/apis/${CLUSTER_GROUP}/${CLUSTER_VERSION}`

/** @throws CommandFailure */
export async function servedTargets<T>(
  { flags, settings, path }: ServedInputs,
  work: (targets: readonly Target[]) => Promise<T>,
): Promise<T> {
  const entries = flags.fleetFile === undefined ? undefined : readFleetFile(flags.fleetFile)
  const access = await asUsage(() => serverAccess(path))
  const root = memberReader(access)
  try {
    const clusters = await registrations(root, settings.clusterTimeoutMilliseconds)
    const names = [...clusters.keys()]
    const selected = selectClusters({ flags, entries, available: () => ({ contexts: names }) })
    return await work(
      selected.map((one) => servedTarget(one, { access, settings, ...clusters.get(one.context)! })),
    )
  } finally {
    await root.close()
  }
}

function serverAccess(path: string): MemberAccess {
  const file = kubeconfigReader()(resolve(path))
  const { currentContext } = file
  if (currentContext === undefined) throw usageError('the kubeconfig has no current context')
  const access = file.accessTo(currentContext, currentContext)
  return { ...access, server: serverRoot(access.server) }
}

interface Registered {
  readonly cluster: PediaCluster
  readonly wishes: MirrorWishes | undefined
}

async function registrations(
  reader: MemberReader,
  milliseconds: number,
): Promise<ReadonlyMap<string, Registered>> {
  const signal = AbortSignal.timeout(milliseconds)
  const list = async (resource: string) => {
    const document = await reader.readJson(`${REGISTRATIONS}/${resource}`, signal)
    return recordsIn(isRecord(document) ? document.items : undefined)
  }
  try {
    const clusters = (await list('pediaclusters')) as unknown as readonly PediaCluster[]
    const templates = (await list(
      'clustersyncresources',
    )) as unknown as readonly ClusterSyncResources[]
    const wishes = wishesIn(clusters, templates)
    return new Map(
      clusters.map((cluster) => {
        const { name } = cluster.metadata
        return [name, { cluster, wishes: wishes(name) }]
      }),
    )
  } catch (error) {
    const why = error instanceof MemberError ? error.message : 'it does not answer in time'
    throw new CommandFailure(`the server does not tell its clusters: ${why}`, {
      exitCode: INCONCLUSIVE,
      cause: error,
    })
  }
}

interface Served extends Registered {
  readonly access: MemberAccess
  readonly settings: SweepSettings
}

function servedTarget({ context, name }: Selected, served: Served): Target {
  return {
    context,
    ...(name !== undefined && { name }),
    observe: async (signal) => {
      const { settings, access, cluster } = served
      const now = newsOf(cluster, systemClock.now(), settings.maxStalenessMilliseconds)
      const prefix = memberPrefix(context)
      const reader = memberReader(access, { prefix })
      try {
        return await observeLive({
          ...{ reader, signal, clock: { ...systemClock, now: () => now } },
          budgetMilliseconds: settings.clusterTimeoutMilliseconds,
          stateOf: (resource) => mirrorState(resource, served),
          ...(settings.namespace !== undefined && { namespace: settings.namespace }),
          ...(settings.rules.nodes && { nodes: true }),
        })
      } finally {
        await reader.close()
      }
    },
  }
}

/** As the registration's conditions say. */
function newsOf({ status }: PediaCluster, now: number, maxStaleness: number): number {
  const conditions = recordsIn(fields(status).conditions)
  const wrong = conditions
    .filter(({ type, status: is }) => type !== 'Ready' && is !== 'True')
    .map(({ lastTransitionTime }) => timeOf(lastTransitionTime) ?? Number.NEGATIVE_INFINITY)
  const news = Math.min(now, ...wrong)
  if (conditions.length === 0) throw new Unreachable('connecting to the cluster')
  if (now - news > maxStaleness) throw new Unreachable('timed out')
  return news
}

function mirrorState(
  resource: SweptResource,
  { cluster, wishes, settings }: Served,
): 'read' | 'empty' | 'blind' | 'partial' {
  const type = groupResourceOf(resource)
  const { namespaced, fixedNamespace } = sweptType(resource)
  const groups = recordsIn(fields(cluster.status).syncResources)
  const found = groups
    .filter(({ group }) => (group ?? '') === type.group)
    .flatMap(({ resources }) => recordsIn(resources))
    .find(({ name }) => name === resource)
  const [condition] = recordsIn(found?.syncConditions)
  if (!found || condition?.reason === 'NotServed') return wishes?.wants(type) ? 'empty' : 'blind'
  if (condition?.status === 'Error' || condition?.initialListPhase === true) return 'blind'
  const asked = fixedNamespace ?? settings.namespace
  const isPartial =
    namespaced && wishes?.namespaces && !(asked && wishes.namespaces.includes(asked))
  return isPartial ? 'partial' : 'read'
}
