/** What the text of every comparison begins and ends with. */
import { printable } from '../kube/printable.ts'
import type { Envelope } from './comparison.ts'
import { counted, table } from './text-table.ts'

/**
 * @param headline - what was found, in a few words: `3 versions, apart by minor`.
 * @param sections - lines; an empty section is left out.
 */
export function report(
  drift: Envelope,
  headline: string,
  sections: ReadonlyArray<readonly string[]>,
): string {
  const { unknown, baseline, notes } = drift
  const compared = counted(drift.comparable, 'cluster')
  const others = unknown.length > 0 ? `, ${unknown.length} unknown` : ''
  const against = baseline === undefined ? '' : `, against ${baseline}`
  const title = `${drift.comparison.toUpperCase()}  ${compared} compared${others}${against}: ${headline}`
  const parts = [
    [title],
    ...sections,
    unknownSection(drift),
    notes.map((note) => `note: ${printable(note)}`),
    [verdict(drift)],
  ]
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

function unknownSection({ unknown }: Envelope): readonly string[] {
  if (unknown.length === 0) return []
  return table(
    ['UNKNOWN', 'WHY', 'MESSAGE'],
    unknown.map(({ cluster, why, message }) => [cluster, why, message]),
  )
}

function verdict(drift: Envelope): string {
  const { unknown } = drift
  const found = drift.driftDetected ? `drift: ${what(drift)}` : 'drift: none found'
  return unknown.length > 0 ? `${found}; ${counted(unknown.length, 'cluster')} unknown` : found
}

function what({ driftCount, comparison, baseline }: Envelope): string {
  if (comparison === 'images') return counted(driftCount, 'image')
  if (comparison === 'crds') return counted(driftCount, 'definition')
  // Without a baseline the first of several versions is as much a difference as the others.
  return baseline === undefined
    ? counted(driftCount + 1, 'version')
    : counted(driftCount, 'cluster')
}
