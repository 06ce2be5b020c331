import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  CLUSTERS,
  JSON_PATCH,
  MERGE,
  pediaCluster,
  type RegistrationServer,
  registrationServer,
  START,
} from './registration-server.ts'

let api: RegistrationServer
let name = ''
let count = 0
beforeAll(async () => {
  api = await registrationServer()
})
afterAll(() => api.stop())
beforeEach(async () => {
  name = `c${++count}`
  api.clock.set(START)
  await api.ask('POST', `${CLUSTERS}?fieldManager=maker`, { body: pediaCluster(name) })
})

const path = (rest = '') => `${CLUSTERS}/${name}${rest}`
const current = async () => (await api.ask('GET', path())).json
const ready = (status: string) => ({
  type: 'Ready',
  status,
  reason: 'Ready',
  message: '',
  lastTransitionTime: '2026-12-01T03:26:59Z',
})

describe('replace', () => {
  test('what is wanted counts generations, the rest does not', async () => {
    const before = await current()
    const relabelled = await api.ask('PUT', path(), {
      body: { ...before, metadata: { ...before.metadata, labels: { a: 'b' } } },
    })
    expect(relabelled.json.metadata.generation).toBe(1)
    const changed = await api.ask('PUT', path(), {
      body: { ...relabelled.json, spec: { apiserver: 'https://other' } },
    })
    expect(changed.json.metadata.generation).toBe(2)
  })

  test('a write that changes nothing keeps the resourceVersion', async () => {
    const before = await current()
    api.clock.set(START + 60_000)
    const { json } = await api.ask('PUT', `${path()}?fieldManager=other`, { body: before })
    expect(json).toEqual(before)
  })

  test('status is not written here, and spec not through status', async () => {
    const before = await current()
    const body = {
      ...before,
      spec: { apiserver: 'https://other' },
      status: { version: 'v1.30.0' },
    }
    const main = await api.ask('PUT', path(), { body })
    expect([main.json.spec, main.json.status]).toEqual([{ apiserver: 'https://other' }, undefined])
    const { json } = await api.ask('PUT', path('/status'), {
      body: {
        ...main.json,
        metadata: { ...main.json.metadata, labels: { not: 'here' } },
        spec: { apiserver: 'https://third' },
        status: { version: 'v1.31.0' },
      },
    })
    expect(json.spec).toEqual({ apiserver: 'https://other' })
    expect(json.status).toEqual({ version: 'v1.31.0' })
    expect(json.metadata.labels).toBeUndefined()
    expect(json.metadata.generation).toBe(main.json.metadata.generation)
    const entry = json.metadata.managedFields.find(
      (each: { subresource?: string }) => each.subresource === 'status',
    )
    expect(entry.fieldsV1).toEqual({ 'f:status': { '.': {}, 'f:version': {} } })
  })

  test('identity and times cannot be changed', async () => {
    const before = await current()
    const { creationTimestamp, uid, generation } = before.metadata
    const { json } = await api.ask('PUT', path(), {
      body: {
        ...before,
        metadata: {
          ...before.metadata,
          uid: undefined,
          generation: 99,
          selfLink: '/x',
          creationTimestamp: '2020-01-01T00:00:00Z',
          labels: { changed: 'yes' },
        },
      },
    })
    expect(json.metadata).toMatchObject({ creationTimestamp, uid, generation })
    expect(json.metadata.selfLink).toBeUndefined()
  })

  const refused: ReadonlyArray<{
    name: string
    change: (object: ReturnType<typeof pediaCluster>) => object
    status: number
    want: () => string
  }> = [
    {
      name: 'an outdated resourceVersion',
      change: (object) => ({ ...object, metadata: { ...object.metadata, resourceVersion: '1' } }),
      status: 409,
      want: () =>
        `Operation cannot be fulfilled on pediaclusters.cluster.clusterpedia.io "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    },
    {
      name: 'no resourceVersion',
      change: () => pediaCluster(name),
      status: 422,
      want: () =>
        `PediaCluster.cluster.clusterpedia.io "${name}" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update`,
    },
    {
      name: 'the uid of another object',
      change: (object) => ({ ...object, metadata: { ...object.metadata, uid: 'other' } }),
      status: 409,
      want: () =>
        `Operation cannot be fulfilled on pediaclusters.cluster.clusterpedia.io "${name}": Precondition failed: UID in precondition: other, UID in object meta: `,
    },
    {
      name: 'another name than the path',
      change: (object) => ({ ...object, metadata: { ...object.metadata, name: 'other' } }),
      status: 400,
      want: () => `the name of the object (other) does not match the name on the URL (${name})`,
    },
  ]
  for (const { name: situation, change, status, want } of refused) {
    test(situation, async () => {
      const answer = await api.ask('PUT', path(), { body: change(await current()) })
      expect(answer.json.message).toContain(want())
      expect(answer.status).toBe(status)
    })
  }

  test('an object that is not there', async () => {
    const { status, json } = await api.ask('PUT', `${CLUSTERS}/none`, {
      body: pediaCluster('none', {}, { resourceVersion: '1' }),
    })
    expect([status, json.message]).toEqual([
      404,
      'pediaclusters.cluster.clusterpedia.io "none" not found',
    ])
  })
})

describe('patch', () => {
  test('a merge patch sets and removes', async () => {
    const body = {
      metadata: { labels: { a: 'b' } },
      spec: { apiserver: null, shardingName: 'one' },
    }
    const { json } = await api.ask('PATCH', path(), { body, type: MERGE })
    expect(json.spec).toEqual({ shardingName: 'one' })
    expect(json.metadata.labels).toEqual({ a: 'b' })
    expect(json.metadata.generation).toBe(2)
  })

  test('a JSON patch', async () => {
    const body = [
      { op: 'test', path: '/spec/apiserver', value: 'https://10.0.0.1:6443' },
      { op: 'add', path: '/metadata/labels', value: { 'a.b/c': 'd' } },
      { op: 'add', path: '/metadata/labels/x~1y', value: 'z' },
      { op: 'copy', from: '/spec/apiserver', path: '/spec/shardingName' },
      { op: 'remove', path: '/spec/apiserver' },
    ]
    const { json } = await api.ask('PATCH', path(), { body, type: JSON_PATCH })
    expect(json.metadata.labels).toEqual({ 'a.b/c': 'd', 'x/y': 'z' })
    expect(json.spec).toEqual({ shardingName: 'https://10.0.0.1:6443' })
  })

  test('the manager is the program when none is named', async () => {
    const body = { metadata: { labels: { a: 'b' } } }
    const { json } = await api.ask('PATCH', path(), { body, type: MERGE, agent: 'helm/3.1 (x)' })
    const managers = json.metadata.managedFields.map((each: { manager: string }) => each.manager)
    expect(managers).toEqual(['helm', 'maker'])
  })

  test('a dry run changes nothing', async () => {
    const before = await current()
    const { json } = await api.ask('PATCH', `${path()}?dryRun=All`, {
      body: { spec: { shardingName: 'x' } },
      type: MERGE,
    })
    expect(json.spec.shardingName).toBe('x')
    expect(json.metadata.generation).toBe(2)
    expect(json.metadata.resourceVersion).toBe(before.metadata.resourceVersion)
    expect(await current()).toEqual(before)
  })

  test('conditions with one type twice', async () => {
    const { status, json } = await api.ask('PATCH', path('/status'), {
      body: { status: { conditions: [ready('True'), ready('False')] } },
      type: MERGE,
    })
    expect([status, json.details.causes]).toEqual([
      422,
      [
        {
          reason: 'FieldValueDuplicate',
          message: 'Duplicate value: {"type":"Ready"}',
          field: 'status.conditions[1]',
        },
      ],
    ])
  })

  const refused: ReadonlyArray<{
    name: string
    body: string
    type: string
    query?: string
    status: number
    want: string
  }> = [
    {
      name: 'a test that fails',
      body: '[{"op":"test","path":"/spec/none","value":1}]',
      type: JSON_PATCH,
      status: 422,
      want: 'the server rejected our request due to an error in our request',
    },
    {
      name: 'a field of no object',
      body: '[{"op":"replace","path":"/spec/none/deep","value":1}]',
      type: JSON_PATCH,
      status: 422,
      want: 'the server rejected our request due to an error in our request',
    },
    {
      name: 'the prototype of all objects',
      body: '[{"op":"add","path":"/__proto__/polluted","value":1}]',
      type: JSON_PATCH,
      status: 422,
      want: 'the server rejected our request due to an error in our request',
    },
    {
      name: 'no list of operations',
      body: '{}',
      type: JSON_PATCH,
      status: 400,
      want: 'a JSON patch must be an array of operations',
    },
    {
      name: 'broken JSON',
      body: '{"spec":}',
      type: MERGE,
      status: 400,
      want: "error decoding patch: invalid character '}' looking for beginning of value",
    },
    {
      name: 'an unknown field under Strict',
      body: '{"spec":{"color":"red"}}',
      type: MERGE,
      query: '?fieldValidation=Strict',
      status: 422,
      want: 'strict decoding error: unknown field "spec.color"',
    },
    {
      name: 'a strategic merge patch',
      body: '{}',
      type: 'application/strategic-merge-patch+json',
      status: 415,
      want: 'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    },
    {
      name: 'plain text',
      body: '{}',
      type: 'text/plain',
      status: 415,
      want: '415: Unsupported Media Type',
    },
    {
      name: 'force without an apply',
      body: '{}',
      type: MERGE,
      query: '?force=true',
      status: 422,
      want: 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    },
    {
      name: 'an outdated resourceVersion',
      body: '{"metadata":{"resourceVersion":"1"}}',
      type: MERGE,
      status: 409,
      want: 'the object has been modified',
    },
  ]
  for (const { name: situation, body, type, query = '', status, want } of refused) {
    test(situation, async () => {
      const answer = await api.ask('PATCH', path() + query, { body, type })
      expect(answer.json.message).toContain(want)
      expect(answer.status).toBe(status)
    })
  }
})
