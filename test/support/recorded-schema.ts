/**
 * Checks objects against the OpenAPI of a real API server (test/recorded/openapi/v2.json.gz), as
 * strictly as `kubectl apply --validate=strict`: a field that the server does not know is an error.
 */
import { Ajv, type ValidateFunction } from 'ajv'
import { recordedOpenApi } from './mirrored-clusters.ts'

interface Schema {
  readonly properties?: object
  additionalProperties?: unknown
  readonly format?: string
  type?: string | string[]
  readonly 'x-kubernetes-group-version-kind'?: readonly Gvk[]
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
}

interface Gvk {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** In them lies JSON that nothing more is said about. */
const ANY_JSON = /apiextensions\.v1\.(JSON|JSONSchemaPropsOr\w+)$|runtime\.RawExtension$/

export class RecordedSchema {
  readonly #ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true })
  readonly #names = new Map<string, string>()

  constructor() {
    const { definitions } = JSON.parse(recordedOpenApi('v2.json').toString()) as {
      readonly definitions: Readonly<Record<string, Schema>>
    }
    for (const [name, schema] of Object.entries(definitions)) {
      for (const gvk of schema['x-kubernetes-group-version-kind'] ?? []) {
        this.#names.set(keyOf(gvk), name)
      }
    }
    const strict = Object.fromEntries(
      Object.entries(definitions).map(([name, schema]) => [name, strictly(name, schema)]),
    )
    this.#ajv.addSchema({ $id: 'recorded', definitions: strict })
  }

  /** @returns what is wrong, by field; undefined when the server has no such kind. */
  problems(object: {
    readonly apiVersion: string
    readonly kind: string
  }): readonly string[] | undefined {
    const [version, group = ''] = object.apiVersion.split('/').reverse() as [string, string?]
    const name = this.#names.get(keyOf({ group, version, kind: object.kind }))
    if (name === undefined) return undefined
    const validate = this.#ajv.getSchema(`recorded#/definitions/${name}`) as ValidateFunction
    validate(object)
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }
}

function keyOf({ group, version, kind }: Gvk): string {
  return `${group}/${version} ${kind}`
}

function strictly(name: string, schema: Schema): Schema {
  if (ANY_JSON.test(name)) return {}
  if (schema.format === 'int-or-string') return { ...schema, type: ['integer', 'string'] }
  if (name.endsWith('.resource.Quantity')) return { ...schema, type: ['number', 'string'] }
  const isOpen = !schema.properties || schema.additionalProperties !== undefined
  return isOpen ? schema : { ...schema, additionalProperties: false }
}
