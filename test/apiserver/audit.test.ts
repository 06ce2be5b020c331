/** What the log says of a request: who, what, which clusters, how many rows; and what it never says. */
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { FLEET_PREFIX } from '../../src/kube/fleet-prefix.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, metadata } from '../support/objects.ts'

const PODS = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }
const lines: string[] = []
let database: TestDatabase
let fleet: FleetServer
let reader: Reader

beforeAll(async () => {
  database = await testDatabase()
  for (const name of ['dot-01', 'dot-02', 'dot-03']) {
    const cluster = await FilledCluster.create(database.store, name)
    await cluster.fill(PODS, [
      { metadata: metadata(`of-${name}`, { namespace: 'shop' }) },
      { metadata: metadata('everywhere', { namespace: 'shop' }) },
    ])
  }
  const sink = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk))
      done()
    },
  })
  fleet = await fleetServer(database.store, {
    log: pino({ level: 'debug' }, sink),
    wishes: async () => () => undefined,
  })
  reader = await fleet.viewer([
    { clusters: ['dot-01', 'dot-02'], namespaces: ['*'], apiGroups: ['*'], resources: ['*'] },
  ])
})
afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})
beforeEach(() => void lines.splice(0))

const SEEN = ['dot-01', 'dot-02']

test.each([
  ['a list', '/api/v1/pods', { clusters: SEEN, rows: 4 }],
  ['a page', '/api/v1/pods?limit=3', { clusters: SEEN, rows: 3 }],
  ['a list of some clusters', '/api/v1/pods?clusters=dot-02', { clusters: ['dot-02'], rows: 2 }],
  ['a get', '/api/v1/namespaces/shop/pods/of-dot-01', { clusters: SEEN, rows: 1 }],
  ['a count', '/api/v1/pods/counts?groupBy=cluster', { clusters: SEEN, rows: 2 }],
])('%s', async (_, path, want) => {
  await reader.ask(path)
  expect(answered()).toMatchObject({ method: 'GET', url: `${FLEET_PREFIX}${path}`, ...want })
})

test('a collection', async () => {
  await reader.askRoot('/apis/clusterpedia.io/v1beta1/collectionresources/any?resources=/pods')
  expect(answered()).toMatchObject({ clusters: SEEN, rows: 4 })
})

test('what was found in clusters', async () => {
  await reader.askRoot('/apis/fleet.fleetglass.io/v1alpha1/clusterhealths')
  expect(answered()).toMatchObject({ clusters: SEEN, rows: 2 })
})

test('who asked, how it ended, and under which id', async () => {
  const { headers, status } = await reader.ask('/api/v1/namespaces/shop/pods/everywhere')
  const line = answered()
  expect(status).toBe(409)
  expect(line).toMatchObject({ user: expect.any(String), status: 409, clusters: SEEN })
  expect(line).not.toHaveProperty('rows')
  expect(line.reqId).toBe(headers['audit-id'])
})

test('no credential, whatever goes wrong', async () => {
  await reader.ask('/api/v1/pods')
  await reader.ask('/api/v1/pods?limit=x')
  await reader.ask('/api/v1/nothing')
  const headers = { authorization: 'Bearer not-a-token', cookie: 'session=s3cr3t' }
  await reader.ask('/api/v1/pods', { headers })
  expect(lines.length).toBeGreaterThan(3)
  const text = lines.join('')
  for (const secret of [reader.token, 'not-a-token', 's3cr3t']) expect(text).not.toContain(secret)
})

// biome-ignore lint/suspicious/noExplicitAny: a line of log
function answered(): any {
  const all = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'answered')
  expect(all).toHaveLength(1)
  return all[0]
}
