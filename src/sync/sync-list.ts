/**
 * Which types of a member are mirrored, and in which version each is listed. Pure.
 *
 * A type is a stored one (kube/moved-resources.ts): served by two groups, it is mirrored once.
 */
import { isBuiltInGroup } from '../kube/built-in-groups.ts'
import { apiVersionOf, type GroupResource, type ResourceInfo } from '../kube/group-resource.ts'
import { storedAs } from '../kube/moved-resources.ts'
import type { SyncGroupResources } from '../kube/pedia-cluster.ts'
import { compareVersions } from '../kube/version-order.ts'
import { type InvolvedKind, involvedKinds } from './involved-events.ts'

export interface SyncList {
  /** The cluster's own list and its template's. */
  readonly wanted: readonly SyncGroupResources[]
  readonly excluded: readonly SyncGroupResources[]
  readonly allCustomResources: boolean
  /** Events are wanted for the sake of `eventsInvolvedResources` alone (involved-events.ts). */
  readonly eventsOfInvolvedOnly?: boolean
}

/** One type to mirror. */
export interface SyncTarget {
  /** The stored type. */
  readonly type: GroupResource
  /** As it is listed. */
  readonly info: ResourceInfo
  /** Every apiVersion it is served in, best first. */
  readonly servedVersions: readonly string[]
  /** Of events: what they must be about. Left out: all are mirrored. */
  readonly involved?: readonly InvolvedKind[]
}

/** A type that was named and is not served. */
export interface MissingType extends GroupResource {
  readonly reason: string
}

export interface ResolvedSyncList {
  readonly targets: readonly SyncTarget[]
  readonly missing: readonly MissingType[]
}

export interface ResolveInputs {
  readonly served: readonly ResourceInfo[]
  readonly list: SyncList
  /** Types that come from custom resource definitions. */
  readonly isCustom: (type: GroupResource) => boolean
  /**
   * Picks one of the versions a member serves, best first: the newest that most of the fleet
   * serves too. Left out: the newest.
   */
  readonly preferVersion?: (type: GroupResource, served: readonly string[]) => string
}

export function resolveSyncList(inputs: ResolveInputs): ResolvedSyncList {
  const byType = new Map<string, ResourceInfo[]>()
  for (const info of inputs.served) {
    if (!info.verbs.includes('list')) continue
    const key = keyOf(storedAs(info))
    const others = byType.get(key)
    if (others) others.push(info)
    else byType.set(key, [info])
  }
  const targets: SyncTarget[] = []
  for (const infos of byType.values()) {
    const target = targetOf(infos, inputs)
    if (target) targets.push(target)
  }
  targets.sort((a, b) => (keyOf(a.type) < keyOf(b.type) ? -1 : 1))
  return {
    targets: targets.map((target) => narrowed(target, inputs)),
    missing: missingOf(inputs.list, targets),
  }
}

const EVENTS: GroupResource = { group: '', resource: 'events' }

/** The list, with events in it when only those of certain resources are asked for. */
export function withInvolvedEvents(list: SyncList): SyncList {
  const asked = list.wanted.some((entry) => entry.eventsInvolvedResources?.length)
  if (!asked || wantsType(list, EVENTS)) return list
  const events = { group: EVENTS.group, resources: [EVENTS.resource] }
  return { ...list, wanted: [...list.wanted, events], eventsOfInvolvedOnly: true }
}

function narrowed(target: SyncTarget, { list, served }: ResolveInputs): SyncTarget {
  if (!list.eventsOfInvolvedOnly || keyOf(target.type) !== keyOf(EVENTS)) return target
  return { ...target, involved: involvedKinds(list.wanted, served) }
}

/** Whether the list asks for a type by name or by `*`, served or not. */
export function wantsType(list: SyncList, type: GroupResource): boolean {
  if (list.excluded.some((entry) => namesStored(entry, type))) return false
  return (
    list.wanted.some((entry) => namesStored(entry, type)) ||
    (list.allCustomResources && !isBuiltInGroup(type.group))
  )
}

function namesStored(entry: SyncGroupResources, type: GroupResource): boolean {
  const moved = entry.resources.some(
    (resource) => keyOf(storedAs({ group: entry.group, resource })) === keyOf(type),
  )
  return moved || names(entry, type)
}

/** A key of the type, for maps. */
export function keyOf({ group, resource }: GroupResource): string {
  return `${group}/${resource}`
}

function targetOf(infos: readonly ResourceInfo[], inputs: ResolveInputs): SyncTarget | undefined {
  const { list } = inputs
  const type = storedAs(infos[0]!)
  if (list.excluded.some((entry) => infos.some((info) => matches(entry, info, type))))
    return undefined
  const custom = list.allCustomResources && inputs.isCustom(type)
  const entries = list.wanted.filter((entry) => infos.some((info) => matches(entry, info, type)))
  if (!custom && entries.length === 0) return undefined
  const ordered = [...infos].sort((a, b) => byPreference(a, b, type))
  const allowed = ordered.filter((info) => custom || entries.some((entry) => permits(entry, info)))
  if (allowed.length === 0) return undefined
  const served = allowed.map(apiVersionOf)
  const chosen = inputs.preferVersion?.(type, served) ?? served[0]!
  return {
    type,
    info: allowed.find((info) => apiVersionOf(info) === chosen) ?? allowed[0]!,
    servedVersions: ordered.map(apiVersionOf),
  }
}

/** The group that a type lives in now, then the newer version. */
function byPreference(a: ResourceInfo, b: ResourceInfo, type: GroupResource): number {
  const home = Number(b.group === type.group) - Number(a.group === type.group)
  return home || compareVersions(a.version, b.version)
}

/** Named by the group that serves it, or by the group that it moved to. */
function matches(entry: SyncGroupResources, info: ResourceInfo, type: GroupResource): boolean {
  return names(entry, info) || names(entry, type)
}

function names(entry: SyncGroupResources, { group, resource }: GroupResource): boolean {
  return (
    (entry.group === '*' || entry.group === group) &&
    (entry.resources.includes('*') || entry.resources.includes(resource))
  )
}

/** Versions count for the group that they are given for. */
function permits({ group, versions }: SyncGroupResources, info: ResourceInfo): boolean {
  if (versions === undefined || versions.length === 0) return true
  return (group === '*' || group === info.group) && versions.includes(info.version)
}

function missingOf({ wanted, excluded }: SyncList, targets: readonly SyncTarget[]): MissingType[] {
  const known = new Set(targets.flatMap(({ type, info }) => [keyOf(type), keyOf(info)]))
  const missing = new Map<string, MissingType>()
  for (const { group, resources, versions } of wanted) {
    if (group === '*') continue
    for (const resource of resources) {
      const type = storedAs({ group, resource })
      if (resource === '*' || known.has(keyOf(type))) continue
      if (excluded.some((entry) => names(entry, type) || names(entry, { group, resource })))
        continue
      const of = versions?.length ? ` in ${versions.join(', ')}` : ''
      missing.set(keyOf(type), { ...type, reason: `the cluster does not serve it${of}` })
    }
  }
  return [...missing.values()]
}
