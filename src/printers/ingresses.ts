/** Ingresses and their classes. All versions of Ingress agree in the fields read here. */
import type { KubeObject } from '../kube/kube-object.ts'
import { loadBalancerAddresses } from './load-balancer.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import { ageOf, fields, isSet, items, NONE, nameOf, text } from './read-field.ts'
import { shortenedList } from './shortened-list.ts'

export const ingresses: PrintersByResource = {
  'ingresses.networking.k8s.io': ingressCells,
  'ingressclasses.networking.k8s.io': ingressClassCells,
}

const DEFAULT_CLASS = 'ingressclass.kubernetes.io/is-default-class'

function ingressCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  return [
    nameOf(object),
    isSet(spec.ingressClassName) ? text(spec.ingressClassName) : NONE,
    hostsText(spec.rules),
    loadBalancerAddresses(object.status).join(','),
    items(spec.tls).length > 0 ? '80, 443' : '80',
    ageOf(object),
  ]
}

/**
 * Rules without a host do not count until three hosts are found, but do in the number that is
 * left: upstream's formatHosts says so.
 */
function hostsText(value: unknown): string {
  const rules = items(value)
  const hosts: string[] = []
  for (const rule of rules) {
    if (hosts.length === 3) return shortenedList(hosts, rules.length)
    const host = text(fields(rule).host)
    if (host !== '') hosts.push(host)
  }
  return hosts.join(',') || '*'
}

function ingressClassCells(object: KubeObject): readonly Cell[] {
  const spec = fields(object.spec)
  const isDefault = fields(fields(object.metadata).annotations)[DEFAULT_CLASS] === 'true'
  return [
    isDefault ? `${nameOf(object)} (default)` : nameOf(object),
    text(spec.controller),
    isSet(spec.parameters) ? parametersText(fields(spec.parameters)) : NONE,
    ageOf(object),
  ]
}

function parametersText({ kind, apiGroup, name }: Readonly<Record<string, unknown>>): string {
  return `${text(kind)}${isSet(apiGroup) ? `.${text(apiGroup)}` : ''}/${text(name)}`
}
