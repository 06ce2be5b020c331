/** A recorded OpenAPI v2 document as the v3 documents that the same server sent. */
import { describe, expect, test } from 'vitest'
import { convertToV2 } from '../../src/apiserver/openapi/convert-to-v2.ts'
import type { JsonObject } from '../../src/kube/kube-object.ts'
import { documentFromV2 } from '../../src/sync/openapi-from-v2.ts'
import { recordedOpenApi, recordedOpenApiDocuments } from '../support/mirrored-clusters.ts'

type Described = Readonly<Record<string, Record<string, unknown>>>

const v2 = JSON.parse(recordedOpenApi('v2.json').toString())
const v3 = Object.entries(recordedOpenApiDocuments()).map(
  ([path, body]) => [path, JSON.parse(body.toString())] as const,
)

const schemasOf = (document: JsonObject) =>
  (document.components as { readonly schemas: Described }).schemas

describe.each(v3)('%s', (path, recorded) => {
  const made = documentFromV2(v2, path) as JsonObject

  test('has the paths by which types are read, of the same kinds and answers', () => {
    const paths = made.paths as Described
    const read = Object.entries(recorded.paths as Described).filter(([, item]) => item.get)
    expect(Object.keys(paths).sort()).toEqual(read.map(([key]) => key).sort())
    for (const [key, item] of read) {
      const [own, theirs] = [paths[key]!.get, item.get] as [JsonObject, JsonObject]
      expect(own.responses, key).toEqual(theirs.responses)
      expect(own['x-kubernetes-group-version-kind'], key).toEqual(
        theirs['x-kubernetes-group-version-kind'],
      )
      expect(paths[key]!.parameters, key).toEqual(item.parameters)
    }
  })

  test('has the properties of every schema', () => {
    for (const [name, schema] of Object.entries(schemasOf(made))) {
      const theirs = schemasOf(recorded)[name]!
      expect(Object.keys(schema.properties ?? {}), name).toEqual(
        Object.keys(theirs.properties ?? {}),
      )
    }
  })

  test('says as v2 what v2 said', () => {
    const { definitions } = convertToV2([made], 'v1.36.2') as { definitions: JsonObject }
    expect(Object.keys(definitions).length).toBeGreaterThan(5)
    for (const [name, definition] of Object.entries(definitions)) {
      expect(definition, name).toEqual(v2.definitions[name])
    }
  })
})

test('a group version that is not described has no document', () => {
  expect(documentFromV2(v2, 'apis/nope.example.com/v1')).toBeUndefined()
  expect(documentFromV2({}, 'api/v1')).toBeUndefined()
})

test('a description beside a reference stays, and a number or text may be either', () => {
  const document = documentFromV2(
    {
      paths: {
        '/api/v1/things': {
          get: { produces: ['application/json'], responses: { 200: { schema: ref('Thing') } } },
        },
      },
      definitions: {
        Thing: { properties: { port: { description: 'd', ...ref('Port') }, plain: ref('Port') } },
        Port: { type: 'string', format: 'int-or-string' },
        Unused: {},
      },
    },
    'api/v1',
  ) as JsonObject
  const reference = { $ref: '#/components/schemas/Port' }
  expect(schemasOf(document)).toEqual({
    Thing: { properties: { port: { description: 'd', allOf: [reference] }, plain: reference } },
    Port: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  })
})

function ref(name: string) {
  return { $ref: `#/definitions/${name}` }
}
