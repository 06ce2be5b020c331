/** `kubectl get namespaces`. */
import type { KubeObject } from '../kube/kube-object.ts'
import type { Cell } from './printer.ts'
import { ageOf, fields, nameOf, text } from './read-field.ts'

export function namespaceCells(object: KubeObject): readonly Cell[] {
  return [nameOf(object), text(fields(object.status).phase), ageOf(object)]
}
