/** Objects of a simulated cluster, and what their making needs to know of the cluster. */
import type { GroupResource } from '../kube/group-resource.ts'
import type { KubeObject } from '../kube/kube-object.ts'
import { timestamp } from '../kube/timestamp.ts'
import { uidFrom } from './member-server.ts'

export interface Placed {
  readonly of: GroupResource
  readonly object: KubeObject
}

/** A simulated cluster as its objects see it. */
export interface Setting {
  readonly cluster: string
  /** Milliseconds since 1970 at which the demo started. */
  readonly start: number
  /** Kubernetes version of its nodes. */
  readonly version: string
  /** Changes every name that is drawn. */
  readonly seed: string
}

export const TYPES = {
  namespaces: { group: '', resource: 'namespaces' },
  nodes: { group: '', resource: 'nodes' },
  pods: { group: '', resource: 'pods' },
  services: { group: '', resource: 'services' },
  configMaps: { group: '', resource: 'configmaps' },
  events: { group: '', resource: 'events' },
  deployments: { group: 'apps', resource: 'deployments' },
  replicaSets: { group: 'apps', resource: 'replicasets' },
  jobs: { group: 'batch', resource: 'jobs' },
} as const

export const MINUTE_SECONDS = 60
export const HOUR_SECONDS = 3600
export const DAY_SECONDS = 86_400

/** The time so many seconds after the start; before it when negative. */
export function timeAt({ start }: Setting, seconds: number): string {
  return timestamp(start + seconds * 1000)
}

/** The uid that an object of that name has, in every run with the same seed. */
export function uidOf(setting: Setting, kind: string, name: string): string {
  return uidFrom(`${setting.seed}/${setting.cluster}/${kind}/${name}`)
}

/** Letters and digits that Kubernetes draws generated names from. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'

/** A generated name's ending, the same for the same text. */
export function drawn(setting: Setting, text: string, length: number): string {
  const hex = uidFrom(`${setting.seed}/${setting.cluster}/${text}`).replaceAll('-', '')
  return Array.from({ length }, (_, i) => {
    const byte = Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16)
    return ALPHABET[byte % ALPHABET.length]
  }).join('')
}
