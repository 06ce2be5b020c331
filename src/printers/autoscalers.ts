/** `kubectl get horizontalpodautoscalers`, of every version (see autoscaler-metrics.ts). */
import type { KubeObject } from '../kube/kube-object.ts'
import { currentOf, type Metrics, metricsOf, targetOf } from './autoscaler-metrics.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import { NO_QUANTITY, quantityText } from './quantity.ts'
import {
  ageOf,
  type Fields,
  fields,
  integer,
  isSet,
  NONE,
  nameOf,
  text,
  UNSET,
} from './read-field.ts'

export const autoscalers: PrintersByResource = {
  'horizontalpodautoscalers.autoscaling': autoscalerCells,
}

/** How many metrics are shown. */
const SHOWN = 2
const UNKNOWN = '<unknown>'

function autoscalerCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  const reference = fields(spec.scaleTargetRef)
  return [
    nameOf(object),
    `${text(reference.kind)}/${text(reference.name)}`,
    metricsText(metricsOf(object)),
    isSet(spec.minReplicas) ? String(integer(spec.minReplicas)) : UNSET,
    integer(spec.maxReplicas),
    integer(fields(object.status).currentReplicas),
    ageOf(object),
  ]
}

/** Status n belongs to metric n: names are not compared. */
function metricsText({ specs, statuses }: Metrics): string {
  if (specs.length === 0) return NONE
  const shown = specs.slice(0, SHOWN).map((spec, i) => metricText(spec, statuses[i]))
  const rest = specs.length - SHOWN
  return rest > 0 ? `${shown.join(', ')} + ${rest} more...` : shown.join(', ')
}

/** Metric type → the field that describes it, in spec and status. */
const SOURCE_FIELD: Readonly<Record<string, string>> = {
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
  ContainerResource: 'containerResource',
}

function metricText(spec: Fields, status: Fields = {}): string {
  const type = text(spec.type)
  const field = Object.hasOwn(SOURCE_FIELD, type) ? SOURCE_FIELD[type] : undefined
  if (field === undefined) return '<unknown type>'
  const source = fields(spec[field])
  const current = isSet(status[field]) ? fields(status[field]) : undefined
  switch (field) {
    case 'pods':
      return averageText(source, current)
    case 'external':
    case 'object':
      return valueOrAverageText(source, current)
    default:
      return `${text(source.name)}: ${utilizationText(source, current)}`
  }
}

function averageText(source: Fields, current: Fields | undefined): string {
  const now = current === undefined ? UNKNOWN : pointerText(currentOf(current).averageValue)
  return `${now}/${pointerText(targetOf(source).averageValue)}`
}

function valueOrAverageText(source: Fields, current: Fields | undefined): string {
  const target = targetOf(source)
  if (isSet(target.averageValue)) {
    const now = current === undefined ? undefined : currentOf(current).averageValue
    return `${isSet(now) ? quantityText(now) : UNKNOWN}/${quantityText(target.averageValue)} (avg)`
  }
  const now = current === undefined ? UNKNOWN : pointerText(currentOf(current).value)
  return `${now}/${pointerText(target.value)}`
}

function utilizationText(source: Fields, current: Fields | undefined): string {
  const target = targetOf(source)
  if (isSet(target.averageValue)) return averageText(source, current)
  const now = current === undefined ? undefined : currentOf(current).averageUtilization
  const wanted = target.averageUtilization
  return `${isSet(now) ? percent(now) : UNKNOWN}/${isSet(wanted) ? percent(wanted) : '<auto>'}`
}

function percent(value: unknown): string {
  return `${integer(value)}%`
}

function pointerText(quantity: unknown): string {
  return isSet(quantity) ? quantityText(quantity) : NO_QUANTITY
}
