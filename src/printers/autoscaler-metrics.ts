/**
 * The metrics of a HorizontalPodAutoscaler in one shape, whichever version it is read in.
 *
 * v2 and v2beta2  `resource.target.averageValue` and `resource.current.averageValue`
 * v2beta1         `resource.targetAverageValue` and `resource.currentAverageValue`
 * v1              CPU in fields of its own; all others as v2beta1 has them, in annotations
 */
import type { KubeObject } from '../kube/kube-object.ts'
import { type Fields, fields, isSet, items } from './read-field.ts'

/** One side of a metric: what it is, or what it should be. */
interface MetricValue {
  readonly value: unknown
  readonly averageValue: unknown
  readonly averageUtilization: unknown
}

export interface Metrics {
  readonly specs: readonly Fields[]
  readonly statuses: readonly Fields[]
}

const SPECS_ANNOTATION = 'autoscaling.alpha.kubernetes.io/metrics'
const STATUSES_ANNOTATION = 'autoscaling.alpha.kubernetes.io/current-metrics'

export function metricsOf(object: KubeObject): Metrics {
  const spec = fields(object.spec)
  const status = fields(object.status)
  if (isSet(spec.metrics) || isSet(status.currentMetrics)) {
    return {
      specs: items(spec.metrics).map(fields),
      statuses: items(status.currentMetrics).map(fields),
    }
  }
  const annotations = fields(fields(object.metadata).annotations)
  return {
    specs: [
      ...listIn(annotations[SPECS_ANNOTATION]),
      ...cpu({ targetAverageUtilization: spec.targetCPUUtilizationPercentage }),
    ],
    statuses: [
      ...listIn(annotations[STATUSES_ANNOTATION]),
      ...cpu({ currentAverageUtilization: status.currentCPUUtilizationPercentage }),
    ],
  }
}

function cpu(utilization: Fields): readonly Fields[] {
  return isSet(Object.values(utilization)[0])
    ? [{ type: 'Resource', resource: { name: 'cpu', ...utilization } }]
    : []
}

/** An annotation that is no JSON list is ignored, as upstream does. */
function listIn(annotation: unknown): readonly Fields[] {
  if (typeof annotation !== 'string') return []
  try {
    return items(JSON.parse(annotation)).map(fields)
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

export function targetOf(source: Fields): MetricValue {
  const target = fields(source.target)
  // In v2beta1, the target of an object metric is a reference to the object.
  const isValue = ['type', 'value', 'averageValue', 'averageUtilization'].some((field) =>
    isSet(target[field]),
  )
  if (isValue) return valueIn(target)
  return {
    value: source.targetValue,
    averageValue: source.targetAverageValue ?? source.averageValue,
    averageUtilization: source.targetAverageUtilization,
  }
}

export function currentOf(source: Fields): MetricValue {
  if (isSet(source.current)) return valueIn(fields(source.current))
  return {
    value: source.currentValue,
    averageValue: source.currentAverageValue ?? source.averageValue,
    averageUtilization: source.currentAverageUtilization,
  }
}

function valueIn({ value, averageValue, averageUtilization }: Fields): MetricValue {
  return { value, averageValue, averageUtilization }
}
