/**
 * OpenAPI v3 documents → one OpenAPI v2 document, as kube-apiserver itself makes it.
 *
 * v2 has no `oneOf`, `anyOf`, `not` and `nullable`: where v3 needs them, v2 says less. References
 * stand alone in `allOf` in v3, and beside their description in v2. Defaults are left out.
 *
 * @see kube-openapi pkg/openapiconv, apiextensions-apiserver pkg/controller/openapi/v2
 */
import type { Json, JsonObject } from '../../kube/kube-object.ts'
import { arrayOf, objectOf } from './encode-openapi-v2.ts'

/** @param documents - one per group version; of a schema that stands in several, the first counts. */
export function convertToV2(documents: readonly JsonObject[], version: string): JsonObject {
  const paths: Record<string, Json> = {}
  const definitions: Record<string, Json> = {}
  for (const document of documents) {
    const components = objectOf(document.components)
    for (const [path, item] of Object.entries(objectOf(document.paths))) {
      paths[path] ??= pathItem(objectOf(item), components)
    }
    for (const [name, shape] of Object.entries(objectOf(components.schemas))) {
      definitions[name] ??= schema(shape as Json)
    }
  }
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version },
    paths: sorted(paths),
    definitions: sorted(definitions),
    securityDefinitions: BEARER_TOKEN,
    security: [{ BearerToken: [] }],
  }
}

const BEARER_TOKEN: JsonObject = {
  BearerToken: {
    description: 'Bearer Token authentication',
    type: 'apiKey',
    name: 'authorization',
    in: 'header',
  },
}

function sorted(given: Record<string, Json>): JsonObject {
  return Object.fromEntries(Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function pathItem(item: JsonObject, components: JsonObject): JsonObject {
  const converted: Record<string, Json> = {}
  for (const [key, value] of Object.entries(item)) {
    if (key === 'parameters') {
      converted[key] = arrayOf(value).map((each) => parameter(each, components))
    } else if (key.startsWith('x-')) converted[key] = value as Json
    else converted[key] = operation(objectOf(value), components)
  }
  return converted
}

function operation(given: JsonObject, components: JsonObject): JsonObject {
  const { parameters, requestBody, responses, ...rest } = given
  const body = resolve(requestBody, components)
  const consumes = Object.keys(objectOf(body.content))
  const converted = Object.entries(objectOf(responses)).map(
    ([code, answer]) => [code, response(resolve(answer, components))] as const,
  )
  const listed = arrayOf(parameters).map((each) => parameter(each, components))
  return {
    ...rest,
    consumes: consumes.length > 0 ? consumes : ['*/*'],
    produces: producedTypes(responses, components),
    schemes: ['https'],
    parameters: requestBody === undefined ? listed : [bodyParameter(body), ...listed],
    responses: Object.fromEntries(converted),
  }
}

function producedTypes(responses: Json | undefined, components: JsonObject): readonly string[] {
  const types = Object.values(objectOf(responses)).flatMap((answer) =>
    Object.keys(objectOf(resolve(answer, components).content)),
  )
  return [...new Set(types)]
}

function bodyParameter(body: JsonObject): JsonObject {
  const shape = firstSchema(body.content)
  const required = body.required === true
  return { name: 'body', in: 'body', ...(required && { required }), schema: shape ?? {} }
}

function response({ description = '', content }: JsonObject): JsonObject {
  const shape = firstSchema(content)
  return { description, ...(shape && { schema: shape }) }
}

/** Every media type of a Kubernetes operation carries the same schema. */
function firstSchema(content: Json | undefined): JsonObject | undefined {
  const [first] = Object.values(objectOf(content))
  const { schema: shape } = objectOf(first)
  return shape === undefined ? undefined : schema(shape)
}

/** Type and format stand on the parameter itself. kubectl looks into no reference here. */
function parameter(json: Json, components: JsonObject): JsonObject {
  const { schema: shape, ...rest } = resolve(json, components)
  return { ...rest, ...objectOf(shape) }
}

function resolve(json: Json | undefined, components: JsonObject): JsonObject {
  const given = objectOf(json)
  const match = /^#\/components\/(\w+)\/(.+)$/.exec(String(given.$ref ?? ''))
  return match ? objectOf(objectOf(components[match[1]!])[match[2]!]) : given
}

/** Keywords that v2 does not have, and defaults, which kube-apiserver does not publish in v2. */
const LEFT_OUT = new Set(['default', 'oneOf', 'anyOf', 'not', 'nullable', 'allOf'])

function schema(json: Json): JsonObject {
  const given = objectOf(json)
  const converted: Record<string, Json> = {}
  for (const [key, value] of Object.entries(given)) {
    if (!LEFT_OUT.has(key)) converted[key] = keyword(key, value as Json)
  }
  const reference = soleReference(given)
  if (reference !== undefined) converted.$ref = reference
  if (isUntyped(given)) {
    // A client that validates by v2 would refuse what is allowed: better to say nothing.
    for (const key of ['type', 'properties', 'items', 'additionalProperties', 'required']) {
      delete converted[key]
    }
  } else if (given.type === undefined && mayBeString(given)) converted.type = 'string'
  return converted
}

function keyword(key: string, value: Json): Json {
  switch (key) {
    case '$ref':
      return definitionOf(String(value))
    case 'properties':
      return Object.fromEntries(
        Object.entries(objectOf(value)).map(([name, each]) => [name, schema(each as Json)]),
      )
    case 'items':
      return schema(value)
    case 'additionalProperties':
      return typeof value === 'boolean' ? value : schema(value)
    default:
      return value
  }
}

function definitionOf(reference: string): string {
  return reference.replace('#/components/schemas/', '#/definitions/')
}

/** `allOf` of one reference is how v3 puts a description beside it. */
function soleReference({ allOf }: JsonObject): string | undefined {
  const all = arrayOf(allOf)
  const { $ref } = objectOf(all[0])
  return all.length === 1 && typeof $ref === 'string' ? definitionOf($ref) : undefined
}

function isUntyped(given: JsonObject): boolean {
  return (
    given['x-kubernetes-preserve-unknown-fields'] === true ||
    given['x-kubernetes-int-or-string'] === true ||
    given.nullable === true
  )
}

/** Quantities and int-or-string: built-in types that v2 calls strings. */
function mayBeString({ oneOf }: JsonObject): boolean {
  return arrayOf(oneOf).some((each) => objectOf(each).type === 'string')
}
