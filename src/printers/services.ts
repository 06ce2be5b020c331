/** `kubectl get services`. */
import type { KubeObject } from '../kube/kube-object.ts'
import { labelsText } from './label-text.ts'
import { loadBalancerAddresses } from './load-balancer.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import {
  ageOf,
  count,
  type Fields,
  fields,
  integer,
  items,
  NONE,
  nameOf,
  text,
  texts,
} from './read-field.ts'

export const services: PrintersByResource = { services: serviceCells }

function serviceCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  return [
    nameOf(object),
    text(spec.type),
    // Servers before 1.20 know clusterIP alone.
    text(items(spec.clusterIPs)[0]) || text(spec.clusterIP) || NONE,
    externalAddress(spec, object.status),
    items(spec.ports).map(portText).join(',') || NONE,
    ageOf(object),
    labelsText(spec.selector),
  ]
}

function externalAddress(spec: Fields, status: unknown): string {
  const external = texts(spec.externalIPs)
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return external.join(',') || NONE
    case 'LoadBalancer':
      return [...loadBalancerAddresses(status), ...external].join(',') || '<pending>'
    case 'ExternalName':
      return text(spec.externalName)
    default:
      return '<unknown>'
  }
}

function portText(item: unknown): string {
  const { port, nodePort, protocol } = fields(item)
  const opened = count(nodePort) > 0 ? `:${integer(nodePort)}` : ''
  return `${integer(port)}${opened}/${text(protocol)}`
}
