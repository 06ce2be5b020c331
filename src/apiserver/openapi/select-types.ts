/**
 * A member's OpenAPI v3 document of one group version → what it says of the types that are shown.
 *
 * Kept are the paths by which a type is read, and the schemas they lead to. What is written by, and
 * what is only said of other types, is left out: it is not answered here.
 */
import type { Json, JsonObject } from '../../kube/kube-object.ts'
import { arrayOf, objectOf } from './encode-openapi-v2.ts'

/** A type that a document is to speak of. */
export interface ShownType {
  readonly resource: string
  readonly kind: string
}

export interface TypeSelection {
  /** `apis/apps/v1`, `api/v1` */
  readonly path: string
  readonly types: readonly ShownType[]
}

const SCHEMA_REFERENCE = '#/components/schemas/'

export function selectTypes(document: JsonObject, selection: TypeSelection): JsonObject {
  const paths = readPaths(objectOf(document.paths), selection)
  const components = objectOf(document.components)
  const schemas = objectOf(components.schemas)
  const named = Object.keys(schemas).filter((name) => isOfType(schemas[name], selection))
  const reached = reachableSchemas(schemas, [...schemaNames(paths), ...named])
  return {
    ...document,
    paths,
    components: { ...components, schemas: reached },
  }
}

/** Several documents of one group version as one; of what stands in two, the first counts. */
export function uniteDocuments(documents: readonly JsonObject[]): JsonObject {
  const [first = {}] = documents
  if (documents.length < 2) return first
  // Later ones are assigned first, so that earlier ones win.
  const backwards = documents.toReversed()
  const components = backwards.map((document) => objectOf(document.components))
  const schemas = components.map((each) => objectOf(each.schemas))
  return {
    ...first,
    paths: Object.assign({}, ...backwards.map((document) => objectOf(document.paths))),
    components: Object.assign({}, ...components, { schemas: Object.assign({}, ...schemas) }),
  }
}

function readPaths(paths: JsonObject, { path, types }: TypeSelection): JsonObject {
  const resources = new Set(types.map(({ resource }) => resource))
  const pattern = new RegExp(
    `^/${escapeExpression(path)}/(?:namespaces/\\{namespace\\}/)?([^/{}]+)(?:/\\{name\\})?$`,
  )
  const kept: Record<string, Json> = {}
  for (const [key, item] of Object.entries(paths)) {
    const resource = pattern.exec(key)?.[1]
    if (resource === undefined || !resources.has(resource)) continue
    const { get, parameters } = objectOf(item)
    if (get !== undefined) kept[key] = { get, ...(parameters !== undefined && { parameters }) }
  }
  return kept
}

function escapeExpression(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** A shared type such as DeleteOptions names every group version: it is reached, or not needed. */
function isOfType(schema: Json | undefined, { path, types }: TypeSelection): boolean {
  const [group = '', version = ''] = path.split('/').slice(path.startsWith('api/') ? 0 : 1)
  return arrayOf(objectOf(schema)['x-kubernetes-group-version-kind']).some((json) => {
    const gvk = objectOf(json)
    return (
      gvk.group === (path.startsWith('api/') ? '' : group) &&
      gvk.version === version &&
      types.some(({ kind }) => kind === gvk.kind)
    )
  })
}

/** The schemas named, and all that they refer to, in the order of the document. */
function reachableSchemas(schemas: JsonObject, from: readonly string[]): JsonObject {
  const reached = new Set<string>()
  const waiting = [...from]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (reached.has(name) || schemas[name] === undefined) continue
    reached.add(name)
    waiting.push(...schemaNames(schemas[name]))
  }
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => reached.has(name)))
}

function schemaNames(json: Json | undefined): readonly string[] {
  const names = new Set<string>()
  collectNames(json, names)
  return [...names]
}

function collectNames(json: Json | undefined, names: Set<string>): void {
  if (typeof json !== 'object' || json === null) return
  for (const [key, value] of Object.entries(json)) {
    if (key === '$ref' && typeof value === 'string' && value.startsWith(SCHEMA_REFERENCE)) {
      names.add(value.slice(SCHEMA_REFERENCE.length))
    } else {
      collectNames(value as Json, names)
    }
  }
}
