import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  APPLY,
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

describe('apply', () => {
  const apply = (body: object, query = 'fieldManager=a', rest = '') =>
    api.ask('PATCH', `${path(rest)}?${query}`, { body, type: APPLY })
  const managers = (json: { metadata: { managedFields: readonly { manager: string }[] } }) =>
    json.metadata.managedFields.map(({ manager }) => manager)

  test('an object that is not there is created', async () => {
    const body = pediaCluster('applied')
    const { status, json } = await api.ask('PATCH', `${CLUSTERS}/applied?fieldManager=a`, {
      body,
      type: APPLY,
    })
    expect([status, json.metadata.generation]).toEqual([201, 1])
    expect(json.metadata.managedFields).toEqual([
      {
        manager: 'a',
        operation: 'Apply',
        apiVersion: 'cluster.clusterpedia.io/v1alpha2',
        time: '2026-12-01T03:26:59Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:apiserver': {} } },
      },
    ])
  })

  test('a field of someone else is a conflict, unless forced', async () => {
    const body = pediaCluster(name, { apiserver: 'https://mine' })
    const { status, json } = await apply(body)
    expect(status).toBe(409)
    expect(json).toMatchObject({
      reason: 'Conflict',
      message:
        'Apply failed with 1 conflict: conflict with "maker" using cluster.clusterpedia.io/v1alpha2: .spec.apiserver',
      details: {
        causes: [
          {
            reason: 'FieldManagerConflict',
            message: 'conflict with "maker" using cluster.clusterpedia.io/v1alpha2',
            field: '.spec.apiserver',
          },
        ],
      },
    })
    const forced = await apply(body, 'fieldManager=a&force=true')
    expect(forced.json.spec.apiserver).toBe('https://mine')
    // "maker" still holds spec itself, which it made.
    const [mine, makers] = forced.json.metadata.managedFields
    expect([mine.manager, makers.manager]).toEqual(['a', 'maker'])
    expect(makers.fieldsV1).toEqual({ 'f:spec': {} })
  })

  test('several conflicts are told by manager', async () => {
    await apply(pediaCluster(name, { shardingName: 'b', apiserver: undefined }), 'fieldManager=b')
    const { json } = await apply(
      pediaCluster(name, { apiserver: 'https://mine', shardingName: 'mine' }),
    )
    expect(json.message).toBe(
      [
        'Apply failed with 2 conflicts: conflicts with "b":',
        '- .spec.shardingName',
        'conflicts with "maker" using cluster.clusterpedia.io/v1alpha2:',
        '- .spec.apiserver',
      ].join('\n'),
    )
  })

  test('equal values are shared, and stay until the last owner lets go', async () => {
    const body = pediaCluster(name, { apiserver: undefined, shardingName: 'shared' })
    await apply(body, 'fieldManager=a')
    const both = await apply(body, 'fieldManager=b')
    expect(managers(both.json)).toEqual(['b', 'a', 'maker'])
    const without = pediaCluster(name, { apiserver: undefined })
    expect((await apply(without, 'fieldManager=a')).json.spec.shardingName).toBe('shared')
    expect((await apply(without, 'fieldManager=b')).json.spec.shardingName).toBeUndefined()
  })

  test('a label that is applied no longer goes, others stay', async () => {
    const labelled = (labels: object) => pediaCluster(name, { apiserver: undefined }, { labels })
    await apply(labelled({ a: '1', b: '2' }))
    await apply(labelled({ c: '3' }), 'fieldManager=b')
    const { json } = await apply(labelled({ b: '2' }))
    expect(json.metadata.labels).toEqual({ b: '2', c: '3' })
  })

  test('applying the same again changes nothing', async () => {
    const body = pediaCluster(name, { syncAllCustomResources: true })
    const first = await apply(body)
    api.clock.set(START + 60_000)
    expect((await apply(body)).json).toEqual(first.json)
  })

  test('conditions are owned one by one', async () => {
    const other = { ...ready('False'), type: 'Validated' }
    const status = (conditions: readonly object[]) => ({
      apiVersion: 'cluster.clusterpedia.io/v1alpha2',
      kind: 'PediaCluster',
      status: { conditions },
    })
    await apply(status([ready('True')]), 'fieldManager=a', '/status')
    const both = await apply(status([other]), 'fieldManager=b', '/status')
    expect(both.json.status.conditions.map(({ type }: { type: string }) => type)).toEqual([
      'Ready',
      'Validated',
    ])
    const conflict = await apply(status([ready('False')]), 'fieldManager=b', '/status')
    expect(conflict.json.details.causes[0]).toEqual({
      reason: 'FieldManagerConflict',
      message: 'conflict with "a" with subresource "status"',
      field: '.status.conditions[type="Ready"].status',
    })
    const left = await apply(status([]), 'fieldManager=a', '/status')
    expect(left.json.status.conditions).toEqual([other])
  })

  test('kubectl takes over from its client-side apply without force', async () => {
    const applied = pediaCluster(name, { apiserver: 'https://csa' })
    const annotation = {
      'kubectl.kubernetes.io/last-applied-configuration': `${JSON.stringify(applied)}\n`,
    }
    await api.ask('PATCH', `${path()}?fieldManager=kubectl-client-side-apply`, {
      body: { metadata: { annotations: annotation }, spec: applied.spec },
      type: MERGE,
    })
    const next = pediaCluster(name, { apiserver: 'https://ssa' })
    expect((await apply(next, 'fieldManager=other')).status).toBe(409)
    const { status, json } = await apply(next, 'fieldManager=kubectl')
    expect([status, json.spec.apiserver]).toEqual([200, 'https://ssa'])
    const last = json.metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']
    expect(JSON.parse(last)).toEqual(next)
  })

  const refused: ReadonlyArray<{
    name: string
    body: object
    query?: string
    rest?: string
    status: number
    want: string
  }> = [
    {
      name: 'no manager',
      body: {},
      query: 'force=true',
      status: 422,
      want: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    },
    {
      name: 'a field that there is not',
      body: { ...pediaCluster('x'), spec: { color: 'red' } },
      status: 400,
      want: '.spec.color: field not declared in schema',
    },
    {
      name: 'managedFields',
      body: pediaCluster('x', {}, { managedFields: [] }),
      status: 400,
      want: 'metadata.managedFields must be nil',
    },
    {
      name: 'another version',
      body: { ...pediaCluster('x'), apiVersion: 'v1' },
      status: 400,
      want: 'Incorrect version specified in apply patch. Specified patch version: v1, expected: cluster.clusterpedia.io/v1alpha2',
    },
  ]
  for (const { name: situation, body, query, rest, status, want } of refused) {
    test(situation, async () => {
      const answer = await apply(body, query, rest)
      expect(answer.json.message).toContain(want)
      expect(answer.status).toBe(status)
    })
  }

  test('the name of another object', async () => {
    const { status, json } = await apply(pediaCluster('other'))
    expect([status, json.message]).toEqual([
      400,
      `the name of the object (other) does not match the name on the URL (${name})`,
    ])
  })

  test('the status of an object that is not there', async () => {
    const { status } = await api.ask('PATCH', `${CLUSTERS}/none/status?fieldManager=a`, {
      body: pediaCluster('none'),
      type: APPLY,
    })
    expect(status).toBe(404)
  })
})
