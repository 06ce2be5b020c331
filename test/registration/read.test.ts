import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StatusError } from '../../src/kube/status-error.ts'
import { readWatch } from '../support/watch-reader.ts'
import {
  CLUSTERS,
  MERGE,
  pediaCluster,
  type RegistrationServer,
  registrationServer,
  START,
  syncResources,
  TEMPLATES,
} from './registration-server.ts'

const HIDDEN = 'hidden-from-viewers'
let api: RegistrationServer
let viewers = false
beforeAll(async () => {
  api = await registrationServer({
    authorize: (_identity, { verb, name }) => {
      if (viewers && (!['get', 'list', 'watch'].includes(verb) || name === HIDDEN)) {
        throw new StatusError('Forbidden', 'not yours')
      }
      return (each) => !viewers || each !== HIDDEN
    },
  })
  for (const [index, name] of ['a', 'b', 'c', 'd', HIDDEN].entries()) {
    const labels = { env: index % 2 === 0 ? 'prod' : 'test' }
    await api.ask('POST', CLUSTERS, { body: pediaCluster(name, {}, { labels }) })
  }
  const condition = (type: string, status: string, reason: string) => ({
    ...{ type, status, reason, message: '', lastTransitionTime: '2026-12-01T03:26:59Z' },
  })
  const status = {
    version: 'v1.33.1',
    apiserver: 'https://10.0.0.1:6443',
    shardingName: 'one',
    conditions: [
      condition('Validated', 'True', 'Validated'),
      condition('SynchroRunning', 'True', 'Running'),
      condition('ClusterHealthy', 'True', 'Healthy'),
      condition('Ready', 'True', 'Ready'),
    ],
  }
  await api.ask('PATCH', `${CLUSTERS}/a/status`, { body: { status }, type: MERGE })
  await api.ask('POST', TEMPLATES, { body: syncResources('template') })
})
afterAll(() => api.stop())

// biome-ignore lint/suspicious/noExplicitAny: lists of every form
const names = (json: any) => json.items.map((item: any) => item.metadata.name)

describe('which objects', () => {
  const cases: ReadonlyArray<readonly [query: string, want: readonly string[]]> = [
    ['', ['a', 'b', 'c', 'd', HIDDEN]],
    ['?labelSelector=env%3Dprod', ['a', 'c', HIDDEN]],
    ['?labelSelector=env%20notin%20(prod)', ['b', 'd']],
    ['?fieldSelector=metadata.name%3Db', ['b']],
    ['?fieldSelector=metadata.name!%3Db', ['a', 'c', 'd', HIDDEN]],
    ['?fieldSelector=metadata.namespace%3Dx', []],
    ['?resourceVersion=0', ['a', 'b', 'c', 'd', HIDDEN]],
    ['?limit=-1', ['a', 'b', 'c', 'd', HIDDEN]],
  ]
  for (const [query, want] of cases) {
    test(query || 'all', async () => {
      const { json } = await api.ask('GET', CLUSTERS + query)
      expect(names(json)).toEqual(want)
      expect(json.kind).toBe('PediaClusterList')
    })
  }

  test('those that the reader may see, and no others', async () => {
    viewers = true
    const list = await api.ask('GET', CLUSTERS)
    const one = await api.ask('GET', `${CLUSTERS}/${HIDDEN}`)
    const page = await api.ask('GET', `${CLUSTERS}?limit=3`)
    const write = await api.ask('POST', CLUSTERS, { body: pediaCluster('x') })
    viewers = false
    expect(names(list.json)).toEqual(['a', 'b', 'c', 'd'])
    expect(page.json.metadata.remainingItemCount).toBe(1)
    expect([one.status, write.status]).toEqual([403, 403])
  })
})

describe('pages', () => {
  test('show one state, whatever is written meanwhile', async () => {
    const first = await api.ask('GET', `${CLUSTERS}?limit=2`)
    expect(names(first.json)).toEqual(['a', 'b'])
    expect(first.json.metadata.remainingItemCount).toBe(3)
    await api.ask('POST', CLUSTERS, { body: pediaCluster('b2') })
    await api.ask('DELETE', `${CLUSTERS}/c`)
    const token = first.json.metadata.continue
    const second = await api.ask('GET', `${CLUSTERS}?limit=2&continue=${token}`)
    expect(names(second.json)).toEqual(['c', 'd'])
    expect(second.json.metadata.resourceVersion).toBe(first.json.metadata.resourceVersion)
    const last = await api.ask(
      'GET',
      `${CLUSTERS}?limit=2&continue=${second.json.metadata.continue}`,
    )
    expect(names(last.json)).toEqual([HIDDEN])
    expect(last.json.metadata).toEqual({ resourceVersion: first.json.metadata.resourceVersion })
    await api.ask('DELETE', `${CLUSTERS}/b2`)
    await api.ask('POST', CLUSTERS, { body: pediaCluster('c', {}, { labels: { env: 'prod' } }) })
  })

  test('a state of the past, exactly', async () => {
    const before = await api.ask('GET', CLUSTERS)
    await api.ask('PATCH', `${CLUSTERS}/d`, { body: { spec: { shardingName: 's' } }, type: MERGE })
    const { resourceVersion } = before.json.metadata
    const query = `?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`
    expect((await api.ask('GET', CLUSTERS + query)).json).toEqual(before.json)
    const page = await api.ask('GET', `${CLUSTERS}?resourceVersion=${resourceVersion}&limit=500`)
    expect(page.json).toEqual(before.json)
    const newer = `?resourceVersion=${resourceVersion}&resourceVersionMatch=NotOlderThan&limit=500`
    expect((await api.ask('GET', CLUSTERS + newer)).json).not.toEqual(before.json)
  })

  const refused: ReadonlyArray<readonly [query: string, status: number, want: string]> = [
    [
      'continue=abc',
      400,
      "invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value",
    ],
    ['continue=5', 400, 'invalid continue token: continue key is not valid'],
    [
      'resourceVersion=18446744073709551615',
      504,
      'Too large resource version: 18446744073709551615',
    ],
    [
      'resourceVersion=9223372036854775808&resourceVersionMatch=Exact',
      504,
      'Too large resource version: 9223372036854775808',
    ],
    ['resourceVersion=99999999', 504, 'Too large resource version: 99999999, current: '],
    [
      'resourceVersionMatch=Exact',
      422,
      'resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
    ['fieldSelector=spec.apiserver%3Dx', 400, 'field label not supported: spec.apiserver'],
    ['labelSelector=-bad%3Dx', 400, 'unable to parse requirement'],
  ]
  for (const [query, status, want] of refused) {
    test(`refused: ${query}`, async () => {
      const answer = await api.ask('GET', `${CLUSTERS}?${query}`)
      expect(answer.json.message).toContain(want)
      expect(answer.status).toBe(status)
    })
  }

  const tampered: ReadonlyArray<readonly [what: string, change: object, status: number]> = [
    ['a name that no object can have', { k: ['', '', 'a\0'] }, 400],
    ['a state that will never be', { o: ['9223372036854775808'] }, 504],
    ['no number', { o: ['latest'] }, 400],
  ]
  test.each(tampered)('a token with %s', async (_what, change, status) => {
    const { json } = await api.ask('GET', `${CLUSTERS}?limit=1`)
    const token = JSON.parse(Buffer.from(json.metadata.continue, 'base64url').toString('utf8'))
    const text = Buffer.from(JSON.stringify({ ...token, ...change })).toString('base64url')
    expect((await api.ask('GET', `${CLUSTERS}?limit=1&continue=${text}`)).status).toBe(status)
  })

  test('a state that was cleared away', async () => {
    const { json } = await api.ask('GET', `${CLUSTERS}?limit=2`)
    const { pool } = api.database.store
    await pool.query('update registration_revision set floor = latest')
    await api.ask('PATCH', `${CLUSTERS}/d`, { body: { spec: { shardingName: 't' } }, type: MERGE })
    await pool.query('update registration_revision set floor = latest')
    const answer = await api.ask('GET', `${CLUSTERS}?continue=${json.metadata.continue}`)
    expect([answer.status, answer.json.reason]).toEqual([410, 'Expired'])
  })
})

describe('forms', () => {
  const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'

  test('the columns of a PediaCluster, wide ones marked', async () => {
    const { json } = await api.ask('GET', `${CLUSTERS}/a`, { accept: TABLE })
    const columns = json.columnDefinitions.map((column: { name: string; priority: number }) => [
      column.name,
      column.priority,
    ])
    expect(columns).toEqual([
      ['Name', 0],
      ['Ready', 0],
      ['Version', 0],
      ['APIServer', 0],
      ['Validated', 10],
      ['SynchroRunning', 10],
      ['ClusterHealthy', 10],
      ['ShardingName', 10],
    ])
    const { cells, object } = json.rows[0]
    expect(cells).toEqual([
      ...['a', 'True', 'v1.33.1', 'https://10.0.0.1:6443'],
      ...['Validated', 'Running', 'Healthy', 'one'],
    ])
    expect([object.kind, object.metadata.name]).toEqual(['PartialObjectMetadata', 'a'])
  })

  test('the age of what has no columns of its own', async () => {
    api.clock.set(START + 150_000)
    const { json } = await api.ask('GET', `${TEMPLATES}?includeObject=None`, { accept: TABLE })
    expect(json.rows).toEqual([{ cells: ['template', '2m30s'], object: null }])
  })

  test('metadata alone', async () => {
    const { json } = await api.ask('GET', `${CLUSTERS}/b`, { accept: METADATA })
    expect(Object.keys(json)).toEqual(['kind', 'apiVersion', 'metadata'])
    const list = await api.ask('GET', CLUSTERS, {
      accept: METADATA.replace('Metadata;', 'MetadataList;'),
    })
    expect(list.json.kind).toBe('PartialObjectMetadataList')
    expect(list.json.items[0].kind).toBe('PartialObjectMetadata')
  })

  test('YAML', async () => {
    const answer = await api.ask('GET', `${TEMPLATES}/template`, { accept: 'application/yaml' })
    expect(answer.headers['content-type']).toBe('application/yaml')
    expect(answer.text).toMatch(/^apiVersion: cluster\.clusterpedia\.io\/v1alpha2\nkind: Clu/)
  })

  test('indented for people', async () => {
    const { text } = await api.ask('GET', `${TEMPLATES}/template?pretty=true`)
    expect(text).toMatch(/^\{\n {2}"apiVersion"/)
  })

  test('what is not offered', async () => {
    const answer = await api.ask('GET', CLUSTERS, { accept: 'text/html' })
    expect([answer.status, answer.json.reason]).toEqual([406, 'NotAcceptable'])
    const list = await api.ask('GET', CLUSTERS, { accept: METADATA })
    expect(list.status).toBe(406)
  })
})

describe('paths that serve nothing', () => {
  const cases: ReadonlyArray<readonly [method: string, path: string, status: number]> = [
    ['POST', `${CLUSTERS}/a`, 405],
    ['PUT', CLUSTERS, 405],
    ['PATCH', CLUSTERS, 405],
    ['DELETE', `${CLUSTERS}/a/status`, 405],
    ['GET', `${CLUSTERS}/a/scale`, 404],
    ['GET', `${TEMPLATES}/template/status`, 404],
    ['GET', '/apis/cluster.clusterpedia.io/v1alpha2/nothings', 404],
    ['GET', `${CLUSTERS}/${'x'.repeat(300)}`, 404],
    ['GET', `${CLUSTERS}/a%00`, 404],
    ['DELETE', `${CLUSTERS}/a%00`, 404],
  ]
  for (const [method, path, status] of cases) {
    test(`${method} ${path.slice(0, 80)}`, async () => {
      const answer = await api.ask(method, path)
      expect([answer.status, answer.json.kind, answer.json.code]).toEqual([
        status,
        'Status',
        status,
      ])
    })
  }
})

test('PediaClusters are sent only once what they say holds: get, list and watch', async () => {
  const shown: string[][] = []
  const other = await registrationServer({
    untilKnown: async (clusters) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      shown.push(clusters.map((each) => String((each.metadata as { name: string }).name)))
    },
  })
  try {
    for (const name of ['one', 'two']) {
      await other.ask('POST', CLUSTERS, { body: pediaCluster(name) })
    }
    await other.ask('GET', `${CLUSTERS}/one`)
    await other.ask('GET', CLUSTERS)
    const origin = await other.server.listen({ host: '127.0.0.1', port: 0 })
    const stream = await readWatch(`${origin}${CLUSTERS}?watch=true`)
    await stream.waitForLines(2)
    stream.close()
    await other.ask('GET', TEMPLATES)
    expect(shown).toEqual([['one'], ['one', 'two'], ['one'], ['two']])
  } finally {
    await other.stop()
  }
})
