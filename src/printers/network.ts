/** The remaining kinds of networking.k8s.io: policies, address ranges and addresses. */
import { qualifiedResource } from '../kube/group-resource.ts'
import type { KubeObject } from '../kube/kube-object.ts'
import { selectorText } from './label-text.ts'
import type { PrintersByResource } from './printer.ts'
import { ageOf, fields, isSet, NONE, nameOf, text, texts } from './read-field.ts'

export const networkKinds: PrintersByResource = {
  'networkpolicies.networking.k8s.io': (object) => [
    nameOf(object),
    selectorText(fields(object.spec).podSelector),
    ageOf(object),
  ],
  'servicecidrs.networking.k8s.io': (object) => [
    nameOf(object),
    texts(fields(object.spec).cidrs).join(','),
    ageOf(object),
  ],
  // One cell more than columns: kube-apiserver sends an age that it has no column for.
  'ipaddresses.networking.k8s.io': (object) => [nameOf(object), parentText(object), ageOf(object)],
}

/** `services/shop/web`. */
function parentText(object: KubeObject): string {
  const { parentRef } = fields(object.spec)
  if (!isSet(parentRef)) return NONE
  const { group, resource, namespace, name } = fields(parentRef)
  const parts = [qualifiedResource({ group: text(group), resource: text(resource) }).toLowerCase()]
  if (text(namespace) !== '') parts.push(text(namespace))
  return [...parts, text(name)].join('/')
}
