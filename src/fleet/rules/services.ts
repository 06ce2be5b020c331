/**
 * Services that lead nowhere, and what other checks need to know of Services.
 *
 * A Service without endpoints is as it should be when all that it selects is scaled down or runs
 * now and then, or when its owner says so in an annotation.
 */
import { type Fields, fields, items, text } from '../../printers/read-field.ts'
import type { Finding } from '../issue.ts'
import type { Observation } from '../observation.ts'
import {
  hasLabels,
  keyOf,
  labelsIn,
  metaOf,
  nameOf,
  namespaceOf,
  placeOf,
  specOf,
  statusOf,
} from '../read-object.ts'
import { readyAddresses } from './ready-addresses.ts'
import { wantedPods } from './workload.ts'

const EXPECTED_EMPTY = ['fleetglass.io/expected-empty', 'kubeagent.io/expected-empty']

/** What is known of the Services of a cluster. */
export interface Services {
  find(namespace: string, name: string): Fields | undefined
  /** Undefined: EndpointSlices were not read. */
  readyAddresses(service: Fields): number | undefined
  /** Ought to have ready addresses and has none. Undefined: not all that tells was read. */
  lacksEndpoints(service: Fields): boolean | undefined
}

export function servicesIn({ lists }: Observation): Services | undefined {
  if (!lists.services) return undefined
  const byKey = new Map(
    lists.services.map((service) => [keyOf(namespaceOf(service), nameOf(service)), service]),
  )
  const ready = lists.endpointslices && readyAddresses(lists.endpointslices)
  const templates = templatesIn(lists)
  const addresses = (service: Fields) =>
    ready && (ready.get(keyOf(namespaceOf(service), nameOf(service))) ?? 0)
  return {
    find: (namespace, name) => byKey.get(keyOf(namespace, name)),
    readyAddresses: addresses,
    lacksEndpoints(service) {
      const count = addresses(service)
      if (!selectsPods(service) || isMarkedEmpty(service)) return false
      if (count === undefined || count > 0) return count === undefined ? undefined : false
      return templates && !isExpectedEmpty(service, templates)
    },
  }
}

export function isExternalName(service: Fields): boolean {
  return specOf(service).type === 'ExternalName'
}

function selectsPods(service: Fields): boolean {
  return !isExternalName(service) && Object.keys(fields(specOf(service).selector)).length > 0
}

function isMarkedEmpty(service: Fields): boolean {
  const annotations = fields(metaOf(service).annotations)
  return EXPECTED_EMPTY.some((name) => text(annotations[name]).toLowerCase() === 'true')
}

interface Template {
  readonly labels: ReadonlyMap<string, string>
  /** Undefined for Jobs: they come and go. */
  readonly wanted: number | undefined
}

type Templates = ReadonlyMap<string, readonly Template[]>

/** By namespace. Undefined: not every kind of workload was read. */
function templatesIn(lists: Observation['lists']): Templates | undefined {
  const { deployments, statefulsets, daemonsets, jobs, cronjobs } = lists
  if (!deployments || !statefulsets || !daemonsets || !jobs || !cronjobs) return undefined
  const kinds = { Deployment: deployments, StatefulSet: statefulsets, DaemonSet: daemonsets }
  const byNamespace = new Map<string, Template[]>()
  const add = (object: Fields, wanted: number | undefined, spec: Fields) => {
    const labels = labelsIn(metaOf(fields(spec.template)).labels)
    const known = byNamespace.get(namespaceOf(object))
    if (known) known.push({ labels, wanted })
    else byNamespace.set(namespaceOf(object), [{ labels, wanted }])
  }
  for (const [kind, objects] of Object.entries(kinds)) {
    for (const object of objects) add(object, wantedPods(kind, object), specOf(object))
  }
  for (const job of jobs) add(job, undefined, specOf(job))
  for (const cronJob of cronjobs) {
    add(cronJob, undefined, specOf(fields(specOf(cronJob).jobTemplate)))
  }
  return byNamespace
}

function isExpectedEmpty(service: Fields, templates: Templates): boolean {
  const selector = fields(specOf(service).selector)
  const matching = (templates.get(namespaceOf(service)) ?? []).filter(({ labels }) =>
    hasLabels(labels, selector),
  )
  return matching.length > 0 && matching.every(({ wanted }) => wanted === undefined || wanted === 0)
}

export function serviceIssues(observation: Observation): readonly Finding[] {
  const services = servicesIn(observation)
  return (observation.lists.services ?? []).flatMap((service) => {
    const of = { kind: 'Service', ...placeOf(service) }
    const found: Finding[] = []
    if (lacksAddress(service)) {
      const reason = 'it is a LoadBalancer and was given no address'
      found.push({ issue: 'NoExternalAddress', ...of, reason })
    }
    if (services?.lacksEndpoints(service)) {
      found.push({ issue: 'NoEndpoints', ...of, reason: 'no ready pod is behind it' })
    }
    return found
  })
}

function lacksAddress(service: Fields): boolean {
  const { ingress } = fields(statusOf(service).loadBalancer)
  return specOf(service).type === 'LoadBalancer' && items(ingress).length === 0
}
