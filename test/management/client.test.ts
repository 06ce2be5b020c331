/** The client of the management cluster: how it is reached, what it answers, what it follows. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createLogger } from '../../src/log.ts'
import {
  accessFromKubeconfigFile,
  accessFromServiceAccount,
  type ManagementAccess,
} from '../../src/management/access.ts'
import { createManagementClient } from '../../src/management/client.ts'
import { followObjects } from '../../src/management/follow-objects.ts'
import { ManagementError } from '../../src/management/management-error.ts'
import { watchReachability } from '../../src/management/reachability.ts'
import { makeCertificates } from '../support/certificates.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { until } from '../support/until.ts'

const CONFIG_MAPS = { group: '', resource: 'configmaps' }
const LOG = createLogger('silent')
const QUICK = { firstBackoffMilliseconds: 5, mostBackoffMilliseconds: 20 }

const started = new AsyncDisposableStack()
const folder = mkdtempSync(join(tmpdir(), 'fleetglass-management-'))
let cluster: MemberCluster

beforeAll(async () => {
  await makeCertificates(folder)
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  cluster = await startMemberCluster({
    tls: { cert: read('server.crt'), key: read('server.key'), clientCa: read('ca.crt') },
    tokens: { first: 'fleetglass' },
  })
})

afterEach(() => {
  cluster.server.tokens.set('first', 'fleetglass')
})

afterAll(async () => {
  await started.disposeAsync()
  await cluster.stop()
  rmSync(folder, { recursive: true })
})

function clientOf(access: ManagementAccess) {
  const client = createManagementClient(access, { userAgent: 'fleetglass/test' })
  started.defer(() => client.close())
  return client
}

function serviceAccount(token: string): { access: ManagementAccess; directory: string } {
  const directory = mkdtempSync(join(folder, 'account-'))
  writeFileSync(join(directory, 'token'), token)
  writeFileSync(join(directory, 'ca.crt'), readFileSync(join(folder, 'ca.crt')))
  writeFileSync(join(directory, 'namespace'), 'fleet\n')
  const { hostname: host, port } = new URL(cluster.url)
  return { access: accessFromServiceAccount({ host, port, directory }), directory }
}

describe('in a pod', () => {
  test('the token, the CA and the namespace of the service account are used', async () => {
    const client = clientOf(serviceAccount('first').access)
    const { status, body } = await client.request('GET', '/version')
    expect(status).toBe(200)
    expect(body).toMatchObject({ gitVersion: 'v1.33.1' })
    expect(client.namespace).toBe('fleet')
  })

  test('a token that was renewed is read again when the old one is refused', async () => {
    const { access, directory } = serviceAccount('first')
    const client = clientOf(access)
    await client.request('GET', '/api/v1/namespaces')
    cluster.server.tokens.delete('first')
    cluster.server.tokens.set('second', 'fleetglass')
    writeFileSync(join(directory, 'token'), 'second')
    const { body } = await client.request('GET', '/api/v1/namespaces')
    expect(body).toMatchObject({ kind: 'NamespaceList' })
  })

  test.each(['token', 'ca.crt'])('a missing %s is told by name', (file) => {
    const { directory } = serviceAccount('first')
    rmSync(join(directory, file))
    expect(() => accessFromServiceAccount({ host: '::1', port: '443', directory })).toThrow(
      `the service account${file === 'token' ? '' : '.certificate-authority'}: cannot read ${join(directory, file)}`,
    )
  })

  test('an IPv6 address is put in brackets', () => {
    const { directory } = serviceAccount('first')
    const { member } = accessFromServiceAccount({ host: 'fd00::1', port: '443', directory })
    expect(member.server.href).toBe('https://[fd00::1]/')
  })
})

describe('with a kubeconfig', () => {
  function kubeconfig(user: object): string {
    const path = join(mkdtempSync(join(folder, 'kubeconfig-')), 'config')
    mkdirSync(join(path, '../pki'))
    writeFileSync(join(path, '../pki/ca.crt'), readFileSync(join(folder, 'ca.crt')))
    const of = { cluster: 'management', user: 'us', namespace: 'ops' }
    const server = { server: cluster.url, 'certificate-authority': 'pki/ca.crt' }
    const content = {
      'current-context': 'here',
      contexts: [{ name: 'here', context: of }],
      clusters: [{ name: 'management', cluster: server }],
      users: [{ name: 'us', user }],
    }
    writeFileSync(path, JSON.stringify(content))
    return path
  }

  test('paths are relative to it, and its context says the namespace', async () => {
    const client = clientOf(accessFromKubeconfigFile(kubeconfig({ token: 'first' })))
    await expect(client.request('GET', '/api')).resolves.toMatchObject({ status: 200 })
    expect(client.namespace).toBe('ops')
  })

  test('an exec plugin is run', async () => {
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'first' },
    }
    const exec = {
      apiVersion: credential.apiVersion,
      command: 'echo',
      args: [JSON.stringify(credential)],
      interactiveMode: 'Never',
    }
    const client = clientOf(accessFromKubeconfigFile(kubeconfig({ exec })))
    await expect(client.request('GET', '/api')).resolves.toMatchObject({ status: 200 })
  })

  test('one that is not there is told by its path', () => {
    expect(() => accessFromKubeconfigFile(join(folder, 'none'))).toThrow(
      `--kubeconfig: cannot read ${join(folder, 'none')}`,
    )
  })
})

describe('an answer that is no success', () => {
  test('has the reason, the code and the words of its Status', async () => {
    const client = clientOf(serviceAccount('first').access)
    const asked = client.request('GET', '/api/v1/namespaces/default/secrets/none')
    await expect(asked).rejects.toThrow(ManagementError)
    await expect(asked).rejects.toMatchObject({
      code: 404,
      reason: 'NotFound',
      message: 'secrets "none" not found',
      details: { name: 'none', kind: 'secrets' },
      isTemporary: false,
    })
  })

  test('that is no Status has its first words', async () => {
    const client = clientOf(serviceAccount('first').access)
    const stop = cluster.server.intercept(({ response }) => {
      response.writeHead(502, { 'retry-after': '3' }).end('Bad Gateway\n')
      return true
    })
    const asked = client.request('GET', '/api')
    await asked.catch(stop)
    await expect(asked).rejects.toMatchObject({
      code: 502,
      reason: 'HTTP502',
      message: 'Bad Gateway',
      retryAfterSeconds: 3,
      isTemporary: true,
    })
  })

  test('no answer at all says why', async () => {
    const client = clientOf(serviceAccount('first').access)
    await cluster.goDown()
    const asked = client.request('GET', '/api')
    await expect(asked).rejects.toMatchObject({
      code: undefined,
      reason: 'NotReachable',
      message: 'the management API server: connection refused',
      isTemporary: true,
    })
    await cluster.comeBack()
    await expect(client.request('GET', '/api')).resolves.toMatchObject({ status: 200 })
  })
})

describe('followed objects', () => {
  function follow(query?: Readonly<Record<string, string>>) {
    const client = clientOf(serviceAccount('first').access)
    const followed = followObjects({
      client,
      path: '/api/v1/namespaces/kube-system/configmaps',
      resource: 'configmaps',
      ...(query && { query }),
      changed: () => undefined,
      clock: systemClock,
      log: LOG,
      limits: QUICK,
    })
    started.defer(() => followed.stop())
    return followed
  }
  const names = (followed: ReturnType<typeof follow>) => [...(followed.objects?.keys() ?? [])]

  test('are listed, and kept as they change', async () => {
    put('one', { a: '1' })
    const followed = follow()
    expect(followed.trouble).toBe('configmaps were not listed yet')
    await until(() => followed.trouble === undefined)
    expect(names(followed)).toEqual(['kube-system/one'])
    await cluster.watched(CONFIG_MAPS)
    put('two', {})
    put('one', { a: '2' })
    await until(() => names(followed).length === 2)
    await until(() => JSON.stringify(followed.objects?.get('kube-system/one')).includes('"a":"2"'))
    cluster.remove(CONFIG_MAPS, 'kube-system', 'one')
    await until(() => names(followed).length === 1)
    await followed.stop()
  })

  test('are those that the selector names', async () => {
    put('wanted', {})
    put('other', {})
    const followed = follow({ fieldSelector: 'metadata.name=wanted' })
    await until(() => followed.objects !== undefined)
    await cluster.watched(CONFIG_MAPS)
    put('third', {})
    put('wanted', { b: '1' })
    await until(() => JSON.stringify(followed.objects?.get('kube-system/wanted')).includes('"b"'))
    expect(names(followed)).toEqual(['kube-system/wanted'])
    await followed.stop()
  })

  test('stay known while the server is away, with why they may be old', async () => {
    put('kept', {})
    const followed = follow({ fieldSelector: 'metadata.name=kept' })
    await until(() => followed.trouble === undefined)
    await cluster.goDown()
    await until(() => followed.trouble === 'configmaps: connection refused')
    expect(names(followed)).toEqual(['kube-system/kept'])
    await cluster.comeBack()
    await until(() => followed.trouble === undefined)
    await followed.stop()
  })

  function put(name: string, data: object): void {
    cluster.put(CONFIG_MAPS, { metadata: { namespace: 'kube-system', name }, data })
  }
})

test('whether the server answers is known, and why it does not', async () => {
  const client = clientOf(serviceAccount('first').access)
  const clock = new ManualClock()
  const reachability = watchReachability(client, { clock, log: LOG })
  expect(reachability.trouble).toBe('the management API server was not asked yet')
  await until(() => reachability.trouble === undefined)
  await cluster.goDown()
  await clock.advance(10_000)
  await until(() => reachability.trouble !== undefined)
  expect(reachability.trouble).toBe('the management API server: connection refused')
  await cluster.comeBack()
  await clock.advance(2_000)
  await until(() => reachability.trouble === undefined)
  await reachability.stop()
})
