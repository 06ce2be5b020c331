/** How much of each resource is fetched from the store: what no rule looks at is left there. */
import { type Fields, fields, isRecord } from '../printers/read-field.ts'
import type { SweepPart, SweptRow } from '../store/sweep.ts'
import { slimmed } from './slim.ts'
import type { SweptResource } from './swept-resources.ts'

const EVENT_REASONS = ['FailedAttachVolume', 'FailedMount', 'Unhealthy', 'FailedCreate']
const CLAIM_KIND = ['PersistentVolumeClaim']

const inStatus = (resource: string, phase: string) => ({
  ...{ group: '', resource },
  path: ['status', 'phase'],
  values: [phase],
})
const ofEvents = (path: readonly string[], values: readonly string[]) => ({
  ...{ group: '', resource: 'events' },
  path,
  values,
})

/** `none`: that it is mirrored is all there is to know. What is not here is fetched whole. */
const PARTS: { readonly [K in SweptResource]?: SweepPart | 'none' } = {
  pods: { kind: 'pods' },
  replicasets: { kind: 'metadata' },
  namespaces: { kind: 'deleted' },
  persistentvolumeclaims: {
    kind: 'values',
    any: [inStatus('persistentvolumeclaims', 'Pending')],
    orDeleted: true,
  },
  persistentvolumes: { kind: 'values', any: [inStatus('persistentvolumes', 'Available')] },
  events: {
    kind: 'values',
    any: [
      ofEvents(['reason'], EVENT_REASONS),
      ofEvents(['involvedObject', 'kind'], CLAIM_KIND),
      ofEvents(['regarding', 'kind'], CLAIM_KIND),
    ],
  },
  networkpolicies: 'none',
  leases: 'none',
}

export function partOf(resource: SweptResource, nodes: boolean): SweepPart | 'none' {
  if (resource === 'nodes' && !nodes) return 'none'
  return PARTS[resource] ?? { kind: 'whole' }
}

/** What a pod's status must say when nothing is wrong with it. */
const WELL: Fields = {
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True' }],
  containerStatuses: [{ ready: true, restartCount: 0, state: { running: {} } }],
}

/** @throws SyntaxError for what the store should never have taken. */
export function objectIn(resource: SweptResource, { object, metadata }: SweptRow): Fields {
  if (object !== undefined) {
    const parsed: unknown = JSON.parse(object)
    return slimmed(resource, isRecord(parsed) ? parsed : {})
  }
  const status = resource === 'pods' ? { status: WELL } : {}
  return slimmed(resource, { metadata: fields(JSON.parse(metadata ?? '{}')), ...status })
}
