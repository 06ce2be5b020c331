/** Waits until every member cluster is in step, and says how far each is. */
import type { Clock } from '../../clock.ts'
import { isReady, type PediaCluster } from '../../kube/pedia-cluster.ts'
import type { AdminApi } from './admin-api.ts'
import { progress } from './progress.ts'

export interface Wait {
  readonly members: readonly string[]
  readonly clock: Clock
  readonly signal: AbortSignal
}

const LOOK_EVERY_MILLISECONDS = 200

/** Returns when all are, or the signal is aborted. */
export async function untilInStep(
  api: Pick<AdminApi, 'pediaClusters'>,
  { members, clock, signal }: Wait,
): Promise<void> {
  const told = new Map<string, string>()
  const inStep = new Set<string>()
  while (inStep.size < members.length && !signal.aborted) {
    for (const cluster of await api.pediaClusters()) {
      const { name } = cluster.metadata
      const line = stateOf(cluster)
      if (told.get(name) !== line) progress(`${name}: ${line}`)
      told.set(name, line)
      if (isReady(cluster)) inStep.add(name)
    }
    if (inStep.size < members.length) {
      await clock.sleep(LOOK_EVERY_MILLISECONDS, signal).catch(() => undefined)
    }
  }
}

function stateOf(cluster: PediaCluster): string {
  const { status } = cluster
  const types = status?.syncResources?.flatMap(({ resources }) => resources) ?? []
  if (types.length === 0) return 'waiting'
  const version = status?.version ?? 'version not known yet'
  if (isReady(cluster)) return `in step, ${version}, ${types.length} resources`
  return `syncing, ${version}, ${types.length} resources`
}
