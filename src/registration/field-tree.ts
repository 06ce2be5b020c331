/**
 * Sets of fields, as managedFields records who owns what: FieldsV1 ⇄ trees, and set arithmetic.
 *
 * A tree is keyed by path elements as FieldsV1 spells them: `f:spec`, `k:{"type":"Ready"}`, `v:"a"`.
 * Trees are never changed once made. Which fields an object has is in field-walk.ts.
 *
 * @see structured-merge-diff/fieldpath
 */
import type { Json, JsonObject } from '../kube/kube-object.ts'
import { isObject, parseJson } from './json-text.ts'
import { fieldSchema, isNamedField, type Schema } from './schema.ts'

export interface FieldTree {
  /** Whether the field at this place itself is in the set. */
  readonly member: boolean
  readonly children: ReadonlyMap<string, FieldTree>
}

export const NO_FIELDS: FieldTree = { member: false, children: new Map() }
export const THIS_FIELD: FieldTree = { member: true, children: new Map() }

export const fieldElement = (name: string) => `f:${name}`

export function isEmptyTree({ member, children }: FieldTree): boolean {
  return !member && children.size === 0
}

/** Reads a FieldsV1 object; what is not one has no fields. */
export function parseFields(fields: Json | undefined): FieldTree {
  if (!isObject(fields)) return NO_FIELDS
  const children = new Map<string, FieldTree>()
  for (const [element, below] of Object.entries(fields)) {
    if (element === '.' || !isObject(below)) continue
    const leaf = Object.keys(below).length === 0
    children.set(element, leaf ? THIS_FIELD : parseFields(below))
  }
  return { member: Object.hasOwn(fields, '.'), children }
}

export function formatFields({ member, children }: FieldTree): JsonObject {
  const entries: [string, Json][] = [...children].map(([element, below]) => [
    element,
    formatFields(below),
  ])
  return Object.fromEntries(member && entries.length > 0 ? [['.', {}], ...entries] : entries)
}

/** A tree of this place, without branches that hold nothing. */
export function tree(member: boolean, children: Iterable<readonly [string, FieldTree]>): FieldTree {
  return { member, children: new Map([...children].filter(([, below]) => !isEmptyTree(below))) }
}

export function union(a: FieldTree, b: FieldTree): FieldTree {
  return combine(a, b, (inA, inB) => inA || inB)
}

export function difference(a: FieldTree, b: FieldTree): FieldTree {
  return combine(a, b, (inA, inB) => inA && !inB)
}

export function intersection(a: FieldTree, b: FieldTree): FieldTree {
  return combine(a, b, (inA, inB) => inA && inB)
}

function combine(
  a: FieldTree,
  b: FieldTree,
  keep: (inA: boolean, inB: boolean) => boolean,
): FieldTree {
  const elements = new Set([...a.children.keys(), ...b.children.keys()])
  return tree(
    keep(a.member, b.member),
    [...elements].map((element) => [
      element,
      combine(a.children.get(element) ?? NO_FIELDS, b.children.get(element) ?? NO_FIELDS, keep),
    ]),
  )
}

/** The set of single fields, each given by the names on the way to it. */
export function treeOf(paths: readonly (readonly string[])[]): FieldTree {
  return paths.reduce(
    (all, path) =>
      union(
        all,
        path.reduceRight((below, name) => tree(false, [[fieldElement(name), below]]), THIS_FIELD),
      ),
    NO_FIELDS,
  )
}

/**
 * Adds every named field on the way to a member. A named field exists exactly as long as something
 * in it does, so whoever owns the one holds the other.
 */
export function withNamedParents(of: FieldTree, schema: Schema | undefined): FieldTree {
  const children = [...of.children].map(([element, below]) => {
    const name = element.startsWith('f:') ? element.slice(2) : undefined
    const child = withNamedParents(below, schemaBelow(schema, element))
    const isParent = name !== undefined && below.children.size > 0 && isNamedField(schema, name)
    return [element, isParent ? { ...child, member: true } : child] as const
  })
  return tree(of.member, children)
}

/** The schema of what a path element leads to. */
export function schemaBelow(schema: Schema | undefined, element: string): Schema | undefined {
  if (!schema) return undefined
  return element.startsWith('f:') ? fieldSchema(schema, element.slice(2)) : schema.items
}

/** Every member as messages spell it: `.status.conditions[type="Ready"].reason`. */
export function pathsOf(of: FieldTree, path = ''): readonly string[] {
  const below = [...of.children]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([element, child]) => pathsOf(child, path + spell(element)))
  return of.member ? [path, ...below] : below
}

function spell(element: string): string {
  const text = element.slice(2)
  if (element.startsWith('f:')) return `.${text}`
  if (element.startsWith('i:')) return `[${text}]`
  if (element.startsWith('v:')) return `[=${text}]`
  const { value } = parseJson(text)
  const keys = isObject(value) ? Object.entries(value) : []
  return `[${keys.map(([key, one]) => `${key}=${JSON.stringify(one)}`).join(',')}]`
}
