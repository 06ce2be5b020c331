/** Events that the demo's changes leave behind, about the objects they are of. */
import type { KubeObject } from '../kube/kube-object.ts'
import { drawn, type Placed, type Setting, TYPES, timeAt, uidOf } from './placed.ts'

export interface Happening {
  /** Seconds after the start. */
  readonly at: number
  readonly about: {
    readonly kind: string
    readonly apiVersion: string
    readonly namespace: string
    readonly name: string
    /** Left out: the one that {@link uidOf} gives. */
    readonly uid?: string
  }
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  readonly component: string
}

export function event(setting: Setting, of: Happening): Placed {
  const { about } = of
  // Events about cluster-scoped objects live in `default`.
  const namespace = about.namespace || 'default'
  const key = about.namespace === '' ? about.name : `${about.namespace}/${about.name}`
  const name = `${about.name}.${drawn(setting, `${of.reason}/${about.name}/${of.at}`, 16)}`
  const time = timeAt(setting, of.at)
  const object: KubeObject = {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: {
      name,
      namespace,
      uid: uidOf(setting, 'Event', `${namespace}/${name}`),
      creationTimestamp: time,
    },
    involvedObject: {
      kind: about.kind,
      ...(about.namespace && { namespace: about.namespace }),
      name: about.name,
      uid: about.uid ?? uidOf(setting, about.kind, key),
      apiVersion: about.apiVersion,
    },
    reason: of.reason,
    message: of.message,
    source: { component: of.component },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    type: of.type,
    eventTime: null,
    reportingComponent: of.component,
    reportingInstance: '',
  }
  return { of: TYPES.events, object }
}
