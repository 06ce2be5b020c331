/**
 * From findings and blind spots to a verdict: what could not be seen is never called healthy.
 *
 * The first case that is true wins, so a blind spot outranks whatever was found.
 */
import { atLeast, type Finding, type Severity, severityOf } from './issue.ts'

export const EXIT_CODE = { pass: 0, fail: 1, inconclusive: 2 } as const

export type Verdict = keyof typeof EXIT_CODE

/** Usage errors of `fleet` and `gate`. */
export const USAGE_EXIT_CODE = 4

/** What a verdict is made from. */
export interface Judged {
  readonly findings: readonly Finding[]
  readonly blindSpots: ReadonlySet<unknown>
}

export function verdictOf({ findings, blindSpots }: Judged, failOn: Severity): Verdict {
  if (blindSpots.size > 0) return 'inconclusive'
  return findings.some(({ issue }) => atLeast(severityOf(issue), failOn)) ? 'fail' : 'pass'
}

/** Of a fleet, from its rows and from how many clusters there is no row of. */
export function fleetVerdict(verdicts: readonly Verdict[], unreachable: number): Verdict {
  if (unreachable > 0 || verdicts.includes('inconclusive')) return 'inconclusive'
  return verdicts.includes('fail') ? 'fail' : 'pass'
}
