import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  APPLY,
  CLUSTERS,
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
const ready = (status: string) => ({
  type: 'Ready',
  status,
  reason: 'Ready',
  message: '',
  lastTransitionTime: '2026-12-01T03:26:59Z',
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
