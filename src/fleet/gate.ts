/** One cluster's findings in full, with what to do next: the counterpart of a row. */
import { compareBytes } from '../kube/byte-order.ts'
import { adviceFor } from './advice.ts'
import { atLeast, type Finding, SEVERITIES, type Severity, severityOf } from './issue.ts'
import type { JudgedCluster, UnreachableReason } from './outcome.ts'
import type { SweptResource } from './swept-resources.ts'
import { EXIT_CODE, type Verdict, verdictOf } from './verdict.ts'

const SCHEMA_VERSION = '1.0'

export interface GateFinding extends Finding {
  readonly severity: Severity
  readonly fails: boolean
  readonly next: string
}

export interface GateReport {
  readonly context: string
  readonly verdict: Verdict
  readonly exitCode: number
  readonly failOn: Severity
  /** The worst first. */
  readonly findings: readonly GateFinding[]
  readonly blindSpots: readonly SweptResource[]
  /** Why nothing could be seen. */
  readonly unreachable?: UnreachableReason
}

export function gateReport(
  context: string,
  judged: JudgedCluster | UnreachableReason,
  failOn: Severity,
): GateReport {
  if (typeof judged === 'string') {
    const nothing = { findings: [], blindSpots: [], unreachable: judged }
    return {
      context,
      verdict: 'inconclusive',
      exitCode: EXIT_CODE.inconclusive,
      failOn,
      ...nothing,
    }
  }
  const verdict = verdictOf(judged, failOn)
  const findings = judged.findings
    .map((finding) => {
      const severity = severityOf(finding.issue)
      const fails = atLeast(severity, failOn)
      return { ...finding, severity, fails, next: adviceFor(finding.issue, finding.kind) }
    })
    .sort(compareFindings)
  const blindSpots = [...judged.blindSpots].sort(compareBytes)
  return { context, verdict, exitCode: EXIT_CODE[verdict], failOn, findings, blindSpots }
}

function compareFindings(a: GateFinding, b: GateFinding): number {
  const bySeverity = SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity)
  if (bySeverity !== 0) return bySeverity
  for (const field of ['namespace', 'kind', 'name', 'issue'] as const) {
    if (a[field] !== b[field]) return compareBytes(a[field], b[field])
  }
  return 0
}

export function gateJson({ findings, ...report }: GateReport): string {
  const { context, verdict, exitCode, failOn, blindSpots, unreachable } = report
  const document = {
    schemaVersion: SCHEMA_VERSION,
    ...{ context, verdict, exitCode, failOn },
    findings: findings.map(({ severity, kind, namespace, name, issue, reason, next }) => ({
      ...{ severity, kind },
      ...(namespace !== '' && { namespace }),
      ...{ name, issue, reason, next },
    })),
    blindSpots,
    ...(unreachable !== undefined && { unreachable }),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}
