/** A server that is going to stop says so, and answers what still comes. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Draining } from '../../src/apiserver/plugins/draining.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer } from '../support/fleet-server.ts'

const draining = new Draining()
let database: TestDatabase
let fleet: FleetServer
beforeAll(async () => {
  database = await testDatabase()
  fleet = await fleetServer(database.store, { draining })
})
afterAll(async () => {
  await fleet.close()
  await database.drop()
})

test('ready until it is told to stop; then every answer closes its connection, and readyz fails', async () => {
  const url = `${await fleet.listen()}/apis/clusterpedia.io/v1beta1/resources`
  const ask = (path: string) =>
    fetch(`${url}${path}`, { headers: { authorization: `Bearer ${fleet.admin.token}` } })
  const before = await ask('/readyz')
  expect([before.status, before.headers.get('connection')]).toEqual([200, 'keep-alive'])
  draining.begin()
  const after = await ask('/readyz')
  expect([after.status, after.headers.get('connection')]).toEqual([500, 'close'])
  expect(await after.text()).toContain('[-]shutdown failed: reason withheld')
  const list = await ask('/apis')
  expect([list.status, list.headers.get('connection')]).toEqual([200, 'close'])
  expect((await ask('/livez')).status).toBe(200)
})
