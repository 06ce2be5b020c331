/** The definitions in crds/: fit for every API server from 1.24 on, and the source of everything else. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { crdTypes } from '../../hack/print-types.ts'
import { decodeObject } from '../../src/registration/decode.ts'
import { REGISTRATION_KINDS } from '../../src/registration/kinds.ts'
import { validateSchema } from '../../src/registration/validate-schema.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'crds')

// biome-ignore lint/suspicious/noExplicitAny: a definition is looked into at many places
const definitions: ReadonlyArray<readonly [string, any]> = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => [file, parse(readFileSync(join(FOLDER, file), 'utf8'))])

/** What a schema may hold: nothing that came after 1.24, such as x-kubernetes-validations. */
const KEYWORDS = new Set([
  ...['description', 'type', 'format', 'enum', 'pattern', 'properties', 'additionalProperties'],
  ...['items', 'required', 'oneOf', 'minLength', 'maxLength', 'minimum', 'maximum', 'minItems'],
  ...['maxItems', 'x-kubernetes-list-type', 'x-kubernetes-list-map-keys', 'x-kubernetes-map-type'],
])

// biome-ignore lint/suspicious/noExplicitAny: a schema of any depth
type AnySchema = any

/** Complaints of a structural schema. @see apiextensions-apiserver/pkg/apiserver/schema/validation.go */
function complaints(schema: AnySchema, path: string): readonly string[] {
  const unknown = Object.keys(schema).filter((keyword) => !KEYWORDS.has(keyword))
  const found = unknown.map((keyword) => `${path}: ${keyword}`)
  if (typeof schema.type !== 'string') found.push(`${path}: no type`)
  if (schema.properties && schema.additionalProperties) found.push(`${path}: both kinds of fields`)
  if (schema.type === 'array' && !schema.items) found.push(`${path}: no items`)
  for (const junctor of schema.oneOf ?? []) {
    // Below oneOf, only values are checked: types and descriptions stand outside of it.
    const shaping = ['description', 'type', 'default', 'additionalProperties', 'nullable']
    for (const keyword of shaping.filter((one) => one in junctor)) {
      found.push(`${path}.oneOf: ${keyword}`)
    }
  }
  for (const field of schema.required ?? []) {
    if (!schema.properties?.[field]) found.push(`${path}: required ${field} is not declared`)
  }
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    if (!schema.items.required?.includes(key)) found.push(`${path}: the key ${key} is not required`)
  }
  return [...found, ...childComplaints(schema, path)]
}

function childComplaints(schema: AnySchema, path: string): readonly string[] {
  const properties = Object.entries<AnySchema>(schema.properties ?? {})
  return [
    ...properties.flatMap(([name, child]) => complaints(child, `${path}.${name}`)),
    ...(schema.items ? complaints(schema.items, `${path}[]`) : []),
    ...(typeof schema.additionalProperties === 'object'
      ? complaints(schema.additionalProperties, `${path}{}`)
      : []),
  ]
}

describe.each(definitions)('%s', (file, { apiVersion, kind, metadata, spec }) => {
  test('is named after its type', () => {
    expect([apiVersion, kind]).toEqual(['apiextensions.k8s.io/v1', 'CustomResourceDefinition'])
    expect(metadata.name).toBe(`${spec.names.plural}.${spec.group}`)
    expect(file).toBe(`${spec.group}_${spec.names.plural}.yaml`)
    expect(spec.names.listKind).toBe(`${spec.names.kind}List`)
    expect(spec.scope).toBe('Cluster')
  })

  test('has one version that is stored', () => {
    expect(spec.versions.filter(({ storage }: { storage: boolean }) => storage)).toHaveLength(1)
  })

  test('has a structural schema, with nothing newer than Kubernetes 1.24', () => {
    for (const { schema } of spec.versions) {
      expect(complaints(schema.openAPIV3Schema, '')).toEqual([])
    }
  })

  test('says no more of metadata than that it is an object', () => {
    for (const { schema } of spec.versions) {
      expect(schema.openAPIV3Schema.properties.metadata).toEqual({ type: 'object' })
    }
  })

  test('has columns that a server takes', () => {
    for (const { additionalPrinterColumns = [] } of spec.versions) {
      for (const { name, type, jsonPath } of additionalPrinterColumns) {
        expect(name).toMatch(/^[A-Za-z]+$/)
        expect(['integer', 'number', 'string', 'boolean', 'date']).toContain(type)
        expect(jsonPath).toMatch(/^\./)
      }
    }
  })
})

test('src/kube/crd-types.ts is what hack/print-types.ts makes of them', () => {
  expect(readFileSync(join(ROOT, 'src/kube/crd-types.ts'), 'utf8')).toBe(crdTypes())
})

describe('manifests in the shapes of Clusterpedia 0.7 to 0.9', () => {
  const MANIFESTS = readFileSync(
    join(import.meta.dirname, '../recorded/clusterpedia-manifests.yaml'),
    'utf8',
  )
  const manifests = MANIFESTS.split(/^---$/m).map((text) => [/# (.*)/.exec(text)![1]!, text])

  test.each(manifests)('%s', (_, text) => {
    const { kind: name } = parse(text)
    const kind = REGISTRATION_KINDS.find((one) => one.kind === name)!
    const { object, complaints: unknown } = decodeObject({ text, format: 'yaml' }, kind)
    expect(unknown).toEqual([])
    const schema = { ...kind.schema, properties: { ...kind.schema.properties, metadata: {} } }
    expect(validateSchema(object, schema)).toEqual([])
  })
})
