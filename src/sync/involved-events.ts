/**
 * `eventsInvolvedResources`: of all events, those that are about certain resources. Pure.
 *
 * Members cannot be asked for the events of several kinds at once, so all are read and the others
 * are dropped here.
 */
import type { GroupResource, ResourceInfo } from '../kube/group-resource.ts'
import { parseApiVersion } from '../kube/group-resource.ts'
import type { SyncGroupResources } from '../kube/pedia-cluster.ts'
import { JsonError, members } from './json-bytes.ts'

/** What an event may be about; what is left out may be anything. */
export interface InvolvedKind {
  readonly group?: string
  readonly kind?: string
}

/** The kinds that the entries name, as this member serves them; in a fixed order. */
export function involvedKinds(
  wanted: readonly SyncGroupResources[],
  served: readonly ResourceInfo[],
): readonly InvolvedKind[] {
  const texts = wanted.flatMap((entry) =>
    (entry.eventsInvolvedResources ?? []).flatMap((resource) =>
      kindsOf({ group: entry.group, resource }, served).map((kind) => JSON.stringify(kind)),
    ),
  )
  return [...new Set(texts)].sort().map((text) => JSON.parse(text) as InvolvedKind)
}

function kindsOf(
  { group, resource }: GroupResource,
  served: readonly ResourceInfo[],
): readonly InvolvedKind[] {
  if (resource === '*') return [group === '*' ? {} : { group }]
  return served
    .filter((info) => info.resource === resource && (group === '*' || group === info.group))
    .map((info) => ({ group: info.group, kind: info.kind }))
}

/** Whether this event is about one of the kinds. What is no event is left to the encoder to refuse. */
export function isAbout(kinds: readonly InvolvedKind[], event: Buffer): boolean {
  const reference = referenceOf(event)
  if (!reference) return true
  const { kind, apiVersion } = reference
  const group =
    typeof apiVersion === 'string' && apiVersion ? parseApiVersion(apiVersion).group : undefined
  return kinds.some(
    (one) =>
      (one.kind === undefined || one.kind === kind) &&
      // Some reporters leave the apiVersion out.
      (one.group === undefined || group === undefined || one.group === group),
  )
}

type Reference = { readonly kind?: unknown; readonly apiVersion?: unknown }

/** `involvedObject`, which the group events.k8s.io calls `regarding`. */
function referenceOf(event: Buffer): Reference | undefined {
  try {
    let found: Reference | undefined
    for (const { key, start, end } of members(event)) {
      if (key !== 'involvedObject' && key !== 'regarding') continue
      found = JSON.parse(event.toString('utf8', start, end)) ?? undefined
    }
    return found
  } catch (error) {
    if (error instanceof JsonError || error instanceof SyntaxError) return undefined
    throw error
  }
}
