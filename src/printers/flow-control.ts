/** Priority levels and flow schemas. Until v1beta3, shares were `assuredConcurrencyShares`. */
import type { KubeObject } from '../kube/kube-object.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import { ageOf, fields, integer, isSet, items, NONE, nameOf, text } from './read-field.ts'

export const flowControl: PrintersByResource = {
  'flowschemas.flowcontrol.apiserver.k8s.io': flowSchemaCells,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': priorityLevelCells,
}

function flowSchemaCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  const dangling = items(fields(object.status).conditions)
    .map(fields)
    .find(({ type }) => type === 'Dangling')
  return [
    nameOf(object),
    text(fields(spec.priorityLevelConfiguration).name),
    integer(spec.matchingPrecedence),
    isSet(spec.distinguisherMethod) ? text(fields(spec.distinguisherMethod).type) : NONE,
    ageOf(object),
    dangling === undefined ? '?' : text(dangling.status),
  ]
}

function priorityLevelCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  const limited = fields(spec.limited)
  const { queuing } = fields(limited.limitResponse)
  const { queues, handSize, queueLengthLimit } = fields(queuing)
  const queue = (value: unknown): Cell => (isSet(queuing) ? integer(value) : NONE)
  const shares = limited.nominalConcurrencyShares ?? limited.assuredConcurrencyShares
  return [
    nameOf(object),
    text(spec.type),
    isSet(spec.limited) ? integer(shares) : NONE,
    queue(queues),
    queue(handSize),
    queue(queueLengthLimit),
    ageOf(object),
  ]
}
