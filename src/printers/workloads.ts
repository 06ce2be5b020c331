/** Workloads made from a pod template, and the revisions of their templates. */
import { parseApiVersion, qualifiedResource } from '../kube/group-resource.ts'
import type { KubeObject } from '../kube/kube-object.ts'
import { labelsText, selectorText } from './label-text.ts'
import { containerImages, containerNames } from './pod-template.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import { ageOf, fields, integer, items, NONE, nameOf, text } from './read-field.ts'

export const workloads: PrintersByResource = {
  'deployments.apps': deploymentCells,
  'replicasets.apps': (object) => [
    ...replicaCells(object),
    ...templateCells(object),
    selectorText(fields(object.spec).selector),
  ],
  replicationcontrollers: (object) => [
    ...replicaCells(object),
    ...templateCells(object),
    labelsText(fields(object.spec).selector),
  ],
  'statefulsets.apps': (object) => [
    nameOf(object),
    readyOfDesired(object),
    ageOf(object),
    ...templateCells(object),
  ],
  'daemonsets.apps': daemonSetCells,
  podtemplates: podTemplateCells,
  'controllerrevisions.apps': (object) => [
    nameOf(object),
    controllerOf(object),
    integer(object.revision),
    ageOf(object),
  ],
}

function deploymentCells(object: KubeObject): readonly Cell[] {
  const status = fields(object.status)
  return [
    nameOf(object),
    readyOfDesired(object),
    integer(status.updatedReplicas),
    integer(status.availableReplicas),
    ageOf(object),
    ...templateCells(object),
    // Unlike other workloads', an empty selector stays empty and a wrong one is <invalid>.
    selectorText(fields(object.spec).selector, { none: '', invalid: '<invalid>' }),
  ]
}

function replicaCells(object: KubeObject): readonly Cell[] {
  const status = fields(object.status)
  return [
    nameOf(object),
    integer(fields(object.spec).replicas),
    integer(status.replicas),
    integer(status.readyReplicas),
    ageOf(object),
  ]
}

function daemonSetCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  const status = fields(object.status)
  return [
    nameOf(object),
    integer(status.desiredNumberScheduled),
    integer(status.currentNumberScheduled),
    integer(status.numberReady),
    integer(status.updatedNumberScheduled),
    integer(status.numberAvailable),
    labelsText(fields(fields(spec.template).spec).nodeSelector),
    ageOf(object),
    ...templateCells(object),
    selectorText(spec.selector),
  ]
}

function podTemplateCells(object: KubeObject): readonly Cell[] {
  const template = fields(object.template)
  return [
    nameOf(object),
    containerNames(template.spec),
    containerImages(template.spec),
    labelsText(fields(template.metadata).labels),
  ]
}

function readyOfDesired(object: KubeObject): string {
  return `${integer(fields(object.status).readyReplicas)}/${integer(fields(object.spec).replicas)}`
}

function templateCells(object: KubeObject): readonly Cell[] {
  const podSpec = fields(fields(object.spec).template).spec
  return [containerNames(podSpec), containerImages(podSpec)]
}

/** `statefulset.apps/db`: the owner that manages the revision. */
function controllerOf(object: KubeObject): string {
  for (const item of items(fields(object.metadata).ownerReferences)) {
    const owner = fields(item)
    if (owner.controller !== true) continue
    const { group } = parseApiVersion(text(owner.apiVersion))
    const kind = qualifiedResource({ group, resource: text(owner.kind) }).toLowerCase()
    return kind === '' ? text(owner.name) : `${kind}/${text(owner.name)}`
  }
  return NONE
}
