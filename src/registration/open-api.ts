/**
 * OpenAPI v3 of our own groups, made from crds/ as a real API server makes it from a CRD.
 *
 * kubectl explains and validates by it, and reads two things from it that are easily lost: which
 * kind a schema and an operation are about, and that a PATCH takes `fieldValidation` (without it,
 * kubectl validates on its own side).
 */
import { groupVersionPath } from '../kube/group-resource.ts'
import type { Json, JsonObject } from '../kube/kube-object.ts'
import { REGISTRATION_KINDS, type RegistrationKind } from './kinds.ts'
import { META, METADATA_SCHEMAS, reference, refersTo } from './open-api-metadata.ts'
import type { Schema } from './schema.ts'

export type OpenApiV3Document = JsonObject

/** One document per group version, by its path in /openapi/v3: `apis/fleetglass.io/v1alpha1`. */
export function registrationOpenApi(): ReadonlyMap<string, OpenApiV3Document> {
  return openApiOf(REGISTRATION_KINDS)
}

/** The same for other kinds of ours; of those that are only read, nothing is said of writing. */
export function openApiOf(
  kinds: readonly RegistrationKind[],
): ReadonlyMap<string, OpenApiV3Document> {
  const byPath = Map.groupBy(kinds, groupVersionPath)
  return new Map([...byPath].map(([path, kinds]) => [path, documentOf(kinds)]))
}

function documentOf(kinds: readonly RegistrationKind[]): OpenApiV3Document {
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' },
    paths: Object.fromEntries(kinds.flatMap(pathsOf)),
    components: {
      schemas: { ...Object.fromEntries(kinds.flatMap(schemasOf)), ...METADATA_SCHEMAS },
    },
  }
}

/** `io.clusterpedia.cluster.v1alpha2.PediaCluster`: the group from right to left. */
function schemaName({ group, version }: RegistrationKind, kind: string): string {
  return [...group.split('.').toReversed(), version, kind].join('.')
}

function schemasOf(kind: RegistrationKind): ReadonlyArray<readonly [string, JsonObject]> {
  const { group, version } = kind
  const about = (name: string) => ({
    'x-kubernetes-group-version-kind': [{ group, kind: name, version }],
  })
  return [
    [schemaName(kind, kind.kind), { ...objectSchema(kind.schema), ...about(kind.kind) }],
    [schemaName(kind, kind.listKind), { ...listSchema(kind), ...about(kind.listKind) }],
  ]
}

const TYPE_FIELDS = {
  apiVersion: { description: 'Group and version of this representation.', type: 'string' },
  kind: { description: 'The kind, in CamelCase.', type: 'string' },
}

function objectSchema(schema: Schema): JsonObject {
  const properties = {
    ...schema.properties,
    metadata: refersTo('ObjectMeta', 'Standard metadata of an object.'),
  }
  return { ...schema, properties } as unknown as JsonObject
}

function listSchema(kind: RegistrationKind): JsonObject {
  return {
    description: `${kind.listKind} is a list of ${kind.kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      ...TYPE_FIELDS,
      items: {
        description: `List of ${kind.resource}.`,
        type: 'array',
        items: { $ref: reference(schemaName(kind, kind.kind)) },
      },
      metadata: refersTo('ListMeta', 'Standard metadata of a list.'),
    },
  }
}

function pathsOf(kind: RegistrationKind): ReadonlyArray<readonly [string, JsonObject]> {
  const collection = `/${groupVersionPath(kind)}/${kind.resource}`
  const item = `${collection}/{name}`
  const status = `${item}/status`
  return [
    [collection, served(kind, collectionPath(kind))],
    [item, served(kind, itemPath(kind))],
    ...(kind.hasStatus ? [[status, statusPath(kind)] as const] : []),
  ]
}

const WRITING = ['post', 'put', 'patch', 'delete']

function served({ verbs }: RegistrationKind, path: JsonObject): JsonObject {
  if (verbs.includes('create')) return path
  return Object.fromEntries(Object.entries(path).filter(([method]) => !WRITING.includes(method)))
}

type Parameter = readonly [name: string, type: string, description: string]

const DRY_RUN: Parameter = [
  'dryRun',
  'string',
  'All: everything is done and checked, and nothing is stored.',
]
const FIELD_MANAGER: Parameter = [
  'fieldManager',
  'string',
  'Name under which the written fields are recorded. An apply must give one.',
]
const FIELD_VALIDATION: Parameter = [
  'fieldValidation',
  'string',
  'What becomes of unknown and duplicate fields: Strict refuses them, Warn drops them with a warning, Ignore drops them.',
]
const FORCE: Parameter = ['force', 'boolean', 'Takes fields that others own. Of an apply only.']
const RESOURCE_VERSION: Parameter = [
  'resourceVersion',
  'string',
  'The state that is asked for, or that a watch starts from.',
]
const PROPAGATION_POLICY: Parameter = [
  'propagationPolicy',
  'string',
  'Orphan, Background or Foreground.',
]
const WRITE = [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION]
const LIST: readonly Parameter[] = [
  ['allowWatchBookmarks', 'boolean', 'Whether a watch sends bookmarks.'],
  ['continue', 'string', 'Token of the page before.'],
  ['fieldSelector', 'string', 'Selects by metadata.name.'],
  ['labelSelector', 'string', 'Selects by labels.'],
  ['limit', 'integer', 'How many objects a page has at most.'],
  RESOURCE_VERSION,
  ['resourceVersionMatch', 'string', 'How resourceVersion is meant: Exact or NotOlderThan.'],
  ['sendInitialEvents', 'boolean', 'Whether a watch starts with the state.'],
  ['timeoutSeconds', 'integer', 'How long a watch lasts.'],
  ['watch', 'boolean', 'Sends changes as they come.'],
]
const PRETTY: Parameter = ['pretty', 'string', 'Indents the answer.']

function parameter([name, type, description]: Parameter): JsonObject {
  return { name, in: 'query', description, schema: { type, uniqueItems: true } }
}

const NAME: JsonObject = {
  name: 'name',
  in: 'path',
  required: true,
  schema: { type: 'string', uniqueItems: true },
}

interface Operation {
  readonly action: string
  /** First word of the operation's id: `read`, `listStatusOf` … */
  readonly id: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  /** Schema by media type. */
  readonly body?: readonly [schema: string, mediaTypes: readonly string[]]
  readonly answers: Readonly<Record<string, string>>
}

const OBJECT_TYPES = ['application/json', 'application/yaml']
const PATCH_TYPES = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
]

function operation(kind: RegistrationKind, of: Operation): JsonObject {
  const { group, version } = kind
  const camel = camelGroup(group)
  const upper = camel.charAt(0).toUpperCase() + camel.slice(1)
  return {
    tags: [`${camel}_${version}`],
    description: of.description,
    operationId: `${of.id.replace('%', `${upper}${capital(version)}`)}`,
    parameters: of.parameters.map(parameter),
    ...(of.body && { requestBody: { content: content(...of.body), required: true } }),
    responses: responses(of.answers),
    'x-kubernetes-action': of.action,
    'x-kubernetes-group-version-kind': { group, version, kind: kind.kind },
  }
}

function camelGroup(group: string): string {
  return group
    .split('.')
    .map(capital)
    .join('')
    .replace(/^./, (letter) => letter.toLowerCase())
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function content(schema: string, mediaTypes: readonly string[]): JsonObject {
  const entry: Json = { schema: { $ref: reference(schema) } }
  return Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, entry]))
}

function responses(answers: Operation['answers']): JsonObject {
  const codes: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }
  const given = Object.entries(answers).map(([code, schema]) => [
    code,
    { description: codes[code]!, content: content(schema, OBJECT_TYPES) },
  ])
  return Object.fromEntries([...given, ['401', { description: 'Unauthorized' }]])
}

function collectionPath(kind: RegistrationKind): JsonObject {
  const object = schemaName(kind, kind.kind)
  const status = `${META}.Status`
  return {
    get: operation(kind, {
      ...{ action: 'list', id: `list%${kind.kind}`, parameters: LIST },
      description: `list objects of kind ${kind.kind}`,
      answers: { 200: schemaName(kind, kind.listKind) },
    }),
    post: operation(kind, {
      ...{ action: 'post', id: `create%${kind.kind}`, parameters: WRITE },
      description: `create a ${kind.kind}`,
      body: [object, OBJECT_TYPES],
      answers: { 200: object, 201: object, 202: object },
    }),
    delete: operation(kind, {
      ...{ action: 'deletecollection', id: `delete%Collection${kind.kind}`, parameters: LIST },
      description: `delete collection of ${kind.kind}`,
      answers: { 200: status },
    }),
    parameters: [parameter(PRETTY)],
  }
}

function itemPath(kind: RegistrationKind): JsonObject {
  const status = `${META}.Status`
  return {
    ...readAndWrite(kind, { id: `%${kind.kind}`, what: `the specified ${kind.kind}` }),
    delete: operation(kind, {
      ...{ action: 'delete', id: `delete%${kind.kind}` },
      parameters: [DRY_RUN, PROPAGATION_POLICY],
      description: `delete a ${kind.kind}`,
      body: [`${META}.DeleteOptions`, OBJECT_TYPES],
      answers: { 200: status, 202: status },
    }),
    parameters: [NAME, parameter(PRETTY)],
  }
}

function statusPath(kind: RegistrationKind): JsonObject {
  const what = `status of the specified ${kind.kind}`
  return {
    ...readAndWrite(kind, { id: `%${kind.kind}Status`, what }),
    parameters: [NAME, parameter(PRETTY)],
  }
}

function readAndWrite(
  kind: RegistrationKind,
  { id, what }: { readonly id: string; readonly what: string },
): JsonObject {
  const object = schemaName(kind, kind.kind)
  return {
    get: operation(kind, {
      ...{ action: 'get', id: `read${id}`, description: `read ${what}` },
      parameters: [RESOURCE_VERSION],
      answers: { 200: object },
    }),
    put: operation(kind, {
      ...{ action: 'put', id: `replace${id}`, description: `replace ${what}` },
      parameters: WRITE,
      body: [object, OBJECT_TYPES],
      answers: { 200: object, 201: object },
    }),
    patch: operation(kind, {
      ...{ action: 'patch', id: `patch${id}`, description: `partially update ${what}` },
      parameters: [...WRITE, FORCE],
      body: [`${META}.Patch`, PATCH_TYPES],
      answers: { 200: object },
    }),
  }
}
