/** `kubectl get nodes`. */
import type { KubeObject } from '../kube/kube-object.ts'
import type { Cell, PrintersByResource } from './printer.ts'
import { ageOf, type Fields, fields, items, NONE, nameOf, text, truth } from './read-field.ts'

export const nodes: PrintersByResource = { nodes: nodeCells }

const ROLE_PREFIX = 'node-role.kubernetes.io/'
const ROLE_LABEL = 'kubernetes.io/role'
const UNKNOWN = '<unknown>'

function nodeCells(object: KubeObject): readonly Cell[] {
  const status = fields(object.status)
  const info = fields(status.nodeInfo)
  const architecture = text(info.architecture)
  return [
    nameOf(object),
    nodeStatus(fields(object.spec), status),
    roles(fields(fields(object.metadata).labels)),
    ageOf(object),
    text(info.kubeletVersion),
    firstAddress(status, 'InternalIP'),
    firstAddress(status, 'ExternalIP'),
    text(info.osImage) || UNKNOWN,
    (text(info.kernelVersion) || UNKNOWN) + (architecture === '' ? '' : ` (${architecture})`),
    text(info.containerRuntimeVersion) || UNKNOWN,
  ]
}

function nodeStatus(spec: Fields, status: Fields): string {
  const ready = items(status.conditions)
    .map(fields)
    .findLast(({ type }) => type === 'Ready')
  let line = 'Unknown'
  if (ready !== undefined) line = ready.status === 'True' ? 'Ready' : 'NotReady'
  return truth(spec.unschedulable) ? `${line},SchedulingDisabled` : line
}

function roles(labels: Fields): string {
  const found = new Set<string>()
  for (const [key, value] of Object.entries(labels)) {
    if (key.startsWith(ROLE_PREFIX)) found.add(key.slice(ROLE_PREFIX.length))
    else if (key === ROLE_LABEL) found.add(text(value))
  }
  found.delete('')
  return [...found].sort().join(',') || NONE
}

function firstAddress(status: Fields, type: string): string {
  const address = items(status.addresses)
    .map(fields)
    .find((candidate) => candidate.type === type)
  return address === undefined ? NONE : text(address.address)
}
