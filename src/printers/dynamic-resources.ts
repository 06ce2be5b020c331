/** The kinds of resource.k8s.io: devices and who claims them, those of its first versions too. */
import type { KubeObject } from '../kube/kube-object.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import {
  ageOf,
  count,
  type Fields,
  fields,
  isSet,
  items,
  NONE,
  nameOf,
  since,
  text,
} from './read-field.ts'

export const dynamicResources: PrintersByResource = {
  'deviceclasses.resource.k8s.io': (object) => [nameOf(object), ageOf(object)],
  'resourceclaims.resource.k8s.io': (object) => [nameOf(object), claimState(object), ageOf(object)],
  'resourceclaimtemplates.resource.k8s.io': (object) => [nameOf(object), ageOf(object)],
  // Both are gone since 1.32.
  'resourceclasses.resource.k8s.io': (object) => [
    nameOf(object),
    text(object.driverName),
    ageOf(object),
  ],
  'podschedulingcontexts.resource.k8s.io': (object) => [
    nameOf(object),
    text(fields(object.spec).selectedNode),
    ageOf(object),
  ],
  'resourceslices.resource.k8s.io': sliceCells,
  'devicetaintrules.resource.k8s.io': taintRuleCells,
  'resourcepoolstatusrequests.resource.k8s.io': poolStatusCells,
}

function claimState(object: KubeObject): string {
  const { allocation, reservedFor } = fields(object.status)
  const states: string[] = []
  const deleted = isSet(fields(object.metadata).deletionTimestamp)
  if (deleted) states.push('deleted')
  if (isSet(allocation)) states.push('allocated')
  else if (!deleted) states.push('pending')
  if (isSet(allocation) && items(reservedFor).length > 0) states.push('reserved')
  return states.join(',')
}

function sliceCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  return [
    nameOf(object),
    // v1alpha2 has node and driver at the top.
    text(spec.nodeName ?? object.nodeName),
    text(spec.driver ?? object.driverName),
    text(fields(spec.pool).name),
    ageOf(object),
  ]
}

function taintRuleCells(object: KubeObject): readonly Cell[] {
  const taint = fields(fields(object.spec).taint)
  return [
    nameOf(object),
    text(taint.key),
    text(taint.value),
    text(taint.effect),
    isSet(taint.timeAdded) ? since(taint.timeAdded) : '',
    ageOf(object),
  ]
}

function poolStatusCells(object: KubeObject): readonly Cell[] {
  const status = fields(object.status)
  const pools = items(status.pools).map(fields)
  const outcome = items(status.conditions)
    .map(fields)
    .find(({ type, status }) => status === 'True' && (type === 'Complete' || type === 'Failed'))
  const counted = isSet(object.status) && outcome?.type !== 'Failed'
  const sum = (field: string): Cell =>
    counted ? pools.reduce((total, pool) => total + count(pool[field]), 0) : '-'
  return [
    nameOf(object),
    text(fields(object.spec).driver),
    sum('totalDevices'),
    sum('availableDevices'),
    sum('allocatedDevices'),
    sum('unavailableDevices'),
    counted ? pools.filter(({ validationError }) => isSet(validationError)).length : '-',
    count(status.poolCount),
    poolStatusText(outcome, pools.length, count(status.poolCount)),
    outcome?.type === 'Complete' ? since(outcome.lastTransitionTime) : NONE,
  ]
}

/** Says so when not all pools are listed. */
function poolStatusText(outcome: Fields | undefined, listed: number, total: number): string {
  const status = text(outcome?.type) || 'Pending'
  return status === 'Complete' && total > listed ? `Complete (${listed}/${total} pools)` : status
}
