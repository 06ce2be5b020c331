/** Endpoints and EndpointSlices: where the pods of a service listen. */
import type { KubeObject } from '../kube/kube-object.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import {
  ageOf,
  fields,
  integer,
  isSet,
  items,
  NONE,
  nameOf,
  text,
  texts,
  UNSET,
} from './read-field.ts'
import { shortenedList } from './shortened-list.ts'

export const endpoints: PrintersByResource = {
  endpoints: (object) => [nameOf(object), endpointsText(object), ageOf(object)],
  'endpointslices.discovery.k8s.io': endpointSliceCells,
}

function endpointsText(object: KubeObject): string {
  const subsets = items(object.subsets)
  if (subsets.length === 0) return NONE
  const list: string[] = []
  for (const subset of subsets) {
    const { ports, addresses } = fields(subset)
    const ips = items(addresses).map((address) => text(fields(address).ip))
    const suffixes = items(ports).map((port) => `:${integer(fields(port).port)}`)
    if (suffixes.length === 0) list.push(...ips) // a headless service may have no ports
    for (const suffix of suffixes) for (const ip of ips) list.push(hostOf(ip) + suffix)
  }
  return shortenedList(list)
}

/** IPv6 addresses stand in brackets before a port. */
function hostOf(ip: string): string {
  return ip.includes(':') || ip.includes('%') ? `[${ip}]` : ip
}

function endpointSliceCells(object: KubeObject): readonly Cell[] {
  const ports = items(object.ports).map(portText)
  const addresses = items(object.endpoints).flatMap((one) => texts(fields(one).addresses))
  return [
    nameOf(object),
    text(object.addressType),
    shortenedList(ports) || UNSET,
    shortenedList(addresses) || UNSET,
    ageOf(object),
  ]
}

/** An unnamed port that stands for all has no text; alone, it prints as no ports do. */
function portText(item: unknown): string {
  const { port, name } = fields(item)
  if (isSet(port)) return String(integer(port))
  return isSet(name) ? text(name) : '*'
}
