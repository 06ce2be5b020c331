/** The report as text: a line for each cluster, what they share, and the verdict. */
import { identityOf } from './outcome.ts'
import type { FleetReport } from './report.ts'
import { sanitiseName } from './row-name.ts'
import type { SharedSignal } from './shared-signals.ts'
import type { Verdict } from './verdict.ts'

/** Colours a word of a verdict; it must not change what is read. */
export type Paint = (word: Verdict | 'unreachable', padded: string) => string

const plain: Paint = (_, padded) => padded

const LEAST_IDENTITY_WIDTH = 7
const VERDICT_WIDTH = 12
const COUNT_WIDTH = 4
const IDENTITIES_SHOWN = 3

export function renderText(report: FleetReport, paint: Paint = plain): string {
  const { clusters, unreachable, verdict, exitCode } = report
  const failing = clusters.filter((row) => row.verdict === 'fail').length
  const total = clusters.length + unreachable.length
  const lines = [
    `FLEET  ${total} clusters, ${failing} failing, ${unreachable.length} unreachable`,
    '',
    ...table(report, paint),
    ...sections(report),
    '',
    `verdict: ${paint(verdict, verdict)} (exit ${exitCode})`,
  ]
  return `${lines.map((line) => line.replace(/ +$/, '')).join('\n')}\n`
}

interface Line {
  readonly identity: string
  readonly verdict: Verdict | 'unreachable'
  readonly counts: ReadonlyArray<number | ''>
  readonly detail: string
}

function table({ clusters, unreachable }: FleetReport, paint: Paint): readonly string[] {
  const lines: readonly Line[] = [
    ...unreachable.map((cluster) => ({
      identity: sanitiseName(identityOf(cluster)),
      verdict: 'unreachable' as const,
      counts: ['', '', ''] as const,
      detail: cluster.reason,
    })),
    ...clusters.map((row) => ({
      identity: sanitiseName(identityOf(row)),
      verdict: row.verdict,
      counts: [row.critical, row.warning, row.info],
      detail: detailOf(row.topIssues, row.blindSpots.size),
    })),
  ]
  const width = Math.max(LEAST_IDENTITY_WIDTH, ...lines.map(({ identity }) => lengthOf(identity)))
  const counts = ['CRIT', 'WARN', 'INFO'].join('  ')
  const head = `${pad('CLUSTER', width)}  ${'VERDICT'.padEnd(VERDICT_WIDTH)}  ${counts}  TOP ISSUES`
  return [head, ...lines.map((line) => rowText(line, width, paint))]
}

function rowText({ identity, verdict, counts, detail }: Line, width: number, paint: Paint): string {
  return [
    pad(identity, width),
    paint(verdict, verdict.padEnd(VERDICT_WIDTH)),
    ...counts.map((count) => String(count).padStart(COUNT_WIDTH)),
    detail,
  ].join('  ')
}

function detailOf(topIssues: readonly string[], blindSpots: number): string {
  const spots = blindSpots === 1 ? '(1 blind spot)' : `(${blindSpots} blind spots)`
  return [topIssues.join(', '), blindSpots > 0 ? spots : ''].filter((part) => part !== '').join(' ')
}

function sections({ shared, clusters }: FleetReport): readonly string[] {
  const judged = clusters.length
  const width = Math.max(0, ...shared.map(({ signal }) => signal.length))
  return [...section('SHARED ISSUES', 'issue'), ...section('SHARED BLIND SPOTS', 'blindspot')]

  function section(heading: string, source: SharedSignal['source']): readonly string[] {
    const entries = shared.filter((entry) => entry.source === source)
    if (entries.length === 0) return []
    const cells = entries.map(({ clusters: { length } }) => `${length}/${judged}`)
    const cellWidth = Math.max(...cells.map(({ length }) => length))
    return [
      '',
      `${heading}  in 2 or more of ${judged} judged clusters`,
      '',
      ...entries.map(({ signal, clusters: names }, i) => {
        const more = names.length - IDENTITIES_SHOWN
        const shown = names.slice(0, IDENTITIES_SHOWN).map(sanitiseName).join(', ')
        const rest = more > 0 ? `, +${more} more` : ''
        return `  ${cells[i]!.padStart(cellWidth)}  ${signal.padEnd(width)}  ${shown}${rest}`
      }),
    ]
  }
}

/** Characters, not UTF-16 units. */
function lengthOf(text: string): number {
  return [...text].length
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - lengthOf(text)))
}
