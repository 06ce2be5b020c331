/**
 * The part of OpenAPI v3 that crds/ is written in: Kubernetes' structural schemas.
 *
 * Not here: what is done by them (validate-schema.ts, prune.ts, field-tree.ts, open-api.ts).
 */
import type { Json } from '../kube/kube-object.ts'

export type SchemaType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'

export interface Schema {
  readonly description?: string
  readonly type?: SchemaType
  readonly format?: string
  readonly nullable?: boolean
  readonly default?: Json
  readonly enum?: readonly Json[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular'
}

/** The schema of a field under a schema that lists its fields, or of any value of a map. */
export function fieldSchema(schema: Schema, field: string): Schema | undefined {
  const { properties, additionalProperties } = schema
  if (properties && Object.hasOwn(properties, field)) return properties[field]
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

/** Whether a field is one that the schema names, as against a key of a map. */
export function isNamedField(schema: Schema | undefined, field: string): boolean {
  return schema?.properties !== undefined && Object.hasOwn(schema.properties, field)
}

const TEXT: Schema = { type: 'string' }
const TEXT_MAP: Schema = { type: 'object', additionalProperties: TEXT }

/**
 * `metadata` of every object, which a CRD leaves unsaid.
 *
 * @see apimachinery/pkg/apis/meta/v1/types.go, ObjectMeta
 */
export const METADATA: Schema = {
  type: 'object',
  properties: {
    name: TEXT,
    generateName: TEXT,
    namespace: TEXT,
    selfLink: TEXT,
    uid: TEXT,
    resourceVersion: TEXT,
    generation: { type: 'integer', format: 'int64' },
    creationTimestamp: { type: 'string', format: 'date-time' },
    deletionTimestamp: { type: 'string', format: 'date-time' },
    deletionGracePeriodSeconds: { type: 'integer', format: 'int64' },
    labels: TEXT_MAP,
    annotations: TEXT_MAP,
    ownerReferences: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      items: {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        properties: {
          apiVersion: TEXT,
          kind: TEXT,
          name: TEXT,
          uid: TEXT,
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
      },
    },
    finalizers: { type: 'array', 'x-kubernetes-list-type': 'set', items: TEXT },
    managedFields: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        properties: {
          manager: TEXT,
          operation: TEXT,
          apiVersion: TEXT,
          time: { type: 'string', format: 'date-time' },
          fieldsType: TEXT,
          fieldsV1: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          subresource: TEXT,
        },
      },
    },
  },
}
