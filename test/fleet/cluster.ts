/** Clusters of the tests, written down briefly: a fixed moment, and the objects that matter. */
import { findingsIn } from '../../src/fleet/findings.ts'
import type { Severity } from '../../src/fleet/issue.ts'
import type { Observation, RuleOptions } from '../../src/fleet/observation.ts'
import { type ClusterRow, type Identity, rowOf } from '../../src/fleet/outcome.ts'
import { judge } from '../../src/fleet/sweep.ts'
import { SWEPT_RESOURCES, type SweptResource } from '../../src/fleet/swept-resources.ts'
import type { Fields } from '../../src/printers/read-field.ts'

export const NOW = Date.parse('2026-09-01T12:00:00Z')

/** A time so many seconds before the fixed moment. */
export function ago(seconds: number): string {
  return new Date(NOW - seconds * 1000).toISOString().replace('.000Z', 'Z')
}

export type Lists = { readonly [K in SweptResource]?: readonly Fields[] }

export interface Seen {
  readonly lists?: Lists
  readonly refused?: readonly SweptResource[]
}

/** All that is not mentioned was read and is empty. */
export function seen({ lists = {}, refused = [] }: Seen): Observation {
  const read = SWEPT_RESOURCES.filter((resource) => !refused.includes(resource))
  return {
    now: NOW,
    lists: Object.fromEntries(read.map((resource) => [resource, lists[resource] ?? []])),
    blindSpots: new Set(refused),
  }
}

/** Names of the issues, in ascending order. */
export function issuesIn(cluster: Seen, options: RuleOptions = {}): readonly string[] {
  return findingsIn(seen(cluster), options)
    .map(({ issue }) => issue as string)
    .sort()
}

export function rowFor(
  cluster: Seen,
  { failOn = 'critical', ...identity }: Partial<Identity> & { failOn?: Severity } = {},
): ClusterRow {
  return rowOf({ context: 'c', ...identity }, judge(seen(cluster)), failOn)
}

/** `fail 1/0/0 0 [CrashLoopBackOff]` */
export function shortRow(row: ClusterRow): string {
  const { verdict, critical, warning, info, blindSpots, topIssues } = row
  return `${verdict} ${critical}/${warning}/${info} ${blindSpots.size} [${topIssues.join(', ')}]`
}

// Objects

interface Meta {
  readonly [field: string]: unknown
}

const OLD = ago(86_400)

export function meta(name: string, more: Meta = {}): Fields {
  return { name, namespace: 'default', creationTimestamp: OLD, ...more }
}

export function ownedBy(kind: string, name: string): Meta {
  return { ownerReferences: [{ apiVersion: 'x', kind, name, uid: name, controller: true }] }
}

export function deployment(
  name: string,
  { replicas, ready, conditions = [] }: { replicas?: number; ready: number; conditions?: Fields[] },
): Fields {
  return {
    metadata: meta(name),
    spec: { replicas, template: { metadata: { labels: { app: name } } } },
    status: { readyReplicas: ready, conditions },
  }
}

export const PROGRESS_DEADLINE = {
  type: 'Progressing',
  status: 'False',
  reason: 'ProgressDeadlineExceeded',
}
export const REPLICA_FAILURE = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }

/** The ReplicaSet `web-1` of the Deployment `web`. */
export function replicaSetOf(deployment: string): Fields {
  return { metadata: meta(`${deployment}-1`, ownedBy('Deployment', deployment)) }
}

export function pod(
  name: string,
  { metadata = {}, status = {} }: { metadata?: Meta; status?: Meta },
) {
  return { metadata: meta(name, metadata), status: { phase: 'Running', ...status } }
}

/** A pod of the Deployment `web` by way of its ReplicaSet. */
export function webPod(name: string, status: Meta): Fields {
  return pod(name, { metadata: ownedBy('ReplicaSet', 'web-1'), status })
}

export function waiting(reason: string, more: Meta = {}): Fields {
  return { name: 'app', ready: false, restartCount: 0, state: { waiting: { reason } }, ...more }
}

export function running(more: Meta = {}): Fields {
  return { name: 'app', ready: false, restartCount: 0, state: { running: {} }, ...more }
}

export const READY = { type: 'Ready', status: 'True' }
export const NOT_READY = { type: 'Ready', status: 'False' }

export function readyPod(name: string, metadata: Meta = {}): Fields {
  const status = { conditions: [READY], containerStatuses: [running({ ready: true })] }
  return pod(name, { metadata, status })
}

export function event(
  reason: string,
  about: readonly [kind: string, name: string],
  more: Meta = {},
) {
  const [kind, name] = about
  return {
    metadata: meta(`${name}.${reason}`),
    involvedObject: { kind, name, namespace: 'default' },
    reason,
    lastTimestamp: ago(60),
    ...more,
  }
}

/** D web with one pod that keeps crashing. */
export const CRASHING: Lists = {
  deployments: [deployment('web', { replicas: 1, ready: 0, conditions: [PROGRESS_DEADLINE] })],
  replicasets: [replicaSetOf('web')],
  pods: [
    webPod('web-1-a', { containerStatuses: [waiting('CrashLoopBackOff', { restartCount: 9 })] }),
  ],
}

/** D web with so many ready of what it wants, and the pods given. */
export function web(
  counts: { replicas: number; ready: number; conditions?: Fields[] },
  pods: Fields[],
): Lists {
  return { deployments: [deployment('web', counts)], replicasets: [replicaSetOf('web')], pods }
}
