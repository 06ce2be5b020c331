import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DocumentMessage } from '../../src/apiserver/openapi/openapi-v2-proto.ts'
import type { JsonObject } from '../../src/kube/kube-object.ts'
import { removeCluster } from '../../src/store/clusters.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type DocumentServer, documentServer, grant } from '../support/document-server.ts'
import {
  type MirroredType,
  mirrorCluster,
  recordedOpenApi,
  recordedOpenApiDocuments,
  recordedTypes,
} from '../support/mirrored-clusters.ts'
import { until } from '../support/until.ts'

const FLEET = '/apis/clusterpedia.io/v1beta1/resources'
const member = (name: string) => `${FLEET}/clusters/${name}`
const PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
const documents = recordedOpenApiDocuments()

/** Types of the recorded member by name. */
const only = (...resources: string[]) =>
  recordedTypes().filter(({ resource }) => resources.includes(resource))

const GADGETS: MirroredType = {
  ...{ group: 'widgets.example.com', resource: 'gadgets', kind: 'Gadget', namespaced: true },
  ...{ singularName: 'gadget', shortNames: [], categories: [] },
  versions: ['widgets.example.com/v1alpha1'],
}
/** Digits that a double cannot hold, in the document of an older member. */
const GADGET_DOCUMENT = `{"openapi":"3.0.0","info":{"title":"t","version":"v"},"paths":{
"/apis/widgets.example.com/v1alpha1/namespaces/{namespace}/gadgets":{"get":{"responses":{}},"post":{"responses":{}}}},
"components":{"schemas":{"com.example.Gadget":{"type":"object","properties":{"n":{"type":"integer","maximum":9223372036854775807}},
"x-kubernetes-group-version-kind":[{"group":"widgets.example.com","kind":"Gadget","version":"v1alpha1"}]}}}}`

let database: TestDatabase
let fleet: DocumentServer
let admin: string
let viewer: string

beforeAll(async () => {
  database = await testDatabase()
  const { store } = database
  await mirrorCluster(store, {
    ...{ name: 'dot-01', gitVersion: 'v1.36.2', openApi: documents },
    types: only('deployments', 'pods', 'namespaces', 'widgets', 'horizontalpodautoscalers'),
  })
  const gadgets = { 'apis/widgets.example.com/v1alpha1': Buffer.from(GADGET_DOCUMENT) }
  await mirrorCluster(store, {
    ...{ name: 'dot-02', gitVersion: 'v1.30.1', types: [GADGETS], openApi: gadgets },
  })
  fleet = await documentServer(store, {
    rootKinds: [
      {
        ...{ group: 'fleetglass.io', version: 'v1alpha1', resource: 'fleetaccesses' },
        ...{ kind: 'FleetAccess', singularName: 'fleetaccess', shortNames: [], categories: [] },
        ...{ namespaced: false, verbs: ['get', 'list', 'create', 'patch'], hasStatus: true },
      },
    ],
    rootDocuments: new Map([['apis/fleetglass.io/v1alpha1', ROOT_DOCUMENT]]),
  })
  admin = await fleet.token('admin', 'system:masters')
  viewer = await fleet.token('jane')
  fleet.setAccess([grant('jane', { clusters: ['dot-01'], namespaces: ['shop'] })])
  await until(() => fleet.access.rulesOf({ user: 'jane', groups: [] }).length > 0)
})

const ROOT_DOCUMENT: JsonObject = {
  openapi: '3.0.0',
  info: { title: 't', version: 'v' },
  paths: {
    '/apis/fleetglass.io/v1alpha1/fleetaccesses/{name}': {
      patch: {
        parameters: [{ name: 'fieldValidation', in: 'query', schema: { type: 'string' } }],
        requestBody: {
          content: { 'application/apply-patch+yaml': { schema: { type: 'object' } } },
        },
        responses: { 200: { description: 'OK' } },
        'x-kubernetes-group-version-kind': {
          ...{ group: 'fleetglass.io', version: 'v1alpha1', kind: 'FleetAccess' },
        },
      },
    },
  },
  components: { schemas: {} },
}

afterAll(async () => {
  await fleet.close()
  await database.drop()
})

async function get(url: string, headers: Record<string, string> = {}, as = admin) {
  return fleet.server.inject({ url, headers: { authorization: `Bearer ${as}`, ...headers } })
}

type Index = Record<string, { serverRelativeURL: string }>

async function index(prefix: string, as = admin): Promise<Index> {
  return (await get(`${prefix}/openapi/v3`, {}, as)).json().paths
}

async function fetchDocument(prefix: string, path: string, as = admin) {
  const { [path]: entry } = await index(prefix, as)
  return (await get(entry!.serverRelativeURL, {}, as)).json()
}

describe('the index', () => {
  test('names the group versions of what is mirrored, with URLs under the prefix', async () => {
    const recorded = JSON.parse(recordedOpenApi('v3.json').toString()).paths as Index
    const paths = await index(member('dot-01'))
    expect(Object.keys(paths)).toEqual([
      ...['api/v1', 'apis/apps/v1', 'apis/autoscaling/v1', 'apis/autoscaling/v2'],
      'apis/widgets.example.com/v1alpha1',
    ])
    for (const [path, { serverRelativeURL }] of Object.entries(paths)) {
      const shape = (url: string) => url.replace(/[0-9A-F]{128}$/, 'HASH')
      expect(shape(serverRelativeURL)).toBe(
        member('dot-01') + shape(recorded[path]!.serverRelativeURL),
      )
    }
  })

  test('of a viewer has what they may see, and none for a cluster of others', async () => {
    expect(Object.keys(await index(FLEET, viewer))).not.toContain('apis/apps/v2')
    expect((await get(`${member('dot-02')}/openapi/v3`, {}, viewer)).statusCode).toBe(403)
    expect((await get(`${member('dot-99')}/openapi/v3`, {}, viewer)).statusCode).toBe(403)
  })
})

describe('a document', () => {
  test('speaks of the mirrored types and of reading them', async () => {
    const { paths, components } = await fetchDocument(member('dot-01'), 'apis/apps/v1')
    const recorded = JSON.parse(documents['apis/apps/v1']!.toString())
    expect(Object.keys(paths)).toEqual([
      '/apis/apps/v1/deployments',
      '/apis/apps/v1/namespaces/{namespace}/deployments',
      '/apis/apps/v1/namespaces/{namespace}/deployments/{name}',
    ])
    for (const [path, { get: read, parameters, ...rest }] of Object.entries<JsonObject>(paths)) {
      expect(rest).toEqual({})
      expect(read).toEqual(recorded.paths[path].get)
      expect(parameters).toEqual(recorded.paths[path].parameters)
    }
    for (const [name, schema] of Object.entries(components.schemas)) {
      expect(schema, name).toEqual(recorded.components.schemas[name])
    }
    expect(Object.keys(components.schemas)).toContain('io.k8s.api.core.v1.PodTemplateSpec')
    expect(Object.keys(components.schemas)).not.toContain('io.k8s.api.apps.v1.StatefulSet')
  })

  test('of the core group does not take namespaces for the path of other types', async () => {
    const { paths } = await fetchDocument(member('dot-01'), 'api/v1')
    expect(Object.keys(paths).sort()).toEqual([
      '/api/v1/namespaces',
      '/api/v1/namespaces/{namespace}/pods',
      '/api/v1/namespaces/{namespace}/pods/{name}',
      '/api/v1/namespaces/{name}',
      '/api/v1/pods',
    ])
  })

  test('of a viewer of one namespace lacks what is cluster-scoped', async () => {
    const { paths, components } = await fetchDocument(FLEET, 'api/v1', viewer)
    expect(Object.keys(paths)).not.toContain('/api/v1/namespaces')
    expect(Object.keys(components.schemas)).not.toContain('io.k8s.api.core.v1.Namespace')
    const widgets = await fetchDocument(FLEET, 'apis/widgets.example.com/v1alpha1', viewer)
    expect(Object.keys(widgets.components.schemas)).not.toContain('com.example.Gadget')
  })

  test('of the fleet puts together what different members have in one group', async () => {
    const { paths, components } = await fetchDocument(FLEET, 'apis/widgets.example.com/v1alpha1')
    const names = Object.keys(components.schemas)
    expect(names).toContain('com.example.widgets.v1alpha1.Widget')
    expect(names).toContain('com.example.Gadget')
    const gadgets = paths['/apis/widgets.example.com/v1alpha1/namespaces/{namespace}/gadgets']
    expect(Object.keys(gadgets)).toEqual(['get'])
  })

  test('keeps the digits of numbers', async () => {
    const { body } = await get(`${member('dot-02')}/openapi/v3/apis/widgets.example.com/v1alpha1`)
    expect(body).toContain('"maximum":9223372036854775807')
  })

  test('is kept for good under its hash, and moved from another one', async () => {
    const { 'apis/apps/v1': entry } = await index(FLEET)
    const url = entry!.serverRelativeURL
    const found = await get(url)
    expect(found.headers['cache-control']).toBe('private, immutable, max-age=31536000')
    const again = await get(url, { 'if-none-match': String(found.headers.etag) })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    const moved = await get(url.replace(/hash=.*/, 'hash=OLD'))
    expect([moved.statusCode, moved.headers.location]).toEqual([301, url])
  })

  test('is compressed for who wants it so', async () => {
    const url = `${FLEET}/openapi/v3/api/v1`
    const packed = await get(url, { 'accept-encoding': 'gzip' })
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(packed.rawPayload).equals((await get(url)).rawPayload)).toBe(true)
    expect((await get(url, { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding']).toBe(
      undefined,
    )
  })

  test.each(['apis/nope/v1', 'apis/apps/v9', 'api'])('%s is the recorded 404', async (path) => {
    const answer = await get(`${FLEET}/openapi/v3/${path}`)
    expect([answer.statusCode, answer.body]).toEqual([404, '404 page not found\n'])
  })
})

describe('/openapi/v2', () => {
  test.each(['application/com.github.proto-openapi.spec.v2@v1.0+protobuf', PROTOBUF])(
    'comes in protobuf for %s',
    async (accept) => {
      const answer = await get(`${member('dot-01')}/openapi/v2?timeout=32s`, { accept })
      const recorded = JSON.parse(recordedOpenApi('v2.headers.json').toString())
      expect(answer.headers['content-type']).toBe(recorded.headers['content-type'])
      expect(answer.headers.vary).toBe(recorded.headers.vary)
      expect(answer.headers.etag).toMatch(/^"[0-9A-F]{128}"$/)
      const { definitions } = DocumentMessage.toObject(DocumentMessage.decode(answer.rawPayload))
      const names = definitions.additional_properties.map(({ name }: { name: string }) => name)
      expect(names).toContain('com.example.widgets.v1alpha1.Widget')
      const again = await get(`${member('dot-01')}/openapi/v2`, {
        ...{ accept, 'if-none-match': String(answer.headers.etag) },
      })
      expect(again.statusCode).toBe(304)
    },
  )

  test('comes in JSON, with the recorded definitions', async () => {
    const { definitions, paths, swagger } = (await get(`${member('dot-01')}/openapi/v2`)).json()
    const recorded = JSON.parse(recordedOpenApi('v2.json').toString())
    expect(swagger).toBe('2.0')
    expect(Object.keys(paths)).toContain('/apis/apps/v1/namespaces/{namespace}/deployments')
    expect(definitions['io.k8s.api.apps.v1.Deployment']).toEqual(
      recorded.definitions['io.k8s.api.apps.v1.Deployment'],
    )
  })

  test('of the root keeps what kubectl looks for in a PATCH', async () => {
    const { paths } = (await get('/openapi/v2')).json()
    const { patch } = paths['/apis/fleetglass.io/v1alpha1/fleetaccesses/{name}']
    expect(patch.parameters).toContainEqual({
      name: 'fieldValidation',
      in: 'query',
      type: 'string',
    })
    expect(patch['x-kubernetes-group-version-kind'].kind).toBe('FleetAccess')
  })

  test('is refused in a form that is not offered', async () => {
    expect((await get(`${FLEET}/openapi/v2`, { accept: 'text/html' })).statusCode).toBe(406)
  })
})

test('the root describes the mirror to all, and our own groups to those who may list them', async () => {
  const ofMirror = 'apis/clusterpedia.io/v1beta1'
  expect(Object.keys(await index(''))).toEqual(['apis/fleetglass.io/v1alpha1', ofMirror])
  expect(Object.keys(await index('', viewer))).toEqual([ofMirror])
})

test('a cluster that goes takes its documents with it', async () => {
  await mirrorCluster(database.store, {
    ...{ name: 'dot-03', types: [{ ...GADGETS, group: 'gone.io', versions: ['gone.io/v1'] }] },
    openApi: { 'apis/gone.io/v1': Buffer.from('{"paths":{},"components":{"schemas":{}}}') },
  })
  await until(async () => 'apis/gone.io/v1' in (await index(FLEET)))
  const going = fleet.catalog.current().clusters.find(({ name }) => name === 'dot-03')!
  await removeCluster(database.store, going.registrationUid)
  await until(async () => !('apis/gone.io/v1' in (await index(FLEET))))
})
