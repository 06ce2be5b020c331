/** Which lists are asked for to read one resource. */
import { parseApiVersion } from '../kube/group-resource.ts'
import type { ListAsked } from './member-reader.ts'
import { type SweptResource, sweptType } from './swept-resources.ts'

export interface ListScope {
  readonly namespace: string | undefined
  readonly nodes: boolean
}

/** Events that a rule looks at. */
const EVENT_SELECTORS = [
  'reason=FailedAttachVolume',
  'reason=FailedMount',
  'reason=Unhealthy',
  'involvedObject.kind=PersistentVolumeClaim',
  'reason=FailedCreate',
]

/** No rule looks at these; that they can be read is part of what a sweep tells. */
const PROBED: ReadonlySet<SweptResource> = new Set(['leases', 'networkpolicies'])

/**
 * What is asked for in each version, one version after another until one is there; of events
 * several lists, all of which are needed.
 */
export function listPlan(
  resource: SweptResource,
  scope: ListScope,
): ReadonlyArray<readonly ListAsked[]> {
  const isProbe = PROBED.has(resource) || (resource === 'nodes' && !scope.nodes)
  return sweptType(resource).apiVersions.map((apiVersion) => {
    const path = pathOf(resource, apiVersion, scope.namespace)
    if (resource !== 'events') return [{ path, query: {}, isProbe }]
    return EVENT_SELECTORS.map((fieldSelector) => ({ path, query: { fieldSelector }, isProbe }))
  })
}

function pathOf(
  resource: SweptResource,
  apiVersion: string,
  namespace: string | undefined,
): string {
  const { namespaced, fixedNamespace } = sweptType(resource)
  const { group, version } = parseApiVersion(apiVersion)
  const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const within = fixedNamespace ?? (namespaced ? namespace : undefined)
  return within === undefined
    ? `${prefix}/${resource}`
    : `${prefix}/namespaces/${encodeURIComponent(within)}/${resource}`
}
