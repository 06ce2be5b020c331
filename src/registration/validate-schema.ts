/**
 * Checks an object against its schema, in the words of kube-openapi's validator.
 *
 * What a schema cannot say is checked by validate-metadata.ts and validate-kind.ts.
 *
 * @see kube-openapi/pkg/validation, apiextensions-apiserver/pkg/apiserver/validation
 */
import type { Json, JsonObject } from '../kube/kube-object.ts'
import { formatJson, isArray, isObject } from './json-text.ts'
import { fieldSchema, type Schema } from './schema.ts'
import { type FieldError, fieldError, invalidField, requiredField } from './validation.ts'

/** @param path - of the value, `''` for the whole object. */
export function validateSchema(value: Json, schema: Schema, path = ''): readonly FieldError[] {
  const wrongType = typeError(value, schema, path)
  if (wrongType) return [wrongType]
  if (value === null) return []
  return [
    ...enumErrors(value, schema, path),
    ...(typeof value === 'string' ? textErrors(value, schema, path) : []),
    ...(typeof value === 'number' || typeof value === 'bigint'
      ? numberErrors(value, schema, path)
      : []),
    ...(isArray(value) ? arrayErrors(value, schema, path) : []),
    ...(isObject(value) ? objectErrors(value, schema, path) : []),
    ...oneOfErrors(value, schema, path),
  ]
}

function typeOf(value: Json): string {
  if (value === null) return 'null'
  if (isArray(value)) return 'array'
  if (typeof value === 'bigint') return 'integer'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function typeError(value: Json, schema: Schema, path: string): FieldError | undefined {
  const { type } = schema
  const actual = typeOf(value)
  const fits =
    type === undefined ||
    actual === type ||
    (actual === 'integer' && type === 'number') ||
    (actual === 'null' && schema.nullable === true)
  if (fits) return undefined
  const detail = `${path} in body must be of type ${type}: "${actual}"`
  return fieldError('FieldValueTypeInvalid', path, { value: actual, detail })
}

function enumErrors(value: Json, schema: Schema, path: string): readonly FieldError[] {
  const allowed = schema.enum
  if (!allowed || allowed.some((one) => formatJson(one) === formatJson(value))) return []
  const detail = `supported values: ${allowed.map(formatJson).join(', ')}`
  return [fieldError('FieldValueNotSupported', path, { value, detail })]
}

function textErrors(text: string, schema: Schema, path: string): readonly FieldError[] {
  const length = [...text].length
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    // Not held against the pattern any more: time spent on one may grow with the square of the text.
    const detail = `may not be more than ${schema.maxLength} bytes`
    return [fieldError('FieldValueTooLong', path, { detail })]
  }
  const errors: FieldError[] = []
  if (schema.minLength !== undefined && length < schema.minLength) {
    const rule = `${path} in body should be at least ${schema.minLength} chars long`
    errors.push(invalidField(path, text, rule))
  }
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(text)) {
    errors.push(invalidField(path, text, `${path} in body should match '${schema.pattern}'`))
  }
  const format = schema.format && FORMATS[schema.format]
  if (format && !format.holds(text)) {
    // The value may be a secret that was pasted as it is: it goes to terminals and build logs.
    const value = format.secret ? 'hidden' : text
    const detail = `${path} in body must be of type ${schema.format}: ${JSON.stringify(value)}`
    errors.push(invalidField(path, value, detail))
  }
  return errors
}

/** Formats that are checked; a format that is not here is a remark for readers. */
const FORMATS: Readonly<Record<string, { holds: (text: string) => boolean; secret?: true }>> = {
  byte: { holds: isBase64, secret: true },
  'date-time': { holds: isDateTime },
}

/** Standard base64 with padding; line breaks are passed over, as Go's decoder does. */
export function isBase64(text: string): boolean {
  const joined = text.replaceAll(/[\r\n]/g, '')
  return joined.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(joined)
}

function isDateTime(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text))
  )
}

function numberErrors(
  value: number | bigint,
  { minimum, maximum }: Schema,
  path: string,
): readonly FieldError[] {
  const errors: FieldError[] = []
  if (minimum !== undefined && value < minimum) {
    const rule = `${path} in body should be greater than or equal to ${minimum}`
    errors.push(invalidField(path, value, rule))
  }
  if (maximum !== undefined && value > maximum) {
    const rule = `${path} in body should be less than or equal to ${maximum}`
    errors.push(invalidField(path, value, rule))
  }
  return errors
}

function arrayErrors(items: readonly Json[], schema: Schema, path: string): readonly FieldError[] {
  const errors: FieldError[] = []
  const { minItems, maxItems } = schema
  if (minItems !== undefined && items.length < minItems) {
    const rule = `${path} in body should have at least ${minItems} items`
    errors.push(invalidField(path, items.length, rule))
  }
  if (maxItems !== undefined && items.length > maxItems) {
    const detail = `must have at most ${maxItems} items`
    errors.push(fieldError('FieldValueTooMany', path, { value: items.length, detail }))
  }
  for (const [index, item] of items.entries()) {
    if (schema.items) errors.push(...validateSchema(item, schema.items, `${path}[${index}]`))
  }
  return [...errors, ...duplicateErrors(items, schema, path)]
}

/** Lists that are sets or maps may hold each value, or each key, once. */
function duplicateErrors(
  items: readonly Json[],
  schema: Schema,
  path: string,
): readonly FieldError[] {
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const type = schema['x-kubernetes-list-type']
  if (type !== 'set' && type !== 'map') return []
  const seen = new Set<string>()
  return items.flatMap((item, index) => {
    const identity = type === 'map' && isObject(item) ? pick(item, keys) : item
    const text = formatJson(identity)
    if (seen.has(text)) {
      return [fieldError('FieldValueDuplicate', `${path}[${index}]`, { value: identity })]
    }
    seen.add(text)
    return []
  })
}

function pick(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, object[key] ?? null]))
}

function objectErrors(object: JsonObject, schema: Schema, path: string): readonly FieldError[] {
  const errors = (schema.required ?? [])
    .filter((key) => !Object.hasOwn(object, key))
    .map((key) => requiredField(join(path, key)))
  for (const [key, value] of Object.entries(object)) {
    const child = fieldSchema(schema, key)
    if (!child || value === undefined) continue
    const named = schema.properties && Object.hasOwn(schema.properties, key)
    errors.push(...validateSchema(value, child, named ? join(path, key) : `${path}[${key}]`))
  }
  return errors
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function oneOfErrors(value: Json, { oneOf }: Schema, path: string): readonly FieldError[] {
  if (!oneOf) return []
  const failures = oneOf.map((alternative) => validateSchema(value, alternative, path))
  const valid = failures.filter((errors) => errors.length === 0).length
  if (valid === 1) return []
  const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
  const rule = `${JSON.stringify(path)} must validate one and only one schema (oneOf). ${found}`
  return [...(valid === 0 ? failures.flat() : []), invalidField(path, value, rule)]
}
