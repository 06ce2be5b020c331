/**
 * Objects as sets of fields: which an object has, which differ between two, and how two are merged.
 *
 * The schema decides what is one field: a list is, unless it is marked as a set or as a map by keys;
 * an object is not, unless it is marked atomic.
 *
 * @see structured-merge-diff/typed
 */
import type { Json, JsonObject } from '../kube/kube-object.ts'
import { type FieldTree, fieldElement, NO_FIELDS, THIS_FIELD, tree } from './field-tree.ts'
import { field, formatJson, isArray, isObject, sameJson } from './json-text.ts'
import { fieldSchema, isNamedField, type Schema } from './schema.ts'

/** What the parts of a value are called; undefined when it is a field as a whole. */
type Parts = ReadonlyMap<string, Json>

interface Shape {
  readonly parts: Parts
  readonly schemaOf: (element: string) => Schema | undefined
}

/** How a value falls into parts. Undefined for leaves: scalars, nulls, atomic lists and objects. */
function shapeOf(value: Json | undefined, schema: Schema | undefined): Shape | undefined {
  if (isObject(value) && schema?.['x-kubernetes-map-type'] !== 'atomic') {
    const entries = Object.entries(value).flatMap(([key, child]) =>
      child === undefined ? [] : [[fieldElement(key), child] as const],
    )
    return {
      parts: new Map(entries),
      schemaOf: (element) => schema && fieldSchema(schema, element.slice(2)),
    }
  }
  if (isArray(value) && isAssociative(schema)) {
    return {
      parts: new Map(value.map((item) => [itemElement(item, schema), item])),
      schemaOf: () => schema.items,
    }
  }
  return undefined
}

function isAssociative(schema: Schema | undefined): schema is Schema {
  const type = schema?.['x-kubernetes-list-type']
  return type === 'set' || type === 'map'
}

function itemElement(item: Json, schema: Schema): string {
  if (schema['x-kubernetes-list-type'] === 'set') return `v:${formatJson(item)}`
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  return `k:${formatJson(Object.fromEntries(keys.map((key) => [key, field(item, key) ?? null])))}`
}

/** The fields that applying `value` claims: leaves, list items, and keys of maps. */
export function claimedFields(value: Json, schema: Schema | undefined): FieldTree {
  const shape = shapeOf(value, schema)
  if (!shape) return THIS_FIELD
  const children = [...shape.parts].map(([element, part]) => {
    const below = claimedFields(part, shape.schemaOf(element))
    return [
      element,
      claimsItself(element, part, schema) ? { ...below, member: true } : below,
    ] as const
  })
  return tree(false, children)
}

function claimsItself(element: string, part: Json, schema: Schema | undefined): boolean {
  if (!element.startsWith('f:')) return true
  if (part === null || (isObject(part) && Object.keys(part).length === 0)) return true
  return !isNamedField(schema, element.slice(2))
}

export interface Comparison {
  readonly added: FieldTree
  readonly modified: FieldTree
  readonly removed: FieldTree
}

const SAME: Comparison = { added: NO_FIELDS, modified: NO_FIELDS, removed: NO_FIELDS }

export function isSame({ added, modified, removed }: Comparison): boolean {
  return [added, modified, removed].every((of) => of === NO_FIELDS || of.children.size === 0)
}

/** What happened to each field between two values; undefined stands for a value that is not there. */
export function compareFields(
  old: Json | undefined,
  now: Json | undefined,
  schema: Schema | undefined,
): Comparison {
  const before = shapeOf(old, schema)
  const after = shapeOf(now, schema)
  const isLeaf =
    (old !== undefined && !before) || (now !== undefined && !after) || noParts(before, after)
  if (isLeaf) return compareLeaf(old, now)
  const elements = new Set([...(before?.parts.keys() ?? []), ...(after?.parts.keys() ?? [])])
  const schemaOf = (before ?? after)!.schemaOf
  const parts = [...elements].map(
    (element) =>
      [
        element,
        compareFields(before?.parts.get(element), after?.parts.get(element), schemaOf(element)),
      ] as const,
  )
  const gather = (pick: keyof Comparison, member: boolean) =>
    tree(
      member,
      parts.map(([element, comparison]) => [element, comparison[pick]] as const),
    )
  return {
    added: gather('added', old === undefined),
    modified: gather('modified', false),
    removed: gather('removed', now === undefined),
  }
}

function noParts(before: Shape | undefined, after: Shape | undefined): boolean {
  return (before?.parts.size ?? 0) === 0 && (after?.parts.size ?? 0) === 0
}

function compareLeaf(old: Json | undefined, now: Json | undefined): Comparison {
  if (old === undefined) return { ...SAME, added: THIS_FIELD }
  if (now === undefined) return { ...SAME, removed: THIS_FIELD }
  return sameJson(old, now) ? SAME : { ...SAME, modified: THIS_FIELD }
}

/** `applied` laid over `live`: its fields win, what it does not mention stays. */
export function mergeValues(
  live: Json | undefined,
  applied: Json | undefined,
  schema: Schema | undefined,
): Json | undefined {
  if (applied === undefined || live === undefined) return applied ?? live
  if (isArray(live) && isArray(applied) && isAssociative(schema)) {
    return mergeLists(live, applied, schema)
  }
  if (isObject(live) && isObject(applied) && schema?.['x-kubernetes-map-type'] !== 'atomic') {
    return mergeObjects(live, applied, schema)
  }
  return applied
}

function mergeObjects(live: JsonObject, applied: JsonObject, schema: Schema | undefined): Json {
  const keys = new Set([...Object.keys(live), ...Object.keys(applied)])
  return Object.fromEntries(
    [...keys].map((key) => [
      key,
      mergeValues(field(live, key), field(applied, key), schema && fieldSchema(schema, key)),
    ]),
  )
}

/** Items of both are in the order of `applied`; each of the others stays behind its neighbour. */
function mergeLists(live: readonly Json[], applied: readonly Json[], schema: Schema): Json {
  const key = (item: Json) => itemElement(item, schema)
  const liveItems = new Map(live.map((item) => [key(item), item]))
  const appliedKeys = new Set(applied.map(key))
  const rest = applied.map((item) => ({ element: key(item), item }))
  const merged: Json[] = []
  const takeApplied = (): string => {
    const { element, item } = rest.shift()!
    merged.push(mergeValues(liveItems.get(element), item, schema.items)!)
    return element
  }
  for (const item of live) {
    if (!appliedKeys.has(key(item))) merged.push(item)
    else if (rest.some(({ element }) => element === key(item))) {
      while (takeApplied() !== key(item));
    }
  }
  while (rest.length > 0) takeApplied()
  return merged
}

/** The value without the fields of a set, each with everything below it. */
export function removeFields(value: Json, fields: FieldTree, schema: Schema | undefined): Json {
  if (isObject(value)) {
    const entries = Object.entries(value).flatMap(([key, child]) => {
      const below = fields.children.get(fieldElement(key))
      if (child === undefined || below?.member) return []
      return [[key, below ? removeFields(child, below, schema && fieldSchema(schema, key)) : child]]
    })
    return Object.fromEntries(entries)
  }
  if (isArray(value) && isAssociative(schema)) {
    return value.flatMap((item) => {
      const below = fields.children.get(itemElement(item, schema))
      if (below?.member) return []
      return [below ? removeFields(item, below, schema.items) : item]
    })
  }
  return value
}
