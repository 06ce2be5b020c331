/** The plain kinds of the core group: a name, a field or a count, an age. */
import type { KubeObject } from '../kube/kube-object.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import { ageOf, fields, items, nameOf, text } from './read-field.ts'

export const coreKinds: PrintersByResource = {
  namespaces: (object) => [nameOf(object), text(fields(object.status).phase), ageOf(object)],
  configmaps: (object) => [
    nameOf(object),
    size(object.data) + size(object.binaryData),
    ageOf(object),
  ],
  secrets: (object) => [nameOf(object), text(object.type), size(object.data), ageOf(object)],
  serviceaccounts: (object) => [nameOf(object), ageOf(object)],
  componentstatuses: componentStatusCells,
}

function size(map: unknown): number {
  return Object.keys(fields(map)).length
}

function componentStatusCells(object: KubeObject): readonly Cell[] {
  const healthy = items(object.conditions)
    .map(fields)
    .find(({ type }) => type === 'Healthy')
  if (healthy === undefined) return [nameOf(object), 'Unknown', '', '']
  return [
    nameOf(object),
    healthy.status === 'True' ? 'Healthy' : 'Unhealthy',
    text(healthy.message),
    text(healthy.error),
  ]
}
