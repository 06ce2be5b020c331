/**
 * `fleetglass apiserver` and two `fleetglass syncer` of a management cluster, as processes: started
 * while it is away, stopped while they lead.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PediaCluster } from '../../src/kube/pedia-cluster.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import {
  type ManagementCluster,
  NAMESPACE,
  startManagementCluster,
} from '../support/management/management-cluster.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { until } from '../support/until.ts'
import { CLUSTERS, pediaCluster } from './managed-fleet.ts'

const PROGRAM = join(import.meta.dirname, '../../src/main.ts')
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/fleetglass-controllers`
const PATIENCE = 30_000
const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })

/** One process, and where it answers. */
interface Running {
  readonly child: ChildProcess
  readonly output: { text: string }
}

const started = new AsyncDisposableStack()
let cluster: ManagementCluster
let database: TestDatabase
let member: MemberCluster
let apiserver: Running
let first: Running
let second: Running

beforeAll(async () => {
  cluster = await startManagementCluster()
  started.defer(() => cluster.stop())
  database = await testDatabase()
  started.defer(() => database.drop())
  member = await startMemberCluster()
  started.defer(() => member.stop())
  writeFileSync(join(cluster.folder, 'key'), randomBytes(32).toString('base64'))
  await cluster.goDown()
  apiserver = run(['apiserver', '--listen=127.0.0.1:0', `--data-dir=${cluster.folder}/data`])
  first = run(['syncer', '--metrics-listen=127.0.0.1:0'])
  second = run(['syncer', '--metrics-listen=127.0.0.1:0'])
}, 120_000)

afterAll(async () => {
  await started.disposeAsync()
  await dispatcher.close()
})

function run([command, ...flags]: readonly string[]): Running {
  const args = [PROGRAM, command!, '--registrations=management', ...flags]
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      FLEETGLASS_DATABASE_URL: database.url,
      FLEETGLASS_ENCRYPTION_KEY_FILE: join(cluster.folder, 'key'),
      FLEETGLASS_KUBECONFIG: cluster.kubeconfig,
      FLEETGLASS_LOG_LEVEL: 'info',
    },
  })
  const output = { text: '' }
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output.text += chunk
    })
  }
  const running = { child, output }
  started.defer(() => end(running, 'SIGKILL'))
  return running
}

async function end({ child }: Running, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}

/** Where it answers, once it says so. */
async function address({ output }: Running): Promise<string> {
  const found = () =>
    /ready at (https:\S+)/.exec(output.text)?.[1] ??
    /"port":(\d+),"msg":"metrics are served"/.exec(output.text)?.[1]
  await until(() => found() !== undefined, PATIENCE)
  return found()!.startsWith('https') ? found()! : `http://127.0.0.1:${found()}`
}

async function ask(running: Running, path: string): Promise<readonly [number, string]> {
  const { statusCode, body } = await request(`${await address(running)}${path}`, { dispatcher })
  return [statusCode, await body.text()]
}

async function holder(): Promise<string> {
  const { body } = await cluster.admin.request('GET', LEASE)
  return (body as { spec: { holderIdentity: string } }).spec.holderIdentity
}

async function ready(name: string): Promise<void> {
  const condition = async () => {
    const { body } = await cluster.admin.request('GET', `${CLUSTERS}/${name}`)
    return (body as PediaCluster).status?.conditions?.find(({ type }) => type === 'Ready')?.status
  }
  await until(async () => (await condition()) === 'True', PATIENCE)
}

const register = (name: string) =>
  cluster.admin.request('POST', CLUSTERS, { body: pediaCluster(name, { apiserver: member.url }) })

describe('processes of a management cluster', () => {
  test('start while it is away, are not ready, and say why', { timeout: 60_000 }, async () => {
    for (const syncer of [first, second]) {
      await until(async () => (await ask(syncer, '/readyz'))[1].includes('refused'), PATIENCE)
      expect(await ask(syncer, '/readyz')).toEqual([
        500,
        'the management API server: connection refused',
      ])
      expect(await ask(syncer, '/livez')).toEqual([200, 'ok'])
    }
    await until(async () => (await ask(apiserver, '/readyz'))[1].includes('refused'), PATIENCE)
    const [code, text] = await ask(apiserver, '/readyz')
    expect(code).toBe(500)
    expect(text).toContain(
      '[-]management-cluster failed: the management API server: connection refused',
    )
    expect((await ask(apiserver, '/livez'))[0]).toBe(200)
  })

  test('recover by themselves, and sync what is registered', { timeout: 60_000 }, async () => {
    await cluster.comeBack()
    for (const syncer of [first, second]) {
      await until(async () => (await ask(syncer, '/readyz'))[0] === 200, PATIENCE)
    }
    await register('dot-01')
    await ready('dot-01')
    const [, metrics] = await ask(first, '/metrics')
    expect(metrics).toContain('fleetglass_')
  })

  test('the other one leads when the leader stops', { timeout: 60_000 }, async () => {
    const leader = await holder()
    const leads = ({ child }: Running) => leader.includes(`/${child.pid}/`)
    const [leading, other] = leads(first) ? [first, second] : [second, first]
    expect(leads(leading)).toBe(true)
    await end(leading, 'SIGTERM')
    await until(async () => (await holder()).includes(`/${other.child.pid}/`), PATIENCE)
    await register('dot-02')
    await ready('dot-02')
  })
})
