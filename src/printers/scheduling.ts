/** Priority classes, pod groups and runtime classes: how and where pods are to run. */
import type { KubeObject } from '../kube/kube-object.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import { ageOf, fields, integer, isSet, items, NONE, nameOf, text, truth } from './read-field.ts'

export const scheduling: PrintersByResource = {
  'priorityclasses.scheduling.k8s.io': (object) => [
    nameOf(object),
    integer(object.value),
    truth(object.globalDefault),
    ageOf(object),
    text(object.preemptionPolicy),
  ],
  'podgroups.scheduling.k8s.io': podGroupCells,
  'runtimeclasses.node.k8s.io': (object) => [
    nameOf(object),
    // v1alpha1 has the handler in its spec.
    text(object.handler ?? fields(object.spec).runtimeHandler),
    ageOf(object),
  ],
}

function podGroupCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  const template = spec.podGroupTemplateRef
  return [
    nameOf(object),
    isSet(fields(spec.schedulingPolicy).gang) ? 'Gang' : 'Basic',
    isSet(template) ? text(fields(fields(template).workload).workloadName) : NONE,
    podGroupStatus(object),
    ageOf(object),
  ]
}

function podGroupStatus(object: KubeObject): string {
  const conditions = items(fields(object.status).conditions).map(fields)
  const disrupted = conditions.findLast(({ type }) => type === 'DisruptionTarget')
  if (disrupted !== undefined) return text(disrupted.reason)
  const scheduled = conditions.findLast(({ type }) => type === 'PodGroupScheduled')
  if (scheduled === undefined) return 'Pending'
  return scheduled.status === 'True' ? 'Scheduled' : 'Unschedulable'
}
