/** JSON merge patch (RFC 7386): fields are laid over, null removes. */
import type { Json, JsonObject } from '../kube/kube-object.ts'
import { field, isObject } from './json-text.ts'

export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const base: JsonObject = isObject(target) ? target : {}
  const kept = Object.entries(base).filter(([key]) => !Object.hasOwn(patch, key))
  const laid = Object.entries(patch).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [[key, mergePatch(field(base, key), value)]],
  )
  return Object.fromEntries([...kept, ...laid])
}
