/**
 * Body of a request → an object of the kind that the path names.
 *
 * Refuses what a real API server's decoder refuses, in its words; what only breaks the schema is
 * told later, field by field (validate-schema.ts).
 */
import { apiVersionOf } from '../kube/group-resource.ts'
import type { Json, JsonObject } from '../kube/kube-object.ts'
import { messageOf } from '../kube/message-of.ts'
import { StatusError } from '../kube/status-error.ts'
import { type Body, parseBody } from './body-text.ts'
import { field, formatJson, isArray, isObject, quote } from './json-text.ts'
import type { RegistrationKind } from './kinds.ts'
import { prune } from './prune.ts'
import { fieldSchema, METADATA, type Schema } from './schema.ts'
import type { WriteOptions } from './write-object.ts'

export interface Decoded {
  readonly object: JsonObject
  /** `unknown field "spec.x"`, `duplicate field "spec.y"`: to be warned of, or refused. */
  readonly complaints: readonly string[]
}

/** @throws 400 `BadRequest` */
export function decodeObject(body: Body, kind: RegistrationKind): Decoded {
  const { value, duplicates } = parseOrRefuse(body, kind)
  const given = checkType(value, body, kind)
  const { object, unknown } = shape(given, kind)
  return { object, complaints: [...unknown, ...duplicates.map(duplicateField)] }
}

function parseOrRefuse(body: Body, kind: RegistrationKind) {
  try {
    return parseBody(body)
  } catch (error) {
    const problem = messageOf(error)
    const what =
      body.format === 'json' ? `couldn't get version/kind; json parse error: ${problem}` : problem
    throw unrecognized(kind, what, body.text)
  }
}

export const unknownField = (path: string) => `unknown field ${quote(path)}`
export const duplicateField = (path: string) => `duplicate field ${quote(path)}`

/** What the complaints are when they are refused. */
export function strictProblem(complaints: readonly string[]): string {
  return `strict decoding error: ${complaints.join(', ')}`
}

/** What the complaints are when they are not. */
export function warningsOf(
  complaints: readonly string[],
  { fieldValidation }: Pick<WriteOptions, 'fieldValidation'>,
): readonly string[] {
  return fieldValidation === 'Ignore' ? [] : complaints
}

/**
 * Brings what was written into the shape of its kind: metadata checked, unknown fields dropped.
 *
 * @throws 400 `BadRequest` when metadata is not of the types that it must be.
 */
export function shape(
  given: JsonObject,
  kind: RegistrationKind,
): { readonly object: JsonObject; readonly unknown: readonly string[] } {
  const problem = metadataTypeProblem(field(given, 'metadata'), METADATA, 'metadata')
  if (problem) throw cannotBeHandled(given, kind, problem)
  const { value, unknown } = prune(given, kind.schema)
  return {
    object: value as JsonObject,
    unknown: unknown.map(unknownField),
  }
}

function checkType(value: Json, body: Body, kind: RegistrationKind): JsonObject {
  if (!isObject(value)) {
    const found = isArray(value) ? 'array' : value === null ? 'null' : typeof value
    const problem = `couldn't get version/kind; json parse error: json: cannot unmarshal ${found} into Go value of type struct`
    throw unrecognized(kind, problem, body.text)
  }
  checkGroupVersionKind(value, kind, body.text)
  return value
}

/** @throws 400 when the data is of another kind or version than the path. */
export function checkGroupVersionKind(
  value: JsonObject,
  kind: RegistrationKind,
  text: string,
): void {
  const expected = apiVersionOf(kind)
  for (const key of ['kind', 'apiVersion'] as const) {
    const given = value[key]
    if (typeof given === 'string' && given !== '') continue
    const Key = key === 'kind' ? 'Kind' : 'apiVersion'
    // The text goes to whoever sent it, but may end in a build log: the start of it must do.
    throw unrecognized(kind, `Object '${Key}' is missing in '${summary(text)}'`, text)
  }
  if (value.apiVersion !== expected) {
    throw new StatusError(
      'BadRequest',
      `the API version in the data (${value.apiVersion}) does not match the expected API version (${expected})`,
    )
  }
  if (value.kind !== kind.kind) {
    const { version } = kind
    throw cannotBeHandled(
      value,
      kind,
      `converting (${version}.${value.kind}) to (${version}.${kind.kind}): unknown conversion`,
    )
  }
}

export function cannotBeHandled(
  value: JsonObject,
  { kind, version }: RegistrationKind,
  problem: string,
): StatusError {
  const given = typeof value.kind === 'string' ? value.kind : kind
  return new StatusError(
    'BadRequest',
    `${given} in version ${quote(version)} cannot be handled as a ${kind}: ${problem}`,
  )
}

function unrecognized({ kind }: RegistrationKind, problem: string, text: string): StatusError {
  return new StatusError(
    'BadRequest',
    `the object provided is unrecognized (must be of type ${kind}): ${problem} (${summary(text)})`,
  )
}

const SUMMARY_BYTES = 30

/** As apiserver's summarizeData: the start of the text, in hexadecimal when it is no JSON object. */
function summary(text: string): string {
  if (text === '') return '<empty>'
  const bytes = Buffer.from(text)
  const start = bytes.subarray(0, SUMMARY_BYTES)
  const shown = text.startsWith('{') ? start.toString() : start.toString('hex')
  return bytes.length > SUMMARY_BYTES ? `${shown} ...` : shown
}

const GO_NAMES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'int64',
  boolean: 'bool',
}

/** The first field of metadata that is not of its type, as encoding/json tells it. */
function metadataTypeProblem(
  value: Json | undefined,
  schema: Schema,
  path: string,
): string | undefined {
  if (value === undefined || value === null) return undefined
  if (!hasType(value, schema)) {
    const found = isArray(value) ? 'array' : isObject(value) ? 'object' : spelled(value)
    const wanted = GO_NAMES[schema.type ?? ''] ?? (schema.type === 'array' ? '[]' : 'map[string]')
    return `json: cannot unmarshal ${found} into Go struct field ObjectMeta.${path} of type ${wanted}`
  }
  if (isArray(value)) {
    return first(value, (item) => metadataTypeProblem(item, schema.items ?? {}, path))
  }
  if (!isObject(value)) return undefined
  return first(Object.entries(value), ([key, child]) => {
    const of = fieldSchema(schema, key)
    const at = schema.properties ? `${path}.${key}` : path
    return of && metadataTypeProblem(child, of, at)
  })
}

function hasType(value: Json, { type }: Schema): boolean {
  if (type === 'object') return isObject(value)
  if (type === 'array') return isArray(value)
  if (type === 'integer') {
    return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
  }
  return type === undefined || typeof value === type
}

function spelled(value: Json): string {
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : `number ${formatJson(value)}`
}

function first<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}
