/**
 * JSON text ⇄ values, keeping what JSON.parse loses: integers beyond 2^53, and fields given twice.
 *
 * Errors are worded as Go's encoding/json words them, because that is what a user sees of a real
 * API server. Objects are made of entries, never by assignment, so that a field `__proto__` is a
 * field like any other.
 */
import type { Json, JsonObject } from '../kube/kube-object.ts'

export interface ParsedJson {
  readonly value: Json
  /** Paths of fields that were given more than once, such as `spec.kubeconfig`; the last one counts. */
  readonly duplicates: readonly string[]
}

export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
}

/** Deeper than any object of ours; without a limit, brackets alone could overflow the stack. */
const DEPTH_MOST = 500

/** @throws {@link JsonSyntaxError} */
export function parseJson(text: string): ParsedJson {
  const reader = new Reader(text)
  const value = reader.value('', 0)
  reader.end()
  return { value, duplicates: reader.duplicates }
}

/** Undefined for a text that is no JSON, or no object. */
export function parsedObject(text: string): JsonObject | undefined {
  try {
    const { value } = parseJson(text)
    return isObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
/** A string as JSON has it: no raw control characters, known escapes only. */
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const SPACE = /[ \t\r\n]*/y

class Reader {
  readonly duplicates: string[] = []
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  value(path: string, depth: number): Json {
    if (depth > DEPTH_MOST) throw new JsonSyntaxError('exceeded max depth')
    this.#skipSpace()
    const character = this.#text[this.#at]
    if (character === '{') return this.#object(path, depth)
    if (character === '[') return this.#array(path, depth)
    if (character === '"') return this.#string('in string literal')
    if (character === 't') return this.#word('true', true)
    if (character === 'f') return this.#word('false', false)
    if (character === 'n') return this.#word('null', null)
    return this.#number()
  }

  end(): void {
    this.#skipSpace()
    if (this.#at < this.#text.length) throw this.#unexpected('after top-level value')
  }

  #object(path: string, depth: number): JsonObject {
    const entries = new Map<string, Json>()
    this.#at++
    this.#skipSpace()
    if (this.#take('}')) return {}
    for (;;) {
      this.#skipSpace()
      if (this.#text[this.#at] !== '"') {
        throw this.#unexpected('looking for beginning of object key string')
      }
      const key = this.#string('in string literal')
      const child = path === '' ? key : `${path}.${key}`
      if (entries.has(key)) this.duplicates.push(child)
      this.#skipSpace()
      if (!this.#take(':')) throw this.#unexpected('after object key')
      entries.set(key, this.value(child, depth + 1))
      this.#skipSpace()
      if (this.#take('}')) return Object.fromEntries(entries)
      if (!this.#take(',')) throw this.#unexpected('after object key:value pair')
    }
  }

  #array(path: string, depth: number): readonly Json[] {
    const items: Json[] = []
    this.#at++
    this.#skipSpace()
    if (this.#take(']')) return items
    for (;;) {
      items.push(this.value(`${path}[${items.length}]`, depth + 1))
      this.#skipSpace()
      if (this.#take(']')) return items
      if (!this.#take(',')) throw this.#unexpected('after array element')
    }
  }

  #string(place: string): string {
    const match = this.#match(STRING)
    if (match === undefined) throw this.#unexpected(place)
    return JSON.parse(match)
  }

  #number(): number | bigint {
    const match = this.#match(NUMBER)
    if (match === undefined) throw this.#unexpected('looking for beginning of value')
    const number = Number(match)
    if (!Number.isFinite(number)) {
      throw new JsonSyntaxError(`json: cannot unmarshal number ${match} into float64`)
    }
    return Number.isInteger(number) && !Number.isSafeInteger(number) && /^-?\d+$/.test(match)
      ? BigInt(match)
      : number
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) {
      throw this.#unexpected('looking for beginning of value')
    }
    this.#at += word.length
    return value
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)?.[0]
    if (match !== undefined) this.#at += match.length
    return match
  }

  #skipSpace(): void {
    this.#match(SPACE)
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #unexpected(place: string): JsonSyntaxError {
    const character = this.#text[this.#at]
    return new JsonSyntaxError(
      character === undefined || place === 'in string literal'
        ? 'unexpected end of JSON input'
        : `invalid character ${goCharacter(character)} ${place}`,
    )
  }
}

function goCharacter(character: string): string {
  if (character === "'") return String.raw`'\''`
  return `'${JSON.stringify(character).slice(1, -1).replace('\\"', '"')}'`
}

/**
 * Canonical text: fields sorted, no space. Equal objects have equal texts, which is also how a real
 * API server prints custom resources.
 */
export function formatJson(value: Json): string {
  if (typeof value === 'bigint') return value.toString()
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (isArray(value)) return `[${value.map(formatJson).join(',')}]`
  const fields = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${formatJson(value[key]!)}`)
  return `{${fields.join(',')}}`
}

/** Array.isArray that also knows readonly arrays. */
export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return formatJson(a) === formatJson(b)
}

/** A field that the object itself has; nothing inherited. */
export function field(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let at = value
  for (const key of path) {
    if (!isObject(at) || !Object.hasOwn(at, key)) return undefined
    at = at[key]
  }
  return at
}

/** The object with one field set, or removed when the value is undefined. */
export function withField(object: JsonObject, key: string, value: Json | undefined): JsonObject {
  const entries = Object.entries(object).filter(([name]) => name !== key)
  return Object.fromEntries(value === undefined ? entries : [...entries, [key, value]])
}

/** The object with the field at a path set or removed; objects on the way are made. */
export function withPath(
  object: JsonObject,
  path: readonly string[],
  value: Json | undefined,
): JsonObject {
  const [key, ...rest] = path
  if (key === undefined) return object
  if (rest.length === 0) return withField(object, key, value)
  const child = field(object, key)
  if (!isObject(child) && value === undefined) return object
  return withField(object, key, withPath(isObject(child) ? child : {}, rest, value))
}

/** Go's %q, for texts without control characters the same as JSON's spelling. */
export function quote(text: string): string {
  return JSON.stringify(text)
}
