/** A gate's report as text: each finding with its reason and what to do next, then the verdict. */
import type { GateFinding, GateReport } from './gate.ts'
import { SEVERITIES } from './issue.ts'
import type { Paint } from './render-text.ts'
import { sanitiseName } from './row-name.ts'

export function renderGate(report: GateReport, paint: Paint = (_, text) => text): string {
  const { context, verdict, exitCode, findings, blindSpots, unreachable } = report
  const counts = SEVERITIES.toReversed().map((severity) => {
    const { length } = findings.filter((finding) => finding.severity === severity)
    return `${length} ${severity}`
  })
  const spots = blindSpots.length
  const lines = [
    `GATE  ${sanitiseName(context)}  ${counts.join(', ')}`,
    ...(unreachable === undefined ? [] : ['', `nothing could be seen: ${unreachable}`]),
    ...findings.flatMap(findingLines),
    ...(spots > 0 ? ['', `not seen (${spots}): ${blindSpots.join(', ')}`] : []),
    '',
    `verdict: ${paint(verdict, verdict)} (exit ${exitCode})`,
  ]
  return `${lines.join('\n')}\n`
}

const SEVERITY_WIDTH = 8

function findingLines(finding: GateFinding): readonly string[] {
  const { severity, issue, kind, namespace, name, reason, next } = finding
  const place = namespace === '' ? name : `${namespace}/${name}`
  const indent = ' '.repeat(SEVERITY_WIDTH + 2)
  return [
    '',
    `${severity.padEnd(SEVERITY_WIDTH)}  ${issue}  ${sanitiseName(`${kind} ${place}`)}`,
    ...(reason === '' ? [] : [`${indent}${sanitiseName(reason)}`]),
    `${indent}next: ${next}`,
  ]
}
