/**
 * `metadata.managedFields`: who last wrote which field.
 *
 * Every write is recorded: an apply claims what it names, any other write claims what it changed.
 *
 * @see apimachinery/pkg/util/managedfields
 */
import { apiVersionOf, type GroupVersion } from '../kube/group-resource.ts'
import type { Json, JsonObject } from '../kube/kube-object.ts'
import {
  difference,
  type FieldTree,
  formatFields,
  intersection,
  isEmptyTree,
  NO_FIELDS,
  parseFields,
  treeOf,
  union,
} from './field-tree.ts'
import { type Comparison, compareFields } from './field-walk.ts'
import { field, isArray, isObject, withPath } from './json-text.ts'
import type { Schema } from './schema.ts'

/** Who writes, and how. */
export interface Manager {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  /** `status`, or `''`. */
  readonly subresource: string
}

/** The manager of a write that is no apply. */
export function updater(
  of: GroupVersion,
  { fieldManager }: { readonly fieldManager: string },
  subresource: string,
): Manager {
  return {
    manager: fieldManager,
    operation: 'Update',
    apiVersion: apiVersionOf(of),
    subresource,
  }
}

export interface ManagedEntry extends Manager {
  /** RFC 3339, seconds. Undefined when the manager took fields without changing a value. */
  readonly time?: string | undefined
  readonly fields: FieldTree
}

/** By {@link managerId}. */
export type Managers = ReadonlyMap<string, ManagedEntry>

/** An applier is the same whatever version it applies; an updater is not. */
export function managerId({ manager, operation, apiVersion, subresource }: Manager): string {
  return JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource])
}

/** What nobody owns: the identity of the object, and what the server writes. */
const NOT_OWNED = treeOf([
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['metadata', name]),
])

export function ownable(fields: FieldTree): FieldTree {
  return difference(fields, NOT_OWNED)
}

export function readManagers(metadata: Json | undefined): Managers {
  const entries = field(metadata, 'managedFields')
  const managers = new Map<string, ManagedEntry>()
  for (const entry of isArray(entries) ? entries : []) {
    const parsed = readEntry(entry)
    if (parsed && !isEmptyTree(parsed.fields)) managers.set(managerId(parsed), parsed)
  }
  return managers
}

function readEntry(entry: Json): ManagedEntry | undefined {
  if (!isObject(entry)) return undefined
  const { manager, operation, apiVersion, subresource, time, fieldsV1 } = entry
  if (operation !== 'Apply' && operation !== 'Update') return undefined
  return {
    manager: String(manager ?? ''),
    operation,
    apiVersion: String(apiVersion ?? ''),
    subresource: String(subresource ?? ''),
    time: typeof time === 'string' ? time : undefined,
    fields: parseFields(fieldsV1),
  }
}

/** In a real server's order: appliers first, then by time and name. */
export function writeManagers(managers: Managers): readonly JsonObject[] {
  return [...managers.values()].toSorted(compareEntries).map((entry) => {
    const { manager, operation, apiVersion, subresource, time, fields } = entry
    return {
      manager,
      operation,
      apiVersion,
      ...(time !== undefined && { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: formatFields(fields),
      ...(subresource !== '' && { subresource }),
    }
  })
}

function compareEntries(a: ManagedEntry, b: ManagedEntry): number {
  const key = ({ operation, time, manager, apiVersion, subresource }: ManagedEntry) =>
    [operation, time ?? '', manager, apiVersion, subresource] as const
  const [keyA, keyB] = [key(a), key(b)]
  const at = keyA.findIndex((part, index) => part !== keyB[index])
  return at < 0 ? 0 : keyA[at]! < keyB[at]! ? -1 : 1
}

export function withManagers(object: JsonObject, managers: Managers): JsonObject {
  const entries = writeManagers(managers)
  return withPath(object, ['metadata', 'managedFields'], entries.length > 0 ? entries : undefined)
}

export function withoutManagers(object: JsonObject): JsonObject {
  return withPath(object, ['metadata', 'managedFields'], undefined)
}

/** Fields of others that a change takes away, by manager. */
export function conflictsOf(
  managers: Managers,
  comparison: Comparison,
  self: string,
): ReadonlyMap<string, FieldTree> {
  const changed = union(comparison.modified, comparison.added)
  const conflicts = [...managers]
    .filter(([id]) => id !== self)
    .map(([id, entry]) => [id, intersection(entry.fields, changed)] as const)
  return new Map(conflicts.filter(([, fields]) => !isEmptyTree(fields)))
}

/** Everybody else gives up what was changed or removed. */
export function dispossess(managers: Managers, comparison: Comparison, self: string): Managers {
  const gone = union(union(comparison.modified, comparison.added), comparison.removed)
  const entries = [...managers].map(([id, entry]) =>
    id === self
      ? ([id, entry] as const)
      : ([id, { ...entry, fields: difference(entry.fields, gone) }] as const),
  )
  return new Map(entries.filter(([, { fields }]) => !isEmptyTree(fields)))
}

export interface Change {
  readonly live: JsonObject
  readonly now: JsonObject
  readonly schema: Schema
  readonly by: Manager
  /** RFC 3339, seconds. */
  readonly time: string
}

/**
 * Records a write that is no apply: the manager owns what it added or changed.
 *
 * `managedFields` in the written object replaces what was recorded, as clients may edit it; when it
 * is missing or unusable the record of the live object counts, and `[{}]` empties it.
 */
export function recordUpdate({ live, now, schema, by, time }: Change): JsonObject {
  const id = managerId(by)
  const before = recorded(live, now)
  const comparison = compareFields(withoutManagers(live), withoutManagers(now), schema)
  const managers = new Map(dispossess(before, comparison, ''))
  const taken = ownable(union(comparison.modified, comparison.added))
  if (!isEmptyTree(taken)) {
    const known = managers.get(id)?.fields ?? NO_FIELDS
    managers.set(id, { ...by, time, fields: union(known, taken) })
  }
  return withManagers(now, capped(managers))
}

function recorded(live: JsonObject, now: JsonObject): Managers {
  const written = field(now, 'metadata', 'managedFields')
  if (isArray(written) && written.length === 1 && isObject(written[0])) {
    if (Object.keys(written[0]).length === 0) return new Map()
  }
  const managers = readManagers(field(now, 'metadata'))
  return managers.size > 0 ? managers : readManagers(field(live, 'metadata'))
}

/** Objects that many programs write would grow without end: the oldest writers become one. */
const UPDATERS_MOST = 10
const ANCIENT = 'ancient-changes'

function capped(managers: Managers): Managers {
  const updaters = [...managers.values()]
    .filter(({ operation }) => operation === 'Update')
    .toSorted(compareEntries)
  if (updaters.length <= UPDATERS_MOST) return managers
  const merged = updaters.slice(0, updaters.length - UPDATERS_MOST + 1)
  const kept = new Map(managers)
  for (const entry of merged) kept.delete(managerId(entry))
  const ancient: ManagedEntry = {
    ...merged.at(-1)!,
    manager: ANCIENT,
    subresource: '',
    fields: merged.reduce((all, { fields }) => union(all, fields), NO_FIELDS),
  }
  return kept.set(managerId(ancient), ancient)
}
