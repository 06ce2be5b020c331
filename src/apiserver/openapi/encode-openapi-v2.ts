/**
 * An OpenAPI v2 document → its protobuf form, which kubectl before 1.28 cannot do without.
 *
 * What the messages have no field for travels as a vendor extension, as YAML.
 */
import { stringify } from 'yaml'
import type { Json, JsonObject } from '../../kube/kube-object.ts'
import { DocumentMessage } from './openapi-v2-proto.ts'

type Message = Record<string, unknown>

export function encodeOpenApiV2(document: JsonObject): Buffer {
  const message = {
    ...pick(document, { swagger: 'swagger' }),
    info: pick(objectOf(document.info), { title: 'title', version: 'version' }),
    paths: { path: named(document.paths, pathItem) },
    definitions: { additional_properties: named(document.definitions, schema) },
    ...(document.parameters && {
      parameters: { additional_properties: named(document.parameters, parameter) },
    }),
    security: arrayOf(document.security).map((requirement) => ({
      additional_properties: named(requirement, (scopes) => ({ value: scopes })),
    })),
    security_definitions: {
      additional_properties: named(document.securityDefinitions, (definition) => ({
        api_key_security: definition,
      })),
    },
  }
  return Buffer.from(DocumentMessage.encode(DocumentMessage.fromObject(message)).finish())
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const

function pathItem(item: Json): Message {
  const given = objectOf(item)
  const message: Message = {
    parameters: arrayOf(given.parameters).map(parameterItem),
    vendor_extension: extensions(given),
  }
  for (const method of METHODS) {
    if (given[method] !== undefined) message[method] = operation(objectOf(given[method]))
  }
  return message
}

function operation(given: JsonObject): Message {
  return {
    ...pick(given, {
      ...{ tags: 'tags', summary: 'summary', description: 'description' },
      ...{ operationId: 'operation_id', produces: 'produces', consumes: 'consumes' },
      ...{ schemes: 'schemes', deprecated: 'deprecated' },
    }),
    parameters: arrayOf(given.parameters).map(parameterItem),
    responses: { response_code: named(given.responses, response) },
    vendor_extension: extensions(given),
  }
}

function response(given: Json): Message {
  const { description, schema: shape } = objectOf(given)
  const message = {
    ...(description !== undefined && { description }),
    ...(shape !== undefined && { schema: { schema: schema(shape) } }),
    vendor_extension: extensions(objectOf(given)),
  }
  return { response: message }
}

function parameterItem(given: Json): Message {
  const { $ref } = objectOf(given)
  return $ref === undefined ? { parameter: parameter(given) } : { json_reference: { _ref: $ref } }
}

function parameter(json: Json): Message {
  const given = objectOf(json)
  const shared = pick(given, {
    ...{ required: 'required', in: 'in', description: 'description', name: 'name' },
  })
  if (given.in === 'body') {
    return { body_parameter: { ...shared, schema: schema(given.schema ?? {}) } }
  }
  const typed = { ...shared, ...pick(given, PARAMETER_FIELDS) }
  return { non_body_parameter: { [`${given.in as string}_parameter_sub_schema`]: typed } }
}

const PARAMETER_FIELDS = { type: 'type', format: 'format', uniqueItems: 'unique_items' } as const

/** Keyword → field, of those that are the same value in both forms. */
const SCHEMA_FIELDS: Readonly<Record<string, string>> = {
  ...{ $ref: '_ref', format: 'format', title: 'title', description: 'description' },
  ...{ multipleOf: 'multiple_of', maximum: 'maximum', exclusiveMaximum: 'exclusive_maximum' },
  ...{ minimum: 'minimum', exclusiveMinimum: 'exclusive_minimum', maxLength: 'max_length' },
  ...{ minLength: 'min_length', pattern: 'pattern', maxItems: 'max_items' },
  ...{ minItems: 'min_items', uniqueItems: 'unique_items', maxProperties: 'max_properties' },
  ...{ minProperties: 'min_properties', required: 'required', readOnly: 'read_only' },
  discriminator: 'discriminator',
}

function schema(json: Json): Message {
  const given = objectOf(json)
  const message: Message = {
    ...pick(given, SCHEMA_FIELDS),
    vendor_extension: extensions(given),
  }
  if (given.type !== undefined) message.type = { value: [given.type].flat() }
  if (given.default !== undefined) message.default = asYaml(given.default)
  if (given.example !== undefined) message.example = asYaml(given.example)
  if (given.enum !== undefined) message.enum = arrayOf(given.enum).map(asYaml)
  if (given.allOf !== undefined) message.all_of = arrayOf(given.allOf).map(schema)
  if (given.items !== undefined) message.items = { schema: [schema(given.items)] }
  if (given.properties !== undefined) {
    message.properties = { additional_properties: named(given.properties, schema) }
  }
  const rest = given.additionalProperties
  if (rest !== undefined) {
    message.additional_properties =
      typeof rest === 'boolean' ? { boolean: rest } : { schema: schema(rest) }
  }
  return message
}

function extensions(given: JsonObject): readonly Message[] {
  return Object.entries(given)
    .filter(([key]) => key.startsWith('x-'))
    .map(([name, value]) => ({ name, value: asYaml(value as Json) }))
}

function asYaml(value: Json): Message {
  return { yaml: stringify(value, { indentSeq: false, lineWidth: 0 }) }
}

function named(given: Json | undefined, encode: (value: Json) => Message): readonly Message[] {
  return Object.entries(objectOf(given)).map(([name, value]) => ({
    name,
    value: encode(value as Json),
  }))
}

function pick(given: JsonObject, fields: Readonly<Record<string, string>>): Message {
  const picked: Message = {}
  for (const [keyword, field] of Object.entries(fields)) {
    if (given[keyword] !== undefined) picked[field] = given[keyword]
  }
  return picked
}

/** What is not an object where one belongs counts as empty: members' documents are not ours. */
export function objectOf(value: Json | undefined): JsonObject {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as JsonObject) : {}
}

export function arrayOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}
