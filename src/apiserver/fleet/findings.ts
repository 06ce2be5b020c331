/** `findings`: what is wrong with which object, why, and what to do next. */
import { createHash } from 'node:crypto'
import { type GateFinding, gateReport } from '../../fleet/gate.ts'
import { timestamp } from '../../kube/timestamp.ts'
import type { CatalogCluster } from '../catalog.ts'
import { namedClusters } from '../named-clusters.ts'
import { staleClusters } from '../warnings.ts'
import type { Judged } from './judgements.ts'
import { column, FLEET_API, type FleetObject, fleetKind, text } from './kind.ts'

export const FINDINGS = fleetKind({
  ...{ resource: 'findings', kind: 'Finding', shortName: 'fnd' },
  description: 'Finding is one thing that is wrong with one object of one cluster.',
  namedAfterClusters: false,
  takes: 'nodes',
  fields: {
    cluster: text('The cluster that the object is in.'),
    severity: text('critical, warning or info.'),
    issue: text('What is wrong, in a word of a closed list.'),
    kind: text('Kind of the object.'),
    namespace: text('Namespace of the object; left out when it is in none.'),
    object: text('Name of the object.'),
    reason: text('What was seen.'),
    next: text('What to do next.'),
  },
  columns: [
    column('Cluster', 'cluster'),
    column('Severity', 'severity'),
    column('Issue', 'issue'),
    column('Namespace', 'namespace'),
    column('Kind', 'kind'),
    column('Object', 'object'),
    column('Reason', 'reason', { priority: 1 }),
    column('Next', 'next', { priority: 1 }),
  ],
  async answer({ clusters, scope, judgements, now, nodes }) {
    const judged = await judgements.of(scope, { nodes })
    const of = ({ name }: CatalogCluster) => judged.get(name)!
    return {
      objects: clusters.flatMap((cluster) => findingsOf(cluster, of(cluster))),
      warnings: [
        ...staleClusters(clusters, now),
        ...unseenWarning(clusters.map((cluster) => [cluster.name, of(cluster)])),
      ],
    }
  },
})

function findingsOf(
  { name: cluster, labels: own }: CatalogCluster,
  { found, observedAt }: Judged,
): readonly FleetObject[] {
  if (typeof found === 'string') return []
  const seen = new Map<string, number>()
  return gateReport(cluster, found, 'critical').findings.map((finding) => {
    const { severity, issue, kind, namespace, name: object, reason, next } = finding
    return {
      name: nameOf(cluster, finding, seen),
      labels: {
        ...own,
        [`${FLEET_API.group}/cluster`]: cluster,
        [`${FLEET_API.group}/severity`]: severity,
      },
      status: {
        ...{ cluster, severity, issue, kind },
        ...(namespace !== '' && { namespace }),
        ...{ object, reason, next },
        ...(observedAt !== undefined && { observedAt: timestamp(observedAt) }),
      },
    }
  })
}

/** The same for as long as the same is wrong with the same object. */
function nameOf(cluster: string, finding: GateFinding, seen: Map<string, number>): string {
  const { issue, kind, namespace, name } = finding
  const key = JSON.stringify([issue, kind, namespace, name])
  const nth = (seen.get(key) ?? 0) + 1
  seen.set(key, nth)
  const hash = createHash('sha256').update(`${key} ${nth}`).digest('hex').slice(0, 10)
  return `${cluster}.${issue.toLowerCase().replaceAll(':', '-')}.${hash}`
}

/** No finding does not mean that all is well where not everything was seen. */
function unseenWarning(judged: ReadonlyArray<readonly [string, Judged]>): readonly string[] {
  const named = judged.flatMap(([name, { found }]) => {
    if (typeof found === 'string') return [`${name} (${found})`]
    const blindSpots = [...found.blindSpots].sort()
    return blindSpots.length > 0 ? [`${name} (${blindSpots.slice(0, 3).join(', ')})`] : []
  })
  if (named.length === 0) return []
  return [`not everything could be seen of ${namedClusters(named)}`]
}
