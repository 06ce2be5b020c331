/** No credential is ever in the log, wherever a client put it; and each answer has its line. */
import { Writable } from 'node:stream'
import fc from 'fast-check'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { applyChanges } from '../../src/store/put-objects.ts'
import { put, testCluster } from '../store/objects.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer } from '../support/fleet-server.ts'

let database: TestDatabase
let fleet: FleetServer
let url: string
let said: string[] = []
beforeAll(async () => {
  database = await testDatabase()
  for (const [name, pods] of [
    ['dot-01', 2],
    ['dot-02', 1],
  ] as const) {
    const { target } = await testCluster(database.store, name)
    const names = Array.from({ length: pods }, (_, i) => `p-${i}`)
    const changes = names.map((pod) => put({ metadata: { name: pod, namespace: 'a' } }))
    await applyChanges(database.store, target, { changes })
  }
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      said.push(String(chunk))
      done()
    },
  })
  fleet = await fleetServer(database.store, { log: pino({ level: 'debug', base: null }, stream) })
  await fleet.refresh()
  url = await fleet.listen()
})
afterAll(async () => {
  await fleet.close()
  await database.drop()
})
beforeEach(() => {
  said = []
})

const PREFIX = '/apis/clusterpedia.io/v1beta1/resources'

async function ask(path: string, headers: Readonly<Record<string, string>> = {}) {
  const authorization = `Bearer ${fleet.admin.token}`
  const answer = await fetch(url + path, { headers: { authorization, ...headers } })
  await answer.arrayBuffer()
  const id = answer.headers.get('audit-id')
  const line = () => said.map((text) => JSON.parse(text)).find((one) => one.reqId === id && one.url)
  await expect.poll(line).toBeDefined()
  return line()
}

test('credentials are in no line, in whatever part of a request they come', async () => {
  const token = fc.stringMatching(/^[A-Za-z0-9_-]{24,40}$/)
  const places: readonly ((secret: string) => Promise<unknown>)[] = [
    (secret) => ask(`${PREFIX}/api/v1/pods`, { authorization: `Bearer ${secret}` }),
    (secret) => ask(`${PREFIX}/api/v1/pods`, { authorization: `Basic ${secret}` }),
    (secret) => ask(`${PREFIX}/api/v1/pods`, { authorization: secret }),
    (secret) => ask(`${PREFIX}/api/v1/pods`, { cookie: `session=${secret}` }),
    (secret) => ask(`${PREFIX}/api/v1/pods?token=${secret}`),
    (secret) => ask(`${PREFIX}/api/v1/pods?access_token=${secret}&limit=1`),
    (secret) =>
      ask(`${PREFIX}/api/v1/pods`, {
        'sec-websocket-protocol': `base64url.bearer.authorization.k8s.io.${secret}`,
      }),
  ]
  await fc.assert(
    fc.asyncProperty(token, fc.constantFrom(...places), async (secret, place) => {
      await place(secret)
      expect(said.join('')).not.toContain(secret)
      expect(said.join('')).not.toContain(fleet.admin.token)
    }),
    { numRuns: 60 },
  )
})
