/**
 * Brings an object into the shape of its schema: unknown fields go. Defaults do not come: one stored
 * in a list would make each `kubectl apply` of the same manifest look like a change.
 *
 * Nulls of fields that may not be null go too: manifests leave fields such as `caData:` empty.
 */
import type { Json, JsonObject } from '../kube/kube-object.ts'
import { isArray, isObject } from './json-text.ts'
import { fieldSchema, isNamedField, type Schema } from './schema.ts'

export interface Pruned {
  readonly value: Json
  /** Paths of what was dropped, such as `spec.syncResource`. */
  readonly unknown: readonly string[]
}

export function prune(value: Json, schema: Schema): Pruned {
  const unknown: string[] = []
  return { value: pruneAt(value, schema, { path: '', unknown }), unknown }
}

interface Place {
  readonly path: string
  readonly unknown: string[]
}

function pruneAt(value: Json, schema: Schema, { path, unknown }: Place): Json {
  if (isArray(value)) {
    const { items } = schema
    if (!items) return value
    return value.map((item, index) => pruneAt(item, items, { path: `${path}[${index}]`, unknown }))
  }
  return isObject(value) ? pruneObject(value, schema, { path, unknown }) : value
}

function pruneObject(object: JsonObject, schema: Schema, { path, unknown }: Place): JsonObject {
  const keepsUnknown =
    schema['x-kubernetes-preserve-unknown-fields'] === true || schema.type !== 'object'
  const entries: [string, Json][] = []
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) continue
    const child = path === '' ? key : `${path}.${key}`
    const of = fieldSchema(schema, key)
    if (of) {
      if (value === null && !of.nullable && isNamedField(schema, key)) continue
      entries.push([key, pruneAt(value, of, { path: child, unknown })])
    } else if (keepsUnknown) entries.push([key, value])
    else unknown.push(child)
  }
  return Object.fromEntries(entries)
}
