/** v2 is made from v3, and sent as JSON or protobuf: both compared with what was recorded. */
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { convertToV2 } from '../../src/apiserver/openapi/convert-to-v2.ts'
import { encodeOpenApiV2 } from '../../src/apiserver/openapi/encode-openapi-v2.ts'
import { DocumentMessage } from '../../src/apiserver/openapi/openapi-v2-proto.ts'
import type { JsonObject } from '../../src/kube/kube-object.ts'
import { recordedOpenApi, recordedOpenApiDocuments } from '../support/mirrored-clusters.ts'

const recordedV2 = JSON.parse(recordedOpenApi('v2.json').toString())

/** YAML texts as their values: two writers may quote differently. */
function decoded(bytes: Uint8Array): unknown {
  const message = DocumentMessage.toObject(DocumentMessage.decode(bytes), { longs: Number })
  return JSON.parse(
    JSON.stringify(message, (key, value) => (key === 'yaml' ? { parsed: parse(value) } : value)),
  )
}

test('the recorded JSON document encodes to the recorded protobuf document', () => {
  const made = encodeOpenApiV2(recordedV2)
  const recorded = recordedOpenApi('v2.pb')
  expect(made.length).toBe(recorded.length)
  expect(decoded(made)).toEqual(decoded(recorded))
})

test('the messages lose nothing of the recorded document', () => {
  const recorded = recordedOpenApi('v2.pb')
  const again = DocumentMessage.encode(DocumentMessage.decode(recorded)).finish()
  expect(Buffer.from(again).equals(recorded)).toBe(true)
})

describe('the recorded v3 documents convert to the recorded v2 definitions', () => {
  const documents = Object.entries(recordedOpenApiDocuments())

  test.each(documents)('%s', (_path, body) => {
    const { definitions } = convertToV2([JSON.parse(body.toString())], 'v1.36.2')
    const names = Object.keys(definitions as JsonObject)
    // These two name every group version that knows them, and each v3 document only its own.
    const shared = names.filter((name) => /\.(DeleteOptions|WatchEvent)$/.test(name))
    expect(names.length).toBeGreaterThan(10)
    for (const name of names.filter((each) => !shared.includes(each))) {
      expect((definitions as JsonObject)[name], name).toEqual(recordedV2.definitions[name])
    }
  })

  test('an operation keeps its kind, its action and its inlined parameters', () => {
    const path = '/apis/widgets.example.com/v1alpha1/namespaces/{namespace}/widgets/{name}'
    const body = recordedOpenApiDocuments()['apis/widgets.example.com/v1alpha1']!
    const { paths } = convertToV2([JSON.parse(body.toString())], 'v1.36.2')
    const { patch } = (paths as JsonObject)[path] as { readonly patch: Record<string, object[]> }
    const recorded = recordedV2.paths[path].patch
    const validation = ({ name }: { name?: string }) => name === 'fieldValidation'
    for (const key of [
      'operationId',
      'x-kubernetes-action',
      'x-kubernetes-group-version-kind',
      'produces',
      'schemes',
      'responses',
    ]) {
      expect(patch[key], key).toEqual(recorded[key])
    }
    expect(patch.consumes?.toSorted()).toEqual(recorded.consumes.toSorted())
    expect(patch.parameters?.find(validation)).toEqual(recorded.parameters.find(validation))
  })
})

describe('what v2 cannot say is left unsaid', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['nullable', { type: 'string', nullable: true, description: 'd' }, { description: 'd' }],
    [
      'a number or a text',
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      { 'x-kubernetes-int-or-string': true },
    ],
    [
      'unknown fields',
      { type: 'object', properties: { a: {} }, 'x-kubernetes-preserve-unknown-fields': true },
      { 'x-kubernetes-preserve-unknown-fields': true },
    ],
    ['a default', { type: 'integer', default: 3 }, { type: 'integer' }],
    ['a condition', { type: 'object', not: { required: ['a'] } }, { type: 'object' }],
    [
      'a map of references',
      { type: 'object', additionalProperties: { $ref: '#/components/schemas/a.B' } },
      { type: 'object', additionalProperties: { $ref: '#/definitions/a.B' } },
    ],
    [
      'a list of what may be null',
      { type: 'array', items: { type: 'string', nullable: true } },
      { type: 'array', items: {} },
    ],
  ])('%s', (_name, v3, v2) => {
    const { definitions } = convertToV2([{ components: { schemas: { a: v3 } } }], 'v1.0.0')
    expect((definitions as JsonObject).a).toEqual(v2)
  })
})
