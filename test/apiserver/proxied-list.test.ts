/** A list that goes through a front proxy ends before the proxy cuts it off: never half of it. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CertificateBundle } from '../../src/apiserver/access/authentication/certificate-bundle.ts'
import { FLEET_PREFIX } from '../../src/kube/fleet-prefix.ts'
import { Authority, FOR_THIS_MACHINE } from '../support/authority.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer } from '../support/fleet-server.ts'
import { FilledCluster, metadata } from '../support/objects.ts'

/** More than the buffers between server and client hold, so that one who does not read holds it up. */
const PODS = 1000
const PADDING = 'x'.repeat(20_000)
const LIMIT_MILLISECONDS = 1_000

let database: TestDatabase
let fleet: FleetServer
let url: URL
let agent: Agent

beforeAll(async () => {
  database = await testDatabase()
  const cluster = await FilledCluster.create(database.store, 'dot-01')
  const type = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }
  const pods = Array.from({ length: PODS }, (_, i) => ({
    metadata: metadata(`pod-${i}`, { namespace: 'shop' }),
    spec: { padding: PADDING },
  }))
  await cluster.fill(type, pods)
  const ca = await Authority.root('CN=ca')
  const server = await ca.issue({ subject: 'CN=server', extensions: [FOR_THIS_MACHINE] })
  const proxy = await ca.issue({ subject: 'CN=front-proxy', usage: 'clientAuth' })
  const requestHeader = {
    ...{ ca: new CertificateBundle(ca.cert), allowedNames: [], uidHeaders: [], extraPrefixes: [] },
    ...{ usernameHeaders: ['X-Remote-User'], groupHeaders: ['X-Remote-Group'] },
  }
  fleet = await fleetServer(database.store, {
    tls: { cert: server.cert, key: server.key },
    trust: { requestHeader: () => requestHeader },
    proxiedListMilliseconds: LIMIT_MILLISECONDS,
    wishes: async () => () => ({ wants: () => true, namespaces: undefined }),
  })
  url = new URL(await fleet.listen())
  agent = new Agent({ ca: ca.cert, cert: proxy.cert, key: proxy.key, keepAlive: true })
})

afterAll(async () => {
  agent.destroy()
  await fleet.close()
  await database.drop()
})

async function open(path: string, throughProxy = true): Promise<IncomingMessage> {
  const { hostname, port } = url
  const headers = throughProxy
    ? { 'X-Remote-User': 'admin', 'X-Remote-Group': 'system:masters' }
    : { authorization: `Bearer ${fleet.admin.token}` }
  const asked = request({ agent, hostname, port, path, headers })
  asked.end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return answer
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of answer) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

/** As clients do it: what had no time to begin at all is asked for again. */
async function pageOf(path: string) {
  for (;;) {
    const answer = await open(path)
    const page = JSON.parse(await textOf(answer))
    if (answer.statusCode !== 504) return page
  }
}

async function afterTheLimit(answer: IncomingMessage) {
  await delay(LIMIT_MILLISECONDS * 1.2)
  return JSON.parse(await textOf(answer))
}

const LISTS = [
  `${FLEET_PREFIX}/api/v1/pods`,
  `${FLEET_PREFIX}/clusters/dot-01/api/v1/pods`,
  // What asks for no next page is told of one all the same: it would look complete.
  `${FLEET_PREFIX}/api/v1/pods?withContinue=false`,
  '/apis/clusterpedia.io/v1beta1/collectionresources/any?resources=/pods',
]

describe('a list that takes too long', () => {
  test.each(LISTS)(
    'is a page with a continue, and the next go on where it ended: %s',
    async (path) => {
      const seen: string[] = []
      const first = await afterTheLimit(await open(path))
      expect(first.items.length).toBeGreaterThan(0)
      expect(first.items.length).toBeLessThan(PODS)
      for (let page = first; ; ) {
        seen.push(...page.items.map((item: { metadata: { name: string } }) => item.metadata.name))
        // A collection is no list, and has it outside of its metadata.
        const token = page.metadata.continue ?? page.continue
        if (token === undefined) break
        const next = `${path}${path.includes('?') ? '&' : '?'}continue=${token}`
        page = await pageOf(next)
      }
      expect(seen).toHaveLength(PODS)
      expect(new Set(seen).size).toBe(PODS)
    },
  )

  test('is whole, however long it takes, where no proxy waits', async () => {
    const { items } = await afterTheLimit(await open(LISTS[0]!, false))
    expect(items).toHaveLength(PODS)
  })
})

describe('an answer of which nothing has come in time', () => {
  test.each([
    LISTS[0]!,
    LISTS[3]!,
    `${FLEET_PREFIX}/api/v1/pods?withRemainingCount=true`,
    `${FLEET_PREFIX}/api/v1/pods/counts?groupBy=cluster`,
    '/apis/fleet.fleetglass.io/v1alpha1/findings',
  ])('is a 504: %s', async (path) => {
    const lock = await database.store.readers.connect()
    await lock.query('begin')
    await lock.query('lock table object in access exclusive mode')
    const answer = await open(path)
    const status = JSON.parse(await textOf(answer))
    await lock.query('rollback')
    lock.release()
    expect([answer.statusCode, status.reason]).toEqual([504, 'Timeout'])
  })
})
