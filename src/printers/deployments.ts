/** `kubectl get deployments`. */
import type { KubeObject } from '../kube/kube-object.ts'
import { selectorText } from './label-text.ts'
import { containerImages, containerNames } from './pod-template.ts'
import type { Cell } from './printer.ts'
import { ageOf, fields, integer, nameOf } from './read-field.ts'

export function deploymentCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  const status = fields(object.status)
  const podSpec = fields(spec.template).spec
  return [
    nameOf(object),
    `${integer(status.readyReplicas)}/${integer(spec.replicas)}`,
    integer(status.updatedReplicas),
    integer(status.availableReplicas),
    ageOf(object),
    containerNames(podSpec),
    containerImages(podSpec),
    selectorText(spec.selector),
  ]
}
