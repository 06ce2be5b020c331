/** Every kubectl of this machine against discovery, OpenAPI, versions and self reviews. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { makeCertificates } from '../support/certificates.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type DocumentServer, documentServer, grant } from '../support/document-server.ts'
import { allKubectls, KubectlRunner } from '../support/kubectl.ts'
import {
  type MirroredType,
  mirrorCluster,
  recordedOpenApiDocuments,
  recordedTypes,
} from '../support/mirrored-clusters.ts'
import { until } from '../support/until.ts'

const FLEET = '/apis/clusterpedia.io/v1beta1/resources'
const folder = mkdtempSync(join(tmpdir(), 'fleetglass-documents-'))
const kubectls = allKubectls()

const DOT_01 = recordedTypes().filter(({ resource }) =>
  ['deployments', 'pods', 'nodes', 'widgets', 'horizontalpodautoscalers', 'events'].includes(
    resource,
  ),
)
const INGRESSES: MirroredType = {
  ...{ group: 'networking.k8s.io', resource: 'ingresses', kind: 'Ingress', namespaced: true },
  ...{ singularName: 'ingress', shortNames: ['ing'], categories: [] },
  versions: ['networking.k8s.io/v1beta1', 'extensions/v1beta1'],
}

let database: TestDatabase
let fleet: DocumentServer
let kubeconfig: string

beforeAll(async () => {
  database = await testDatabase()
  const openApi = recordedOpenApiDocuments()
  await mirrorCluster(database.store, {
    ...{ name: 'dot-01', gitVersion: 'v1.33.4', types: DOT_01, openApi },
  })
  await mirrorCluster(database.store, {
    ...{ name: 'dot-02', gitVersion: 'v1.21.14', types: [INGRESSES] },
  })
  await makeCertificates(folder)
  const [key, cert] = ['server.key', 'server.crt'].map((file) => readFileSync(join(folder, file)))
  fleet = await documentServer(database.store, { tls: { key: key!, cert: cert! } })
  fleet.setAccess([grant('jane', { clusters: ['dot-01'], namespaces: ['shop'] })])
  await until(() => fleet.access.rulesOf({ user: 'jane', groups: [] }).length > 0)
  await fleet.server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = fleet.server.server.address() as AddressInfo
  kubeconfig = await writeKubeconfig(`https://127.0.0.1:${port}`)
})

afterAll(async () => {
  await fleet.close()
  await database.drop()
  rmSync(folder, { recursive: true })
})

async function writeKubeconfig(root: string): Promise<string> {
  const servers = { root, clusterpedia: root + FLEET, 'dot-01': `${root}${FLEET}/clusters/dot-01` }
  const users = {
    admin: await fleet.token('admin', 'system:masters'),
    jane: await fleet.token('jane', 'devs'),
  }
  const path = join(folder, 'kubeconfig')
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'fleet' },
    clusters: Object.entries(servers).map(([name, server]) => ({
      name,
      cluster: { server, 'certificate-authority': join(folder, 'ca.crt') },
    })),
    users: Object.entries(users).map(([name, token]) => ({ name, user: { token } })),
    contexts: [{ name: 'fleet', context: { cluster: 'clusterpedia', user: 'admin' } }],
  }
  writeFileSync(path, stringify(config))
  return path
}

const POD_LOG = `${FLEET}/api/v1/namespaces/shop/pods/web-0/log`
const NOT_MIRRORED =
  'the server could not find the requested resource: pods/log is not mirrored, only objects are: ask the cluster itself'

describe.each(kubectls)('kubectl $version', (kubectl) => {
  let runner: KubectlRunner

  beforeAll(() => {
    runner = new KubectlRunner(kubectl, kubeconfig)
  })

  async function run(line: string): Promise<string> {
    const { exitCode, stdout, stderr } = await runner.run(line.split(' '))
    expect(stderr).toBe('')
    expect(exitCode).toBe(0)
    return stdout
  }

  /** `pods.` and `deployments.apps`, with the version kubectl prefers. */
  async function resources(flags: string): Promise<readonly string[]> {
    const text = await run(`api-resources --no-headers ${flags}`)
    return text
      .trim()
      .split('\n')
      .map((line) => /^(\S+).*?(\S+)\s+(?:true|false)\s/.exec(line)!)
      .map(([, name, version]) => `${name} ${version}`)
      .sort()
  }

  test('lists exactly what is mirrored of a member', async () => {
    expect(await resources('--cluster dot-01')).toEqual([
      'deployments apps/v1',
      'events events.k8s.io/v1',
      'events v1',
      'horizontalpodautoscalers autoscaling/v2',
      'nodes v1',
      'pods v1',
      'widgets widgets.example.com/v1alpha1',
    ])
  })

  test('lists the union for the fleet, and for a viewer what is theirs', async () => {
    const all = await resources('--cluster clusterpedia')
    expect(all).toContain('ingresses networking.k8s.io/v1beta1')
    expect(all).toContain('ingresses extensions/v1beta1')
    const jane = await resources('--cluster clusterpedia --user jane')
    expect(jane).toEqual(
      (await resources('--cluster dot-01')).filter((line) => line !== 'nodes v1'),
    )
  })

  test('finds our own groups at the root', async () => {
    expect(await resources('--cluster root')).toEqual([
      'collectionresources clusterpedia.io/v1beta1',
      'resources clusterpedia.io/v1beta1',
    ])
  })

  test('explains and gets what the root has of the mirror', async () => {
    expect(await run('--cluster root explain collectionresource.resourceTypes')).toContain(
      'API group; empty for the core group.',
    )
    expect(await run('--cluster root explain resources')).toContain('The whole fleet as one')
    const paths = (await run('--cluster root get resources')).trim().split(/\s+/)
    expect(paths).toEqual(expect.arrayContaining(['PATH', '/api/v1', '/apis/apps/v1']))
    const { items } = JSON.parse(await run('--cluster root get resources -o json'))
    expect(items).toMatchObject([{ kind: 'Resources', paths: paths.slice(1) }])
  })

  test('says of logs that they are not mirrored', async () => {
    const { exitCode, stderr } = await runner.run(['get', '--raw', POD_LOG])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(NOT_MIRRORED)])
  })

  test('says the version of a member, and of the newest for the fleet', async () => {
    for (const cluster of ['dot-01', 'clusterpedia', 'root']) {
      const { stdout } = await runner.run(['version', '-o', 'json', '--cluster', cluster])
      expect(JSON.parse(stdout).serverVersion.gitVersion).toBe('v1.33.4')
    }
  })

  test.each(['dot-01', 'clusterpedia'])('explains what is mirrored at %s', async (cluster) => {
    expect(await run(`--cluster ${cluster} explain widgets.spec`)).toContain('desired state')
    expect(await run(`--cluster ${cluster} explain deployments.spec.strategy`)).toContain(
      'rollingUpdate',
    )
    expect(await run(`--cluster ${cluster} explain hpa --api-version autoscaling/v1`)).toContain(
      'HorizontalPodAutoscaler',
    )
  })

  test('asks what may be done', async () => {
    expect(await run('auth can-i list pods')).toBe('yes\n')
    expect(await run('--user jane -n shop auth can-i list deployments.apps')).toBe('yes\n')
    expect((await runner.run(['auth', 'can-i', 'list', 'nodes'])).stdout).toBe('yes\n')
    expect((await runner.run('--user jane -n shop auth can-i list nodes'.split(' '))).stdout).toBe(
      'no\n',
    )
    const refused = await runner.run('--user jane -n web auth can-i list pods'.split(' '))
    expect([refused.exitCode, refused.stdout]).toEqual([1, 'no\n'])
    const never = await runner.run('-n shop auth can-i delete pods'.split(' '))
    expect(never.exitCode).toBe(1)
    expect(never.stdout).toContain('no - member clusters can only be read here')
  })

  test('lists what may be done', async () => {
    const rules = await run('--user jane -n shop auth can-i --list')
    expect(rules).toMatch(/^\*\.\*\s+\[\]\s+\[\]\s+\[get list watch\]$/m)
    expect(rules).toMatch(
      /^selfsubjectreviews\.authentication\.k8s\.io\s+\[\]\s+\[\]\s+\[create\]$/m,
    )
  })

  test('asks who they are', async () => {
    const who = await run('--user jane auth whoami')
    expect(who).toMatch(/Username\s+jane/)
    expect(who).toContain('devs')
  })

  test('asks whether all is well', async () => {
    expect(await run('get --raw /readyz')).toBe('ok')
    expect(await run('--cluster root get --raw /livez?verbose')).toContain('livez check passed')
  })
})
