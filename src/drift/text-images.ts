/** Images as a table: per image one line for each set of versions, with the clusters that run it. */
import { compareBytes } from '../kube/byte-order.ts'
import { printable } from '../kube/printable.ts'
import type { ImageDrift, ImageRow } from './compare-images.ts'
import type { ImageUse } from './image-use.ts'
import { report } from './text-report.ts'
import { counted, listed, shortToken, table } from './text-table.ts'

export interface ImagesTextOptions {
  /** Also what is the same everywhere, or runs in some clusters only. */
  readonly all: boolean
}

export function imagesText(drift: ImageDrift, { all }: ImagesTextOptions): string {
  const rows = drift.rows.filter((row) => all || isShown(row))
  const headline = `${counted(drift.driftCount, 'image')} of ${drift.rows.length} ${drift.driftCount === 1 ? 'differs' : 'differ'}`
  return report(drift, headline, [
    imageTable(rows),
    rows.flatMap(({ key, notes }) => notes.map((note) => `${printable(key)}: ${printable(note)}`)),
    notComparable(drift),
    hidden(drift, rows.length),
  ])
}

function isShown({ drift, class: found }: ImageRow): boolean {
  return drift || found === 'mixed' || found === 'tag'
}

function imageTable(rows: readonly ImageRow[]): readonly string[] {
  if (rows.length === 0) return []
  return table(['IMAGE', 'DRIFT', 'CLASS', 'RUNS', 'CLUSTERS'], rows.flatMap(linesOf))
}

function linesOf(row: ImageRow): ReadonlyArray<readonly string[]> {
  const groups = Map.groupBy(row.clusters, (use) => versionText(use, row))
  const lines = [...groups]
    .sort(([a], [b]) => compareBytes(a, b))
    .map(([runs, uses]) => [runs, listed(uses.map((use) => nameText(use, row)))])
  const head = [row.key, row.drift ? 'yes' : 'no', row.class]
  return lines.map((line, i) => [...(i === 0 ? head : ['', '', '']), ...line])
}

/** Of equal tags the digests are what differs. */
function versionText({ tokens, tags, digests }: ImageUse, row: ImageRow): string {
  if (row.class === 'digest') {
    return [...tags, ...digests.map(shortToken)].join(' ') || tokens.map(shortToken).join(', ')
  }
  return tokens.map((token) => withTag(token, tags)).join(', ')
}

function withTag(token: string, tags: readonly string[]): string {
  const isDigest = token.includes(':')
  return isDigest && tags.length === 1 ? `${tags[0]}@${shortToken(token)}` : shortToken(token)
}

function nameText(
  { cluster, mixed, rollingOut }: ImageUse,
  { behind, differsIn }: ImageRow,
): string {
  const marks = [
    ...(mixed ? ['mixed'] : []),
    ...(rollingOut ? ['rolling out'] : []),
    ...(behind.includes(cluster) ? ['behind'] : []),
    ...(differsIn?.includes(cluster) ? ['differs'] : []),
  ]
  return marks.length > 0 ? `${cluster} (${marks.join(', ')})` : cluster
}

function notComparable(drift: ImageDrift): readonly string[] {
  if (drift.notComparable.length === 0) return []
  return table(
    ['NOT COMPARABLE', 'REASON', 'CLUSTERS'],
    drift.notComparable.map(({ image, reason, clusters }) => [
      JSON.stringify(image),
      reason,
      listed(clusters),
    ]),
  )
}

function hidden({ rows }: ImageDrift, shown: number): readonly string[] {
  const left = rows.length - shown
  if (left === 0) return []
  return [`${counted(left, 'more image')} without a difference: --all shows them`]
}
