/** Times keep every digit, in every form, and are compared by all of them (case C18). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer } from '../support/fleet-server.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'

const LEASES: MemberType = {
  ...{ group: 'coordination.k8s.io', version: 'v1', resource: 'leases', kind: 'Lease' },
  namespaced: true,
}
const PATH = '/apis/coordination.k8s.io/v1/leases'
const [EARLIER, LATER] = ['2026-12-01T10:00:00.123456Z', '2026-12-01T10:00:00.123457Z']

let database: TestDatabase
let fleet: FleetServer

beforeAll(async () => {
  database = await testDatabase()
  const cluster = await FilledCluster.create(database.store, 'dot-01')
  const lease = (name: string, renewTime: string) => ({
    ...{ metadata: metadata(name, { namespace: 'shop' }), spec: { renewTime } },
  })
  await cluster.fill(LEASES, [lease('a', LATER!), lease('b', EARLIER!)])
  fleet = await fleetServer(database.store)
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

test('sent as JSON and as YAML, of one object and in a list', async () => {
  const one = await fleet.admin.ask('/apis/coordination.k8s.io/v1/namespaces/shop/leases/b')
  expect(one.text).toContain(`"renewTime":"${EARLIER}"`)
  const list = await fleet.admin.ask(PATH)
  expect(list.text).toContain(`"renewTime":"${LATER}"`)
  const yaml = await fleet.admin.ask(PATH, { accept: 'application/yaml' })
  expect(yaml.text).toContain(EARLIER)
})

test.each([
  [`fieldSelector=spec.renewTime=${EARLIER}`, ['b']],
  [`fieldSelector=spec.renewTime=2026-12-01T10:00:00.123Z`, []],
  [`fieldSelector=spec.renewTime>${EARLIER}`, ['a']],
  [`fieldSelector=spec.renewTime<=${EARLIER}`, ['b']],
  ['orderby=spec.renewTime', ['b', 'a']],
])('%s: %j', async (query, names) => {
  const { json } = await fleet.admin.ask(`${PATH}?${encodeURI(query)}`)
  expect(json.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(
    names,
  )
})
