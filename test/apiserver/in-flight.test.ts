/** How many requests one reader may have under way, while the database keeps them waiting. */
import { get } from 'node:http'
import { promisify } from 'node:util'
import type pg from 'pg'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { laneOf } from '../../src/apiserver/request-lane.ts'
import { FLEET_PREFIX } from '../../src/kube/fleet-prefix.ts'
import { connectStore } from '../../src/store/connect.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type Answer, type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, metadata } from '../support/objects.ts'
import { until } from '../support/until.ts'

const registry = new Registry()
let database: TestDatabase
let fleet: FleetServer
let other: Reader
let lock: pg.Client

beforeAll(async () => {
  database = await testDatabase()
  const cluster = await FilledCluster.create(database.store, 'dot-01')
  const pods = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }
  await cluster.fill(pods, [{ metadata: metadata('web-0', { namespace: 'shop' }) }])
  const readerLimits = { streams: 1, queries: 2 }
  fleet = await fleetServer(database.store, { registry, readerLimits })
  other = await fleet.viewer([
    { clusters: ['*'], namespaces: ['*'], apiGroups: ['*'], resources: ['*'] },
  ])
  lock = await database.store.dedicated()
})

afterAll(async () => {
  await lock?.end()
  await fleet?.close()
  await database?.drop()
})

beforeEach(async () => {
  registry.resetMetrics()
  await lock.query('begin; lock table object in access exclusive mode')
  return async () => void (await lock.query('rollback'))
})

/** By `name{labels}`. */
async function metric(of: string): Promise<number> {
  const line = (await registry.metrics()).split('\n').find((each) => each.startsWith(`${of} `))
  return Number(line?.split(' ').at(-1) ?? 0)
}

/** Of all series that have these labels. */
async function sum(name: string, labels: Readonly<Record<string, string>>): Promise<number> {
  const { values } = await registry.getSingleMetric(name)!.get()
  return values
    .filter((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value))
    .reduce((total, { value }) => total + value, 0)
}

const underWay = () => metric('apiserver_current_inflight_requests{request_kind="readOnly"}')

/** Sent, and waiting for the database; the answer comes when the lock goes. */
async function begun(reader: Reader, ...paths: readonly string[]): Promise<Promise<Answer>[]> {
  const wanted = (await underWay()) + paths.length
  const answers = paths.map((path) => reader.ask(path))
  await until(async () => (await underWay()) === wanted)
  return answers
}

const LISTS = ['/api/v1/pods', '/api/v1/namespaces/shop/pods?labelSelector=a']
const QUERIES = [
  '/api/v1/pods?limit=500',
  '/api/v1/namespaces/shop/pods/web-0',
  '/api/v1/pods/counts?groupBy=cluster',
]

test('one more whole list than allowed is refused, and told when to ask again', async () => {
  const first = await begun(fleet.admin, LISTS[0]!)
  for (const path of LISTS) {
    const { status, json, headers } = await fleet.admin.ask(path)
    expect({ status, retryAfter: headers['retry-after'] }).toEqual({ status: 429, retryAfter: '1' })
    expect(json).toMatchObject({ kind: 'Status', reason: 'TooManyRequests', code: 429 })
    expect(json).toMatchObject({ details: { retryAfterSeconds: 1 } })
    expect(json.message).toContain('"admin" has 1 whole lists under way')
  }
  expect(await sum('apiserver_request_terminations_total', { code: '429', resource: 'pods' })).toBe(
    2,
  )
  // Neither another reader nor another kind of request is touched by it.
  const rest = [...(await begun(other, LISTS[1]!)), ...(await begun(fleet.admin, QUERIES[0]!))]
  await lock.query('rollback')
  for (const answer of [...first, ...rest]) expect((await answer).status).toBe(200)
  expect((await fleet.admin.ask(LISTS[0]!)).status).toBe(200)
  await until(async () => (await underWay()) === 0)
  expect(await sum('apiserver_request_total', { verb: 'LIST', code: '200' })).toBe(4)
})

test('a client that leaves before it is known who it is holds no place', async () => {
  const leaving = await fleet.viewer([
    { clusters: ['*'], namespaces: ['*'], apiGroups: ['*'], resources: ['*'] },
  ])
  const url = `${await fleet.listen()}${FLEET_PREFIX}${LISTS[0]}`
  await lock.query('rollback; begin; lock table access_token in access exclusive mode')
  const headers = { authorization: `Bearer ${leaving.token}` }
  const request = get(url, { headers }).on('error', () => undefined)
  await until(async () => (await waitingForLocks()) > 0)
  request.destroy()
  await until(async () => (await connections()) === 0)
  await lock.query('rollback')
  await until(async () => (await leaving.ask(LISTS[0]!)).status === 200)
  expect((await leaving.ask(LISTS[0]!)).status).toBe(200)
  expect(await underWay()).toBe(0)
})

async function waitingForLocks(): Promise<number> {
  const { rows } = await lock.query(
    `select count(*)::int as n from pg_locks join pg_database d on d.oid = database
     where not granted and datname = current_database()`,
  )
  return rows[0].n
}

function connections(): Promise<number> {
  const { server } = fleet.server
  return promisify(server.getConnections.bind(server))()
}

test('one more query than allowed, too; what is not of the mirror is not among them', async () => {
  const first = await begun(fleet.admin, ...QUERIES.slice(0, 2))
  for (const path of QUERIES) expect((await fleet.admin.ask(path)).status).toBe(429)
  for (const path of ['/healthz', '/readyz', '/version', '/apis', '/openapi/v3', '/api/v1']) {
    expect([path, (await fleet.admin.ask(path)).status]).toEqual([path, 200])
  }
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' }
  const payload = JSON.stringify({ ...review, spec: { resourceAttributes: { verb: 'get' } } })
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const headers = { 'content-type': 'application/json' }
  expect((await fleet.admin.ask(path, { method: 'POST', payload, headers })).status).toBe(201)
  await lock.query('rollback')
  for (const answer of first) expect((await answer).status).toBe(200)
})

test('a query beyond the statement timeout is 504, and no error of ours in the log', async () => {
  const impatient = await connectStore({
    ...{ url: database.url, applicationName: 'test', statementTimeoutSeconds: 1 },
  })
  const lines: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
  const server = await fleetServer(impatient, { log })
  const asked = [LISTS[0]!, ...QUERIES].map((path) => server.admin.ask(path))
  for (const { status, json } of await Promise.all(asked)) {
    expect({ status, reason: json.reason }).toEqual({ status: 504, reason: 'Timeout' })
  }
  const levels = lines.map((line) => JSON.parse(line).level as number)
  expect(Math.max(...levels)).toBe(pino.levels.values.info)
  await server.close()
  await impatient.close()
})

test.each([
  ['GET', '/healthz', 'probe'],
  ['GET', '/metrics', 'probe'],
  ['GET', `${FLEET_PREFIX}/clusters/dot-01/livez`, 'probe'],
  ['GET', `${FLEET_PREFIX}/api/v1/pods`, 'stream'],
  ['GET', `${FLEET_PREFIX}/api/v1/pods?limit=0`, 'stream'],
  ['GET', `${FLEET_PREFIX}/api/v1/pods?limit=99999`, 'stream'],
  ['GET', `${FLEET_PREFIX}/api/v1/pods?limit=500`, 'query'],
  ['GET', `${FLEET_PREFIX}/api/v1/pods?labelSelector=search.clusterpedia.io%2Flimit%3D5`, 'query'],
  ['GET', `${FLEET_PREFIX}/clusters/dot-01/apis/apps/v1/namespaces/a/deployments/b`, 'query'],
  ['GET', '/apis/clusterpedia.io/v1beta1/collectionresources/any?groups=apps', 'stream'],
  ['GET', '/apis/clusterpedia.io/v1beta1/collectionresources/any?groups=apps&limit=5', 'query'],
  ['GET', '/apis/clusterpedia.io/v1beta1/collectionresources', 'other'],
  ['GET', '/apis/fleet.fleetglass.io/v1alpha1', 'other'],
  ['GET', '/apis/fleet.fleetglass.io/v1alpha1/imagedrifts', 'query'],
  ['GET', '/apis/fleet.fleetglass.io/v1alpha1/clusterhealths/dot-01', 'query'],
  ['GET', '/apis/cluster.clusterpedia.io/v1alpha2/pediaclusters', 'other'],
  ['GET', '/apis/cluster.clusterpedia.io/v1alpha2/pediaclusters?watch=true', 'watch'],
  ['GET', `${FLEET_PREFIX}/apis/apps/v1`, 'other'],
  ['DELETE', `${FLEET_PREFIX}/api/v1/namespaces/a/pods/b`, 'other'],
])('%s %s is of the lane %s', (method, url, lane) => {
  expect(laneOf({ method, url })).toBe(lane)
})
