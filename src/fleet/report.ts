/** The report of a sweep, and its JSON: schemas/fleet.json says what may be relied on. */
import { compareBytes } from '../kube/byte-order.ts'
import type { Severity } from './issue.ts'
import {
  type ClusterRow,
  compareRows,
  identityOf,
  isRow,
  isUnreachable,
  type Outcome,
  type UnreachableCluster,
} from './outcome.ts'
import { type SharedSignal, sharedSignals } from './shared-signals.ts'
import { EXIT_CODE, fleetVerdict, type Verdict } from './verdict.ts'

/** The minor part grows with new optional fields; the major one with anything else. */
const SCHEMA_VERSION = '1.2'

export interface FleetReport {
  readonly verdict: Verdict
  readonly exitCode: number
  readonly failOn: Severity
  /** The worst first. */
  readonly clusters: readonly ClusterRow[]
  readonly unreachable: readonly UnreachableCluster[]
  readonly shared: readonly SharedSignal[]
}

/** @param outcomes - one for each cluster, in any order. */
export function makeReport(outcomes: readonly Outcome[], failOn: Severity): FleetReport {
  const unreachable = outcomes
    .filter(isUnreachable)
    .sort((a, b) => compareBytes(identityOf(a), identityOf(b)))
  const clusters = outcomes.filter(isRow).sort(compareRows)
  const verdict = fleetVerdict(
    clusters.map((row) => row.verdict),
    unreachable.length,
  )
  const shared = sharedSignals(clusters)
  return { verdict, exitCode: EXIT_CODE[verdict], failOn, clusters, unreachable, shared }
}

export function reportJson(report: FleetReport): string {
  const { verdict, exitCode, failOn, clusters, unreachable, shared } = report
  const document = {
    schemaVersion: SCHEMA_VERSION,
    verdict,
    exitCode,
    failOn,
    clusters: clusters.map(summary),
    unreachable: unreachable.map(({ name, context, reason }) => ({
      ...(name !== undefined && { name }),
      context,
      reason,
    })),
    ...(shared.length > 0 && { shared }),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

function summary(row: ClusterRow) {
  const { name, context, verdict, critical, warning, info, blindSpots, topIssues } = row
  return {
    ...(name !== undefined && { name }),
    context,
    verdict,
    critical,
    warning,
    info,
    blindspots: blindSpots.size,
    ...(topIssues.length > 0 && { topIssues }),
  }
}
