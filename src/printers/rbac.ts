/** Role bindings: who is bound to which role. */
import type { KubeObject } from '../kube/kube-object.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import { ageOf, fields, items, nameOf, text } from './read-field.ts'

export const rbac: PrintersByResource = {
  'rolebindings.rbac.authorization.k8s.io': bindingCells,
  'clusterrolebindings.rbac.authorization.k8s.io': bindingCells,
}

function bindingCells(object: KubeObject): readonly Cell[] {
  const role = fields(object.roleRef)
  return [
    nameOf(object),
    `${text(role.kind)}/${text(role.name)}`,
    ageOf(object),
    subjects(object, 'User'),
    subjects(object, 'Group'),
    subjects(object, 'ServiceAccount'),
  ]
}

function subjects(object: KubeObject, kind: 'User' | 'Group' | 'ServiceAccount'): string {
  return items(object.subjects)
    .map(fields)
    .filter((subject) => subject.kind === kind)
    .map(({ namespace, name }) =>
      kind === 'ServiceAccount' ? `${text(namespace)}/${text(name)}` : text(name),
    )
    .join(', ')
}
