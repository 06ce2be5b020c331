import { request } from 'undici'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { hugeConfigMap } from '../support/odd-objects.ts'
import { CONFIG_MAPS, NAMESPACES, PODS, SECRETS } from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { readWatch, type WatchReader } from '../support/watch-reader.ts'

let cluster: MemberCluster
const readers: WatchReader[] = []
beforeEach(async () => {
  cluster = await startMemberCluster()
})
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close()
  await cluster.stop()
})

const PATH = '/api/v1/configmaps'
const put = (name: string, data: Record<string, string> = {}) =>
  cluster.put(CONFIG_MAPS, { metadata: { name, namespace: 'x' }, data })
const get = async (path: string) => {
  const { statusCode, headers, body } = await request(cluster.url + path)
  return { status: statusCode, headers, text: await body.text() }
}
const watch = async (query = '') => {
  const before = cluster.openWatches(CONFIG_MAPS).length
  const reader = await readWatch(`${cluster.url}${PATH}?watch=true${query}`)
  readers.push(reader)
  if (reader.status === 200) {
    await until(() => cluster.openWatches(CONFIG_MAPS).length > before || reader.state() !== 'open')
  }
  return reader
}
const resumed = () => watch(`&resourceVersion=${cluster.resourceVersion}`)
const typesOf = (reader: WatchReader) =>
  reader.lines.map((line) => (JSON.parse(line) as { type: string }).type)

describe('connections', () => {
  test('a member that is down refuses, and comes back on the same port with all it had', async () => {
    put('a')
    const { url } = cluster
    await cluster.goDown()
    await expect(get(PATH)).rejects.toThrow(/ECONNREFUSED/)
    await cluster.comeBack()
    expect(cluster.url).toBe(url)
    expect(JSON.parse((await get(PATH)).text).items).toHaveLength(1)
  })

  test('open watches are cut', async () => {
    const reader = await resumed()
    cluster.cutWatches()
    await reader.waitForEnd()
    expect(reader.state()).toBe('broken')
    await until(() => cluster.openWatches().length === 0)
  })

  test('open watches end as by timeout', async () => {
    const reader = await resumed()
    cluster.endWatches(CONFIG_MAPS)
    await reader.waitForEnd()
    expect(reader.state()).toBe('ended')
  })

  test.each([0, 2])('the next watch breaks off after %i events', async (events) => {
    cluster.cutNextWatch(CONFIG_MAPS, { events })
    const reader = await resumed()
    for (let i = 0; i < 5; i++) put(`a${i}`)
    await reader.waitForEnd()
    expect(reader.state()).toBe('broken')
    expect(reader.lines.length).toBeLessThanOrEqual(events)
    const next = await resumed()
    put('b')
    await next.waitForLines(1)
  })

  test('half-open: a frozen watch says nothing and stays open', async () => {
    const reader = await resumed()
    put('a')
    await reader.waitForLines(1)
    cluster.freezeWatches(CONFIG_MAPS)
    put('b')
    cluster.endWatches()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(reader.lines).toHaveLength(1)
    expect(reader.state()).toBe('open')
  })

  test('half-open: the next watch goes silent after three events', async () => {
    cluster.freezeNextWatch(CONFIG_MAPS, { events: 3 })
    const reader = await resumed()
    for (let i = 0; i < 6; i++) put(`a${i}`)
    await reader.waitForLines(3)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(reader.lines).toHaveLength(3)
    expect(reader.state()).toBe('open')
  })
})

describe('expired', () => {
  test('410 inside a 200 stream, once', async () => {
    cluster.expireNextWatchInStream(CONFIG_MAPS)
    const reader = await watch('&resourceVersion=101')
    await reader.waitForEnd()
    expect(reader.status).toBe(200)
    expect(JSON.parse(reader.lines[0]!)).toMatchObject({ type: 'ERROR', object: { code: 410 } })
    expect((await resumed()).state()).toBe('open')
  })

  test('410 as a status, in odd words, once', async () => {
    cluster.expireNextWatchByStatus(CONFIG_MAPS)
    expect((await watch()).status).toBe(410)
    expect((await watch()).status).toBe(200)
  })

  test('410 for the next page only', async () => {
    for (const name of ['a', 'b', 'c']) put(name)
    const first = JSON.parse((await get(`${PATH}?limit=1`)).text)
    cluster.expireNextContinue(CONFIG_MAPS)
    const next = `${PATH}?limit=1&continue=${first.metadata.continue}`
    expect((await get(next)).status).toBe(410)
    expect((await get(next)).status).toBe(200)
  })
})

describe('errors', () => {
  test.each([401, 403, 404, 429, 500, 503] as const)(
    '%i for one type until taken away',
    async (code) => {
      const stop = cluster.fail({ of: SECRETS }, { code })
      const failed = await get('/api/v1/secrets')
      expect(failed.status).toBe(code)
      expect(JSON.parse(failed.text)).toMatchObject({ kind: 'Status', code })
      expect((await get('/api/v1/secrets')).status).toBe(code)
      expect((await get(PATH)).status).toBe(200)
      stop()
      expect((await get('/api/v1/secrets')).status).toBe(200)
    },
  )

  test('429 says when to come again', async () => {
    cluster.fail({}, { code: 429, retryAfterSeconds: 7, times: 1 })
    const failed = await get('/apis')
    expect(failed.headers['retry-after']).toBe('7')
    expect(JSON.parse(failed.text).details.retryAfterSeconds).toBe(7)
    expect((await get('/apis')).status).toBe(200)
  })

  test('rights can end at a namespace', async () => {
    const grant = cluster.forbid({ of: PODS, namespace: '' })
    expect((await get('/api/v1/pods')).status).toBe(403)
    expect((await get('/api/v1/namespaces/x/pods')).status).toBe(200)
    grant()
    expect((await get('/api/v1/pods')).status).toBe(200)
  })
})

describe('bodies', () => {
  test('a list breaks off in the middle', async () => {
    cluster.put(CONFIG_MAPS, hugeConfigMap('big', 300_000))
    cluster.truncateNext({ of: CONFIG_MAPS, kind: 'list' }, 1000)
    await expect(get(PATH)).rejects.toThrow()
    expect((await get(PATH)).text.length).toBeGreaterThan(300_000)
  })

  test('a watch breaks off inside a line', async () => {
    cluster.truncateNext({ of: CONFIG_MAPS, kind: 'watch' }, 40)
    const reader = await resumed()
    put('a')
    await reader.waitForEnd()
    expect(reader.state()).toBe('broken')
    expect(Buffer.concat([...reader.chunks])).toHaveLength(40)
    expect(reader.lines).toEqual([])
  })

  test('a line that is no event stands between events', async () => {
    const reader = await resumed()
    cluster.sendRubbish(CONFIG_MAPS)
    put('a')
    await reader.waitForLines(2)
    expect(() => JSON.parse(reader.lines[0]!)).toThrow()
    expect(JSON.parse(reader.lines[1]!)).toMatchObject({ type: 'ADDED' })
  })

  test('an answer is anything at all', async () => {
    cluster.answerNext({ of: CONFIG_MAPS }, '<html>', 'text/html')
    expect((await get(PATH)).text).toBe('<html>')
    expect(JSON.parse((await get(PATH)).text).kind).toBe('ConfigMapList')
  })

  test('characters are cut in two, and nothing else changes', async () => {
    cluster.splitInsideCharacters({ kind: 'watch' })
    const reader = await resumed()
    put('a', { city: '北京😀' })
    await reader.waitForLines(1)
    expect(JSON.parse(reader.lines[0]!).object.data.city).toBe('北京😀')
    const cut = reader.chunks.filter((chunk) => chunk.toString().includes('\ufffd'))
    expect(cut.length).toBeGreaterThan(5)
  })

  test('lines are cut at given places', async () => {
    cluster.splitAt({ kind: 'watch' }, [5, 9])
    const reader = await resumed()
    put('a')
    await reader.waitForLines(1)
    expect(reader.chunks.slice(0, 2).map((chunk) => chunk.length)).toEqual([5, 4])
  })

  test('bodies trickle', async () => {
    put('a')
    const stop = cluster.slowDown({ of: CONFIG_MAPS }, { bytes: 50, milliseconds: 10 })
    const before = performance.now()
    const slow = await get(PATH)
    expect(performance.now() - before).toBeGreaterThan((slow.text.length / 50 - 1) * 9)
    stop()
  })

  test('lines end in CRLF', async () => {
    cluster.endLinesWithCrLf()
    const reader = await resumed()
    put('a')
    put('b')
    await reader.waitForLines(2)
    expect(reader.lines.every((line) => line.endsWith('\r'))).toBe(true)
    expect(typesOf(reader)).toEqual(['ADDED', 'ADDED'])
  })
})

describe('state', () => {
  test('a deletion that the watch cache lost is in the next list and on no watch', async () => {
    put('a')
    const reader = await resumed()
    cluster.loseDeletion(CONFIG_MAPS, 'x', 'a')
    put('b')
    await reader.waitForLines(1)
    expect(typesOf(reader)).toEqual(['ADDED'])
    expect(JSON.parse((await get(PATH)).text).items).toHaveLength(1)
  })

  test('after an etcd restore revisions are given out again and what came later is gone', async () => {
    put('a')
    const backup = cluster.backup()
    const later = put('b').revision
    const reader = await resumed()
    cluster.restore(backup)
    await reader.waitForEnd()
    const list = JSON.parse((await get(PATH)).text)
    expect(list.items).toHaveLength(1)
    expect(BigInt(list.metadata.resourceVersion)).toBeLessThan(later)
    expect(put('c').revision).toBe(later)
  })

  test('a control plane that was replaced has another kube-system', async () => {
    const before = cluster.controlPlaneUid()
    cluster.replaceControlPlane()
    expect(cluster.controlPlaneUid()).not.toBe(before)
    const { metadata } = JSON.parse((await get('/api/v1/namespaces/kube-system')).text)
    expect(metadata.uid).toBe(cluster.controlPlaneUid())
  })

  test('a namespace goes with all that is in it', async () => {
    cluster.put(NAMESPACES, { metadata: { name: 'x' } })
    put('a')
    cluster.put(PODS, { metadata: { name: 'p', namespace: 'x' } })
    cluster.put(PODS, { metadata: { name: 'p', namespace: 'y' } })
    cluster.removeNamespace('x')
    expect(JSON.parse((await get(PATH)).text).items).toEqual([])
    expect(JSON.parse((await get('/api/v1/pods')).text).items).toHaveLength(1)
    expect((await get('/api/v1/namespaces/x')).status).toBe(404)
  })
})

describe('an upgrade', () => {
  test('moves ingresses: former group versions go with their watches, objects stay', async () => {
    await cluster.stop()
    cluster = await startMemberCluster({ version: 'v1.18.20' })
    const ingresses = { group: 'networking.k8s.io', resource: 'ingresses' }
    const { uid } = cluster.put(ingresses, { metadata: { name: 'i', namespace: 'x' } })
    const path = '/apis/extensions/v1beta1/ingresses'
    const reader = await readWatch(`${cluster.url}${path}?watch=true`)
    readers.push(reader)
    await reader.waitForLines(1)
    expect((await get('/apis/networking.k8s.io/v1/ingresses')).status).toBe(404)
    cluster.upgrade('v1.25.0')
    await reader.waitForEnd()
    expect((await get(path)).status).toBe(404)
    const { items } = JSON.parse((await get('/apis/networking.k8s.io/v1/ingresses')).text)
    expect(items[0].metadata.uid).toBe(uid)
    expect(JSON.parse((await get('/version')).text).gitVersion).toBe('v1.25.0')
  })
})

describe('discovery', () => {
  const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

  test('a broken group is stale in aggregated discovery and 503 in plain', async () => {
    const mend = cluster.breakGroup('batch')
    const { body } = await request(`${cluster.url}/apis`, { headers: { accept: AGGREGATED } })
    const { items } = (await body.json()) as {
      items: ReadonlyArray<{ metadata: { name: string }; versions: ReadonlyArray<object> }>
    }
    expect(items.find(({ metadata }) => metadata.name === 'batch')!.versions).toEqual([
      { version: 'v1', freshness: 'Stale' },
    ])
    expect((await get('/apis/batch/v1')).status).toBe(503)
    expect((await get('/apis/batch/v1/jobs')).status).toBe(503)
    expect((await get('/apis/apps/v1')).status).toBe(200)
    mend()
    expect((await get('/apis/batch/v1')).status).toBe(200)
  })

  test('malformed documents', async () => {
    const mend = cluster.malformDiscovery()
    expect(JSON.parse((await get('/apis')).text).items[0].versions).toBe('none')
    mend()
    expect(JSON.parse((await get('/apis')).text).kind).toBe('APIGroupList')
  })
})

test('requests are counted by what they ask for, failed ones too', async () => {
  cluster.fail({ of: CONFIG_MAPS, kind: 'list' }, { code: 500, times: 1 })
  await get(PATH)
  await get(PATH)
  await get('/api/v1/pods')
  await resumed()
  expect(cluster.requests({ kind: 'list' })).toHaveLength(3)
  expect(cluster.requests({ kind: 'list', of: CONFIG_MAPS })).toHaveLength(2)
  expect(cluster.requests({ kind: 'watch' })).toHaveLength(1)
  expect(cluster.openWatches(CONFIG_MAPS)).toHaveLength(1)
  expect(cluster.openWatches(PODS)).toHaveLength(0)
})
