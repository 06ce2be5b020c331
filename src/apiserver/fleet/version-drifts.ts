/** `versiondrifts`: one per cluster, what Kubernetes it runs and how far that is from the newest. */
import {
  compareClusterVersions,
  type VersionDrift,
  type VersionRow,
} from '../../drift/compare-versions.ts'
import { gatherVersions } from '../../drift/gather.ts'
import type { DriftSource } from '../../drift/source.ts'
import type { JsonObject } from '../../kube/kube-object.ts'
import {
  BASELINE_FIELDS,
  baselineOf,
  comparisonWarnings,
  driftLabels,
  gatheringOf,
} from './compared.ts'
import { column, flag, fleetKind, number, objects, text } from './kind.ts'

const counted = (what: string) =>
  objects(`${what}, the oldest first.`, {
    version: text('The version.'),
    nodes: number('How many nodes run it.'),
  })

export const VERSION_DRIFTS = fleetKind({
  ...{ resource: 'versiondrifts', kind: 'VersionDrift', shortName: 'vd' },
  description:
    'VersionDrift says which Kubernetes a cluster runs, and how far that is from others.',
  namedAfterClusters: false,
  takes: 'baseline',
  fields: {
    version: text('Kubernetes of the API server.'),
    estimated: flag('The server did not tell: it is the newest of its kubelets.'),
    preRelease: flag('Whether it is a release candidate, beta or alpha.'),
    newest: text('The newest version among the clusters that were compared.'),
    behind: text(
      'At which level it differs from the newest, or from the baseline: none, build, patch, minor or major.',
    ),
    drift: flag('Whether it differs from the newest, or from the baseline.'),
    baseline: BASELINE_FIELDS.baseline,
    kubelets: counted('Versions of kubelets'),
    runtimes: counted('Container runtimes'),
    skew: text('Where nodes break the version skew policy.'),
    unknown: text('Why the cluster could not be compared.'),
  },
  columns: [
    column('Version', 'version'),
    column('Newest', 'newest'),
    column('Behind', 'behind'),
    column('Skew', 'skew'),
    column('Unknown', 'unknown'),
  ],
  async answer(view) {
    const found = await view.compared('versions', (source) => compare(source, view.baseline))
    const labelsOf = new Map(view.clusters.map(({ name, labels }) => [name, labels]))
    const objectOf = (name: string, drift: boolean, status: JsonObject) => {
      const behind = String(status.behind ?? 'unknown')
      return { name, labels: { ...labelsOf.get(name), ...driftLabels(drift, behind) }, status }
    }
    const newest = found.versions.at(-1)?.version ?? ''
    return {
      objects: [
        ...found.rows.map((row) => {
          const status = { ...statusOf(row, newest), ...baselineOf(view) }
          return objectOf(row.cluster, status.drift, status)
        }),
        ...found.unknown.map(({ cluster, why, message }) =>
          objectOf(cluster, false, { unknown: message ? `${why}: ${message}` : why }),
        ),
      ],
      warnings: comparisonWarnings(found, view),
    }
  },
})

/** Left without a baseline, against a cluster of the newest version: known after a first comparison. */
async function compare(source: DriftSource, given: string | undefined): Promise<VersionDrift> {
  const gathered = await gatherVersions(await gatheringOf(source))
  const found = compareClusterVersions(gathered)
  const baseline = given ?? found.versions.at(-1)?.clusters[0]
  if (baseline === undefined) return found
  return compareClusterVersions({ ...gathered, baseline })
}

function statusOf(row: VersionRow, newest: string) {
  const { version, estimated, preRelease, level = 'none', nodes, skew, observedAt } = row
  return {
    ...{ version, estimated, preRelease, newest, behind: level, drift: level !== 'none' },
    ...(nodes && { kubelets: counts(nodes.kubelets), runtimes: counts(nodes.runtimes) }),
    skew: skew.map((one) => `${one.flag} ${one.version} (${one.nodes})`).join(', '),
    observedAt,
  }
}

function counts(versions: ReadonlyArray<{ readonly version: string; readonly nodes: number }>) {
  return versions.map(({ version, nodes }) => ({ version, nodes }))
}
