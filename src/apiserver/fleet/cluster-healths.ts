/** `clusterhealths`: one per cluster, how it is. */
import { rowOf } from '../../fleet/outcome.ts'
import { timestamp } from '../../kube/timestamp.ts'
import type { CatalogCluster } from '../catalog.ts'
import { staleClusters } from '../warnings.ts'
import type { Judged } from './judgements.ts'
import { column, type FleetObject, fleetKind, number, text, texts } from './kind.ts'

export const CLUSTER_HEALTHS = fleetKind({
  ...{ resource: 'clusterhealths', kind: 'ClusterHealth', shortName: 'ch' },
  description:
    'ClusterHealth says whether a cluster is well, by counts and closed lists of words. It names no object: findings do.',
  namedAfterClusters: true,
  takes: 'nodes',
  fields: {
    verdict: text('pass, fail, or inconclusive: not everything could be seen.'),
    critical: number('Findings that make a cluster fail.'),
    warning: number('Findings that do not.'),
    info: number('Findings that are worth knowing.'),
    topIssues: texts('The issues that are found most often.'),
    blindSpots: texts('Resources that could not be seen, or not wholly.'),
    reason: text('Why nothing could be seen.'),
    summary: text('Of topIssues, blindSpots or reason: what a person wants to know first.'),
  },
  columns: [
    column('Verdict', 'verdict'),
    column('Critical', 'critical', { type: 'integer' }),
    column('Warning', 'warning', { type: 'integer' }),
    column('Info', 'info', { type: 'integer', priority: 1 }),
    column('Top issues', 'summary'),
  ],
  async answer({ clusters, scope, judgements, now, nodes }) {
    const judged = await judgements.of(scope, { nodes })
    return {
      objects: clusters.map((cluster) => healthOf(cluster, judged.get(cluster.name)!)),
      warnings: staleClusters(clusters, now),
    }
  },
})

function healthOf({ name, labels, staleSince }: CatalogCluster, judged: Judged): FleetObject {
  const { found, observedAt = staleSince?.getTime() } = judged
  const observed = observedAt === undefined ? {} : { observedAt: timestamp(observedAt) }
  if (typeof found === 'string') {
    const status = { verdict: 'inconclusive', reason: found, summary: found, ...observed }
    return { name, labels, status }
  }
  const row = rowOf({ context: name }, found, 'critical')
  const { verdict, critical, warning, info, topIssues } = row
  const blindSpots = [...row.blindSpots].sort()
  const unseen = blindSpots.length > 0 ? [`not seen: ${blindSpots.join(', ')}`] : []
  const summary = [...topIssues, ...unseen].join(', ')
  return {
    ...{ name, labels },
    status: { verdict, critical, warning, info, topIssues, blindSpots, summary, ...observed },
  }
}
