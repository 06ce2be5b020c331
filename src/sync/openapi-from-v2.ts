/**
 * The OpenAPI v2 document of a member without v3 (Kubernetes before 1.24) → a v3 document of each
 * group version, as newer servers have it: how its types are read, and the schemas that leads to.
 *
 * @see kube-openapi pkg/openapiconv, which does the same in servers that have both.
 */
import { type Fields, fields, items } from '../printers/read-field.ts'

const DEFINITION = '#/definitions/'
const SCHEMA = '#/components/schemas/'

/**
 * @param path - `apis/apps/v1`, `api/v1`
 * @returns undefined when the member does not describe this group version.
 */
export function documentFromV2(v2: Fields, path: string): Fields | undefined {
  const described = Object.entries(fields(v2.paths))
    .filter(([key, item]) => key.startsWith(`/${path}/`) && fields(item).get !== undefined)
    .map(([key, item]) => [key, readingOf(fields(item), v2)] as const)
  if (described.length === 0) return undefined
  const definitions = fields(v2.definitions)
  const names = reachable(definitions, described)
  return {
    openapi: '3.0.0',
    info: v2.info,
    paths: Object.fromEntries(described),
    components: {
      schemas: Object.fromEntries([...names].map((name) => [name, schema(definitions[name])])),
    },
  }
}

function readingOf({ get, parameters }: Fields, v2: Fields): Fields {
  return {
    get: operation(fields(get), v2),
    ...(parameters !== undefined && { parameters: parametersOf(parameters, v2) }),
  }
}

function operation(given: Fields, v2: Fields): Fields {
  const { consumes: _, schemes: __, produces, parameters, responses, ...rest } = given
  const answers = Object.entries(fields(responses)).map(
    ([code, answer]) => [code, response(fields(answer), produces)] as const,
  )
  return {
    ...rest,
    ...(parameters !== undefined && { parameters: parametersOf(parameters, v2) }),
    responses: Object.fromEntries(answers),
  }
}

function response({ description, schema: shape }: Fields, produces: unknown): Fields {
  if (shape === undefined) return { description }
  const converted = { schema: schema(shape) }
  const types = items(produces).map((type) => [String(type), converted] as const)
  return { description, content: Object.fromEntries(types) }
}

function parametersOf(parameters: unknown, v2: Fields): readonly Fields[] {
  return items(parameters).map((each) => {
    const { $ref } = fields(each)
    const shared = fields(v2.parameters)[String($ref).replace('#/parameters/', '')]
    const { name, in: place, description, required, ...shape } = fields(shared ?? each)
    return {
      ...{ name, in: place },
      ...(description !== undefined && { description }),
      ...(required !== undefined && { required }),
      schema: shape,
    }
  })
}

/** What stands beside a reference counts in v3 only where the reference is in `allOf`. */
function schema(json: unknown): Fields {
  const { $ref, ...given } = fields(json)
  if (given.type === 'string' && given.format === 'int-or-string') {
    const { type: _, ...rest } = given
    return { ...rest, oneOf: [{ type: 'integer' }, { type: 'string' }] }
  }
  const converted = Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, keyword(key, value)]),
  )
  if (typeof $ref !== 'string') return converted
  const reference = { $ref: $ref.replace(DEFINITION, SCHEMA) }
  return Object.keys(converted).length === 0 ? reference : { ...converted, allOf: [reference] }
}

function keyword(key: string, value: unknown): unknown {
  switch (key) {
    case 'properties':
      return Object.fromEntries(
        Object.entries(fields(value)).map(([name, each]) => [name, schema(each)]),
      )
    case 'items':
      return schema(value)
    case 'additionalProperties':
      return typeof value === 'boolean' ? value : schema(value)
    default:
      return value
  }
}

/** The definitions that the paths name, and all that these refer to. */
function reachable(definitions: Fields, paths: unknown): ReadonlySet<string> {
  const reached = new Set<string>()
  const waiting = namesIn(paths)
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (reached.has(name) || definitions[name] === undefined) continue
    reached.add(name)
    waiting.push(...namesIn(definitions[name]))
  }
  return reached
}

function namesIn(json: unknown): string[] {
  if (typeof json !== 'object' || json === null) return []
  return Object.entries(json).flatMap(([key, value]) => {
    if (key !== '$ref' || typeof value !== 'string') return namesIn(value)
    return value.replace(DEFINITION, '').replace(SCHEMA, '')
  })
}
