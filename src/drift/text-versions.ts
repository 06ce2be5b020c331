/** Versions as a table: one line per cluster, the oldest first, so that who is behind is on top. */
import type { VersionDrift, VersionRow } from './compare-versions.ts'
import { compareVersions, parseVersion } from './kubernetes-version.ts'
import type { VersionCount } from './node-versions.ts'
import { report } from './text-report.ts'
import { counted, table } from './text-table.ts'

export function versionsText(drift: VersionDrift): string {
  const apart = drift.level === 'none' ? '' : `, apart by ${drift.level}`
  return report(drift, `${counted(drift.versions.length, 'version')}${apart}`, [
    clusterTable(drift),
  ])
}

function clusterTable({ rows, baseline }: VersionDrift): readonly string[] {
  if (rows.length === 0) return []
  const byVersion = rows.toSorted((a, b) =>
    compareVersions(parseVersion(a.version), parseVersion(b.version)),
  )
  const hasLevel = baseline !== undefined
  return table(
    ['CLUSTER', 'SERVER', ...(hasLevel ? ['DIFFERS BY'] : []), 'KUBELETS', 'RUNTIMES', 'SKEW'],
    byVersion.map((row) => [
      row.cluster,
      row.estimated ? `${row.version} (estimated)` : row.version,
      ...(hasLevel ? [levelText(row, baseline)] : []),
      versionsIn(row.nodes?.kubelets),
      versionsIn(row.nodes?.runtimes),
      row.skew.map(({ flag, version, nodes }) => `${flag}: ${version} (${nodes})`).join(', '),
    ]),
  )
}

function levelText({ cluster, level = 'none' }: VersionRow, baseline: string | undefined): string {
  return cluster === baseline ? 'baseline' : level
}

/** `v1.30.5 (3), v1.30.4 (1)`. */
function versionsIn(counts: readonly VersionCount[] | undefined): string {
  if (!counts) return 'unknown'
  return counts.map(({ version, nodes }) => `${version} (${nodes})`).join(', ')
}
