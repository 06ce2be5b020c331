import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CLUSTERS,
  JSON_PATCH,
  MERGE,
  pediaCluster,
  type RegistrationServer,
  registrationServer,
  syncResources,
  TEMPLATES,
} from './registration-server.ts'

let api: RegistrationServer
beforeAll(async () => {
  api = await registrationServer()
})
afterAll(() => api.stop())

const make = async (name: string, metadata: object = {}) =>
  (await api.ask('POST', CLUSTERS, { body: pediaCluster(name, {}, metadata) })).json

test('as kubectl deletes', async () => {
  const { metadata } = await make('plain')
  const { status, json } = await api.ask('DELETE', `${CLUSTERS}/plain`, {
    body: '{"propagationPolicy":"Background"}\n',
  })
  expect(status).toBe(200)
  expect(json).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: 'plain',
      group: 'cluster.clusterpedia.io',
      kind: 'pediaclusters',
      uid: metadata.uid,
    },
  })
  const gone = await api.ask('GET', `${CLUSTERS}/plain`)
  expect([gone.status, gone.json.message]).toEqual([
    404,
    'pediaclusters.cluster.clusterpedia.io "plain" not found',
  ])
})

test('a dry run deletes nothing', async () => {
  await make('kept')
  const { status } = await api.ask('DELETE', `${CLUSTERS}/kept?dryRun=All`)
  expect(status).toBe(200)
  expect((await api.ask('GET', `${CLUSTERS}/kept`)).status).toBe(200)
})

describe('finalizers', () => {
  test('the object waits for them, and goes with the last', async () => {
    await make('held', { finalizers: ['a.b/one'] })
    const { status, json } = await api.ask('DELETE', `${CLUSTERS}/held`)
    expect(status).toBe(200)
    expect(json.metadata).toMatchObject({
      deletionTimestamp: '2026-12-01T03:26:59Z',
      deletionGracePeriodSeconds: 0,
      generation: 2,
    })
    const again = await api.ask('DELETE', `${CLUSTERS}/held`)
    expect(again.json).toEqual(json)

    const more = await api.ask('PATCH', `${CLUSTERS}/held`, {
      body: { metadata: { finalizers: ['a.b/one', 'a.b/two'] } },
      type: MERGE,
    })
    expect(more.json.message).toBe(
      'PediaCluster.cluster.clusterpedia.io "held" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.b/two"}',
    )
    const last = await api.ask('PATCH', `${CLUSTERS}/held`, {
      body: [{ op: 'remove', path: '/metadata/finalizers' }],
      type: JSON_PATCH,
    })
    expect(last.status).toBe(200)
    expect((await api.ask('GET', `${CLUSTERS}/held`)).status).toBe(404)
  })

  test('asked for in the foreground, it is accepted', async () => {
    await make('foreground', { finalizers: ['a.b/one'] })
    const body = { propagationPolicy: 'Foreground' }
    expect((await api.ask('DELETE', `${CLUSTERS}/foreground`, { body })).status).toBe(202)
  })
})

describe('refused', () => {
  const cases: ReadonlyArray<{
    name: string
    body: object
    status: number
    want: RegExp
  }> = [
    {
      name: 'another uid',
      body: { preconditions: { uid: 'other' } },
      status: 409,
      want: /^Operation cannot be fulfilled on pediaclusters\.cluster\.clusterpedia\.io "target": the UID in the precondition \(other\) does not match the UID in record \([0-9a-f-]+\)\. The object might have been deleted and then recreated$/,
    },
    {
      name: 'another resourceVersion',
      body: { preconditions: { resourceVersion: '1' } },
      status: 409,
      want: /the ResourceVersion in the precondition \(1\) does not match the ResourceVersion in record \(\d+\)\. The object might have been modified$/,
    },
    {
      name: 'a policy that there is not',
      body: { propagationPolicy: 'Later' },
      status: 422,
      want: /^DeleteOptions\.meta\.k8s\.io "" is invalid: propagationPolicy: Unsupported value: "Later"/,
    },
    {
      name: 'options of another kind',
      body: { kind: 'PediaCluster' },
      status: 400,
      want: /^the body cannot be handled as DeleteOptions/,
    },
  ]
  for (const { name, body, status, want } of cases) {
    test(name, async () => {
      if ((await api.ask('GET', `${CLUSTERS}/target`)).status === 404) await make('target')
      const answer = await api.ask('DELETE', `${CLUSTERS}/target`, { body })
      expect(answer.json.message).toMatch(want)
      expect(answer.status).toBe(status)
      expect((await api.ask('GET', `${CLUSTERS}/target`)).status).toBe(200)
    })
  }

  test('what is not there', async () => {
    expect((await api.ask('DELETE', `${CLUSTERS}/none`)).status).toBe(404)
  })
})

test('a collection: those that are selected', async () => {
  for (const name of ['one', 'two', 'three']) {
    const body = syncResources(name)
    const labels = { size: name === 'three' ? 'odd' : 'small' }
    await api.ask('POST', TEMPLATES, { body: { ...body, metadata: { name, labels } } })
  }
  const { status, json } = await api.ask('DELETE', `${TEMPLATES}?labelSelector=size%3Dsmall`)
  expect(status).toBe(200)
  expect(json.kind).toBe('ClusterSyncResourcesList')
  expect(json.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual([
    'one',
    'two',
  ])
  const left = await api.ask('GET', TEMPLATES)
  expect(left.json.items).toHaveLength(1)
})

test('more collections at once than there are connections to the database', async () => {
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => api.ask('DELETE', `${TEMPLATES}?labelSelector=size%3Dnone`)),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
})
