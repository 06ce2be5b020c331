/** HorizontalPodAutoscalers that cannot do their work: one issue each, by their conditions. */
import { type Fields, text } from '../../printers/read-field.ts'
import type { Finding, IssueName } from '../issue.ts'
import type { Observation } from '../observation.ts'
import { conditionOf, placeOf } from '../read-object.ts'

export function autoscalerIssues({ lists }: Observation): readonly Finding[] {
  return (lists.horizontalpodautoscalers ?? []).flatMap((autoscaler) => {
    const found = issueOf(autoscaler)
    return found ? [{ ...found, kind: 'HorizontalPodAutoscaler', ...placeOf(autoscaler) }] : []
  })
}

/** By reason, which is any text: a map, so that no reason finds what every object has. */
const INACTIVE: ReadonlyMap<string, IssueName> = new Map([
  ['ScalingDisabled', 'HPAScalingDisabled'],
  ['AmbiguousSelector', 'HPAAmbiguousSelector'],
])

function issueOf(autoscaler: Fields): Pick<Finding, 'issue' | 'reason'> | undefined {
  const able = conditionOf(autoscaler, 'AbleToScale')
  if (able?.status === 'False') return said('HPAUnableToScale', able)
  const active = conditionOf(autoscaler, 'ScalingActive')
  if (active?.status === 'False') {
    return said(INACTIVE.get(text(active.reason)) ?? 'HPAMetricsFailed', active)
  }
  const limited = conditionOf(autoscaler, 'ScalingLimited')
  const isCapped = limited?.status === 'True' && limited.reason === 'TooManyReplicas'
  return isCapped ? said('HPACapped', limited) : undefined
}

function said(issue: IssueName, { message, reason }: Fields) {
  return { issue, reason: text(message) || text(reason) }
}
