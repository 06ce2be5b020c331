/**
 * What a sweep knows of one cluster when it is done with it: a row, or why there is none.
 *
 * Rows hold counts and words of closed lists, and the names that the user gave. There is no field
 * that a namespace, an object's name, a path, a URL or an error's text could be put into.
 */
import { compareBytes } from '../kube/byte-order.ts'
import { type IssueName, SEVERITIES, type Severity, severityOf } from './issue.ts'
import type { SweptResource } from './swept-resources.ts'
import { type Judged, type Verdict, verdictOf } from './verdict.ts'

/** How the user knows a cluster. */
export interface Identity {
  readonly context: string
  /** Only when it is another than `context`. */
  readonly name?: string
}

export const UNREACHABLE_REASONS = ['connecting to the cluster', 'timed out'] as const
export type UnreachableReason = (typeof UNREACHABLE_REASONS)[number]

export interface ClusterRow extends Identity, Readonly<Record<Severity, number>> {
  readonly verdict: Verdict
  /** What was found and not seen, for what clusters have in common. */
  readonly issues: ReadonlySet<IssueName>
  readonly blindSpots: ReadonlySet<SweptResource>
  readonly topIssues: readonly IssueName[]
}

export interface UnreachableCluster extends Identity {
  readonly reason: UnreachableReason
}

export type Outcome = ClusterRow | UnreachableCluster

export function isUnreachable(outcome: Outcome): outcome is UnreachableCluster {
  return 'reason' in outcome
}

export function isRow(outcome: Outcome): outcome is ClusterRow {
  return !isUnreachable(outcome)
}

export function identityOf({ name, context }: Identity): string {
  return name ?? context
}

const TOP_ISSUES = 3

export interface JudgedCluster extends Judged {
  readonly blindSpots: ReadonlySet<SweptResource>
}

export function rowOf(identity: Identity, judged: JudgedCluster, failOn: Severity): ClusterRow {
  const { findings, blindSpots } = judged
  const counts = new Map<IssueName, number>()
  const bySeverity = { info: 0, warning: 0, critical: 0 }
  for (const { issue } of findings) {
    counts.set(issue, (counts.get(issue) ?? 0) + 1)
    bySeverity[severityOf(issue)]++
  }
  const byCount = [...counts].sort(([a, x], [b, y]) => y - x || compareBytes(a, b))
  return {
    context: identity.context,
    ...(identity.name !== undefined &&
      identity.name !== identity.context && { name: identity.name }),
    verdict: verdictOf(judged, failOn),
    ...bySeverity,
    issues: new Set(counts.keys()),
    blindSpots: new Set(blindSpots),
    topIssues: byCount.slice(0, TOP_ISSUES).map(([issue]) => issue),
  }
}

const VERDICT_ORDER: readonly Verdict[] = ['inconclusive', 'fail', 'pass']

/** The worst first; a total order, as identities are distinct. */
export function compareRows(a: ClusterRow, b: ClusterRow): number {
  const byVerdict = VERDICT_ORDER.indexOf(a.verdict) - VERDICT_ORDER.indexOf(b.verdict)
  if (byVerdict !== 0) return byVerdict
  for (const severity of SEVERITIES.toReversed()) {
    if (a[severity] !== b[severity]) return b[severity] - a[severity]
  }
  return compareBytes(identityOf(a), identityOf(b))
}
