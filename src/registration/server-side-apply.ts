/**
 * Server-side apply: what a manager names is its own, and what it names no longer goes.
 *
 * @see structured-merge-diff/merge/update.go, apimachinery/pkg/util/managedfields
 */
import type { JsonObject } from '../kube/kube-object.ts'
import { type StatusCause, StatusError } from '../kube/status-error.ts'
import { LAST_APPLIED_PATH } from './credentials.ts'
import {
  difference,
  type FieldTree,
  isEmptyTree,
  NO_FIELDS,
  pathsOf,
  union,
  withNamedParents,
} from './field-tree.ts'
import { claimedFields, compareFields, isSame, mergeValues, removeFields } from './field-walk.ts'
import { field, formatJson, parsedObject, quote, withPath } from './json-text.ts'
import {
  conflictsOf,
  dispossess,
  type ManagedEntry,
  type Manager,
  type Managers,
  managerId,
  ownable,
  readManagers,
  withManagers,
  withoutManagers,
} from './managed-fields.ts'
import type { Schema } from './schema.ts'

export interface Apply {
  /** Empty but for kind and apiVersion when there is none yet. */
  readonly live: JsonObject
  /** What the manager wants; nothing that it may not write. */
  readonly applied: JsonObject
  readonly schema: Schema
  readonly by: Manager
  readonly force: boolean
  readonly time: string
}

/** kubectl's own manager: it takes over what its client-side apply wrote before. */
const KUBECTL = 'kubectl'

/** @throws 409 with every conflict, unless forced. */
export function applyObject(apply: Apply): JsonObject {
  const live = withoutManagers(apply.live)
  const managers = readManagers(field(apply.live, 'metadata'))
  const id = managerId(apply.by)
  const claimed = ownable(claimedFields(apply.applied, apply.schema))
  const mine: ManagedEntry = { ...apply.by, time: managers.get(id)?.time, fields: claimed }
  const owners: Managers = new Map([...managers, [id, mine]])
  const merged = mergeValues(live, apply.applied, apply.schema)!
  const dropped = droppedFields(managers.get(id)?.fields ?? NO_FIELDS, owners, apply)
  const pruned = removeFields(merged, dropped, apply.schema) as JsonObject
  const comparison = compareFields(live, pruned, apply.schema)
  const conflicts = disputed(conflictsOf(owners, comparison, id), apply)
  if (!apply.force && conflicts.size > 0) throw conflictError(conflicts, managers)
  const after = new Map(dispossess(owners, comparison, id))
  if (isEmptyTree(claimed)) after.delete(id)
  else if (!isSame(comparison)) after.set(id, { ...mine, time: apply.time })
  return withManagers(followLastApplied(pruned, apply), after)
}

/** What the manager applied before, applies no longer, and nobody else holds. */
function droppedFields(last: FieldTree, owners: Managers, { applied, schema }: Apply): FieldTree {
  const held = [...owners.values()].reduce((all, { fields }) => union(all, fields), NO_FIELDS)
  const kept = union(held, claimedFields(applied, schema))
  return difference(withNamedParents(last, schema), withNamedParents(kept, schema))
}

/** kubectl may take what its client-side apply owns: fields that are still as last applied. */
function disputed(
  conflicts: ReadonlyMap<string, FieldTree>,
  { by, live, schema }: Apply,
): ReadonlyMap<string, FieldTree> {
  if (by.manager !== KUBECTL) return conflicts
  const last = lastApplied(live)
  if (last === undefined) return conflicts
  const { added, modified, removed } = compareFields(last, withoutManagers(live), schema)
  const unchanged = [added, modified, removed].reduce(difference, claimedFields(last, schema))
  const left = [...conflicts].map(([id, fields]) => [id, difference(fields, unchanged)] as const)
  return new Map(left.filter(([, fields]) => !isEmptyTree(fields)))
}

function lastApplied(live: JsonObject): JsonObject | undefined {
  const text = field(live, ...LAST_APPLIED_PATH)
  // What is no object was written by something else than kubectl: it claims nothing.
  return typeof text === 'string' ? parsedObject(text) : undefined
}

/** Keeps client-side and server-side apply by kubectl exchangeable. */
function followLastApplied(object: JsonObject, { by, applied }: Apply): JsonObject {
  if (by.manager !== KUBECTL || !field(object, ...LAST_APPLIED_PATH)) return object
  const text = formatJson(withPath(withoutManagers(applied), LAST_APPLIED_PATH, undefined))
  return withPath(object, LAST_APPLIED_PATH, `${text}\n`)
}

function conflictError(conflicts: ReadonlyMap<string, FieldTree>, managers: Managers): StatusError {
  const found = [...conflicts]
    .map(([id, fields]) => ({ who: describe(managers.get(id)!), paths: pathsOf(fields) }))
    .toSorted((a, b) => (a.who < b.who ? -1 : 1))
  const causes: StatusCause[] = found.flatMap(({ who, paths }) =>
    paths.map((path) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${who}`,
      field: path,
    })),
  )
  const message =
    causes.length === 1
      ? `Apply failed with 1 conflict: ${causes[0]!.message}: ${causes[0]!.field}`
      : `Apply failed with ${causes.length} conflicts: ${found
          .flatMap(({ who, paths }) => [
            `conflicts with ${who}:`,
            ...paths.map((path) => `- ${path}`),
          ])
          .join('\n')}`
  return new StatusError('Conflict', message, { details: { causes } })
}

function describe({ manager, subresource, operation, apiVersion }: ManagedEntry): string {
  const who =
    subresource === '' ? quote(manager) : `${quote(manager)} with subresource ${quote(subresource)}`
  return operation === 'Update' ? `${who} using ${apiVersion}` : who
}
