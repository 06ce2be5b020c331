/** CustomResourceDefinitions as a table: what is missing where, and what differs. */
import { printable } from '../kube/printable.ts'
import type { CrdDifference, CrdDrift, CrdRow } from './compare-crds.ts'
import { report } from './text-report.ts'
import { counted, listed, table } from './text-table.ts'

export interface CrdsTextOptions {
  /** Also those that are the same everywhere. */
  readonly all: boolean
}

export function crdsText(drift: CrdDrift, { all }: CrdsTextOptions): string {
  const rows = drift.rows.filter((row) => all || row.drift || flags(row) !== '')
  const left = drift.rows.length - rows.length
  return report(drift, `${drift.driftCount} of ${counted(drift.total, 'definition')} differ`, [
    rows.length > 0 ? crdTable(rows) : [],
    rows.flatMap(({ key, differences }) => differences.map((one) => differenceText(key, one))),
    left > 0 ? [`${counted(left, 'more definition')} without a difference: --all shows them`] : [],
  ])
}

function crdTable(rows: readonly CrdRow[]): readonly string[] {
  return table(
    ['DEFINITION', 'DRIFT', 'CLASS', 'PRESENT IN', 'MISSING FROM', 'FLAGS'],
    rows.map((row) => [
      row.key,
      row.drift ? 'yes' : 'no',
      row.class,
      listed(row.presentIn),
      listed(row.missingFrom),
      flags(row),
    ]),
  )
}

function flags({ notEstablishedIn, terminatingIn }: CrdRow): string {
  return [
    ...(notEstablishedIn.length > 0 ? [`not established in ${listed(notEstablishedIn)}`] : []),
    ...(terminatingIn.length > 0 ? [`being deleted in ${listed(terminatingIn)}`] : []),
  ].join('; ')
}

function differenceText(key: string, { field, values }: CrdDifference): string {
  const each = values.map(({ value, clusters }) => `${value || 'none'} in ${listed(clusters)}`)
  return printable(`${key}: ${field}: ${each.join('; ')}`)
}
