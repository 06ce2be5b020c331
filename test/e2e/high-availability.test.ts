/**
 * Two API servers and two syncers as processes of their own, on a PostgreSQL with a standby: one
 * token is good at both, replacing them fails no request, and a failover restarts none of them.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createKeyring } from '../../src/keyring.ts'
import { FLEET_PREFIX } from '../../src/kube/fleet-prefix.ts'
import { kindOfResource } from '../../src/registration/kinds.ts'
import { createRegistrations } from '../../src/registration/registrations.ts'
import { connectStore } from '../../src/store/connect.ts'
import { migrate } from '../../src/store/migrate.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import {
  type PostgresServer,
  type Standby,
  startPostgres,
  startStandby,
} from '../support/postgres-server.ts'
import { CONFIG_MAPS } from '../support/resource-types.ts'
import { RunningFleetglass } from '../support/running-fleetglass.ts'
import { SwitchingProxy } from '../support/switching-proxy.ts'
import { until } from '../support/until.ts'

const PROGRAM = join(import.meta.dirname, '../../hack/fleetglass.mjs')
const LIST = `${FLEET_PREFIX}/api/v1/namespaces/default/configmaps`

let folder: string
let member: MemberCluster
let primary: PostgresServer
let standby: Standby
let database: SwitchingProxy
let balancer: SwitchingProxy
let servers: ApiServerProcess[]
let syncers: RunningFleetglass[]
let token: string

interface ApiServerProcess {
  readonly running: RunningFleetglass
  readonly port: number
}

const portOf = ({ url }: { readonly url: string }) => Number(new URL(url).port)
const flags = () => [
  ...['--database-url', `postgres://postgres@127.0.0.1:${database.port}/postgres`],
  ...['--encryption-key-file', join(folder, 'key')],
]

async function startServer(): Promise<ApiServerProcess> {
  const running = new RunningFleetglass([
    ...['apiserver', ...flags(), '--data-dir', join(folder, 'data'), '--listen', '127.0.0.1:0'],
    ...['--shutdown-delay-seconds', '2'],
  ])
  const said = await running.says(/is ready at .*\n/)
  return { running, port: Number(/127\.0\.0\.1:(\d+)/.exec(said)?.[1]) }
}

async function fleetglass(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...args, ...flags()])
  return stdout.trim()
}

const agent = new Agent({ keepAlive: true, maxSockets: 8, rejectUnauthorized: false })

interface Answer {
  readonly status: number
  readonly text: string
}

/** Status 0: there was no answer. */
function ask(port: number, path: string, through: Agent | false = false): Promise<Answer> {
  return new Promise((resolve) => {
    const failed = (error: Error) => resolve({ status: 0, text: error.message })
    const headers = { authorization: `Bearer ${token}` }
    const options = { host: '127.0.0.1', port, path, headers, rejectUnauthorized: false }
    request({ ...options, agent: through }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.on('error', failed)
    })
      .on('error', failed)
      .end()
  })
}

const put = (name: string) => member.put(CONFIG_MAPS, { metadata: { name, namespace: 'default' } })
const shows = (name: string) => async () =>
  (await ask(balancer.port, LIST)).text.includes(`"name":"${name}"`)

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetglass-ha-'))
  const key = randomBytes(32)
  writeFileSync(join(folder, 'key'), key.toString('base64'), { mode: 0o600 })
  member = await startMemberCluster()
  put('first')
  primary = await startPostgres('embedded')
  const store = await connectStore({ url: primary.url, applicationName: 'test' })
  await migrate(store)
  const registrations = createRegistrations({
    ...{ store, keyring: createKeyring(key), clock: systemClock },
  })
  const spec = { apiserver: member.url, syncResources: [{ group: '', resources: ['configmaps'] }] }
  const object = { apiVersion: 'cluster.clusterpedia.io/v1alpha2', kind: 'PediaCluster', spec }
  await registrations.create({
    kind: kindOfResource('cluster.clusterpedia.io', 'pediaclusters'),
    body: { text: JSON.stringify({ ...object, metadata: { name: 'dot-01' } }), format: 'json' },
    options: { fieldManager: 'test' },
  })
  await registrations.close()
  await store.close()
  standby = await startStandby(primary)
  database = await SwitchingProxy.start(portOf(primary))
  servers = [await startServer(), await startServer()]
  balancer = await SwitchingProxy.start(...servers.map(({ port }) => port))
  syncers = [1, 2].map(() => new RunningFleetglass(['syncer', ...flags()]))
  token = await fleetglass('token', 'create', '--name', 'reader', '--viewer')
  await until(shows('first'))
})
afterAll(async () => {
  for (const running of [...syncers, ...servers.map((server) => server.running)]) {
    if (running.child.exitCode === null) await running.kill('SIGKILL')
  }
  agent.destroy()
  balancer.stop()
  database.stop()
  await standby.stop()
  await primary.stop()
  await member.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('two API servers are replaced in turn under load, and no request fails', async () => {
  const answers: Answer[] = []
  const asking: Promise<unknown>[] = []
  const load = setInterval(() => {
    asking.push(ask(balancer.port, LIST, agent).then((answer) => answers.push(answer)))
  }, 20)
  for (const i of [0, 1]) {
    const [old, other] = [servers[i]!, servers[1 - i]!]
    const ended = old.running.kill('SIGTERM')
    // As a balancer does: work goes elsewhere once the server says that it is not ready.
    await until(async () => (await ask(old.port, '/readyz')).status === 500)
    balancer.switchTo(other.port)
    expect(await ended).toBe(0)
    servers[i] = await startServer()
    balancer.switchTo(...servers.map(({ port }) => port))
  }
  clearInterval(load)
  await Promise.all(asking)
  expect(answers.length).toBeGreaterThan(100)
  expect(answers.filter(({ status }) => status !== 200)).toEqual([])
})

test('a failover restarts none of them and loses nothing', async () => {
  database.switchTo()
  database.cut()
  put('meanwhile')
  await standby.promote()
  database.switchTo(portOf(standby))
  put('after')
  await until(shows('meanwhile'))
  await until(shows('after'))
  expect(await shows('first')()).toBe(true)
  for (const running of [...syncers, ...servers.map((server) => server.running)]) {
    expect(running.child.exitCode).toBeNull()
  }
})

test('a token is good at every API server, and worthless at every one soon after it is revoked', async () => {
  const ports = servers.map(({ port }) => port)
  const statuses = () => Promise.all(ports.map(async (port) => (await ask(port, LIST)).status))
  expect(await statuses()).toEqual([200, 200])
  await fleetglass('token', 'revoke', 'reader')
  await until(async () => (await statuses()).every((status) => status === 401))
})
