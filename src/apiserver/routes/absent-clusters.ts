/**
 * Clusters that are asked and answer nothing, said with every answer: names that no cluster has,
 * conditions that none meets, and clusters of which nothing has been mirrored so far. Without a word, what they lack would
 * look like objects that are not there.
 */
import type { FastifyRequest } from 'fastify'
import type { ClusterCondition } from '../../kube/search.ts'
import type { Access } from '../access/access.ts'
import type { Surface } from '../prefixes.ts'
import { unknownClusters, unseenWarning } from '../warnings.ts'
import { isAskedCluster } from './asked.ts'

export interface AbsentQuestion {
  readonly request: FastifyRequest
  /** Left out: the whole fleet. */
  readonly surface?: Surface
  readonly conditions: readonly ClusterCondition[]
}

/** Sentences. A cluster that the reader may not see is none to them. */
export function absentClusters(
  access: Access,
  { request, surface, conditions }: AbsentQuestion,
  nowMilliseconds: number,
): readonly string[] {
  const clusters = access.visible(request.identity).map(({ cluster }) => cluster)
  const named = conditions.flatMap((condition) => (condition.on === 'name' ? condition.values : []))
  const unknown = unknownClusters(named, clusters)
  const asked = clusters.filter((cluster) => isAskedCluster(cluster, conditions))
  const ofSurface =
    surface?.kind === 'member' ? asked.filter(({ name }) => name === surface.cluster) : asked
  const unmet = ofSurface.length === 0 && conditions.length > 0 && unknown.length === 0
  return [
    ...unknown,
    ...(unmet ? ['no cluster meets what was asked of clusters'] : []),
    // A member of which nothing was mirrored has no type to ask for.
    ...unseenWarning(surface?.kind === 'member' ? [] : asked, nowMilliseconds),
  ]
}
