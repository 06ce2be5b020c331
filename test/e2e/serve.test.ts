/** `fleetglass serve` from its first start to its last: registering, resuming, recovering, stopping. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
} from 'vitest'
import { stringify } from 'yaml'
import { anyKubectl, KubectlRunner } from '../support/kubectl.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { CONFIG_MAPS } from '../support/resource-types.ts'
import { adminOf, processesWith, RunningFleetglass, serve } from '../support/running-fleetglass.ts'
import { until } from '../support/until.ts'

const HAS_KUBECTL = anyKubectl() !== undefined
const TOKEN = 'members-own-token'

let folder: string
let dataDir: string
let member: MemberCluster

beforeAll(async () => {
  member = await startMemberCluster({ tokens: { [TOKEN]: 'fleetglass' } })
  for (const name of ['first', 'second']) {
    member.put(CONFIG_MAPS, { metadata: { name, namespace: 'default' }, data: { a: '1' } })
  }
})
afterAll(() => member.stop())

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetglass-serve-'))
  chmodSync(folder, 0o711)
  dataDir = join(folder, 'data')
})
afterEach(async () => {
  for (const pid of processesWith(folder)) process.kill(pid, 'SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

function manifest(more: object = {}): string {
  return stringify({
    apiVersion: 'cluster.clusterpedia.io/v1alpha2',
    kind: 'PediaCluster',
    metadata: { name: 'one', labels: { env: 'test' } },
    spec: {
      apiserver: member.url,
      tokenData: Buffer.from(TOKEN).toString('base64'),
      syncResources: [{ group: '', resources: ['configmaps', 'namespaces'] }],
      ...more,
    },
  })
}

/** @throws with everything kubectl said when it fails. */
async function must(kubectl: KubectlRunner, line: string, input = ''): Promise<string> {
  const { exitCode, stdout, stderr } = await kubectl.paste(line, input)
  if (exitCode !== 0) throw new Error(`${line}: ${stderr}`)
  return stdout
}

async function register(kubectl: KubectlRunner): Promise<void> {
  await must(kubectl, 'kubectl apply -f -', manifest())
  await must(kubectl, 'kubectl wait --for=condition=Ready pediacluster/one --timeout=60s')
}

async function command(
  args: readonly string[],
): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
  const ended = new RunningFleetglass([...args, '--data-dir', dataDir])
  const exitCode = await ended.exited()
  return { exitCode, ...ended.output }
}

const NAMES = 'kubectl --cluster clusterpedia -n default get configmaps -o name'
const STORED = 'configmap/first\nconfigmap/second\n'

describe('stopping', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s: in order, with nothing left running',
    async (signal) => {
      const server = await serve(dataDir)
      expect(processesWith(dataDir).length).toBeGreaterThan(2)
      expect(await server.kill(signal)).toBe(0)
      expect(processesWith(dataDir)).toEqual([])
      expect(server.output.stderr).toBe('')
    },
    60_000,
  )

  test.skipIf(!HAS_KUBECTL)(
    'with a watch that is open: it ends, and so does the server',
    async () => {
      const server = await serve(dataDir)
      const admin = adminOf(dataDir)
      await must(admin, 'kubectl apply -f -', manifest())
      const watching = spawn(admin.kubectl.path, ['get', 'pediaclusters', '-w'], {
        env: admin.environment(),
      })
      await once(watching.stdout, 'data')
      expect(await server.kill('SIGTERM')).toBe(0)
      if (watching.exitCode === null) await once(watching, 'exit')
    },
    60_000,
  )
})

test.skipIf(!HAS_KUBECTL)(
  'metrics of the API server and of its syncer are on one page',
  async () => {
    const server = await serve(dataDir)
    const kubectl = adminOf(dataDir)
    await register(kubectl)
    const page = await must(kubectl, 'kubectl get --raw /metrics')
    expect(page).toContain('fleetglass_sync_relists_total{cluster="one",resource="configmaps"')
    expect(page).toContain('process_resident_memory_bytes')
    expect(
      page.split('\n').filter((line) => line.startsWith('# TYPE process_cpu_seconds_total')),
    ).toHaveLength(1)
    expect(await server.kill('SIGTERM')).toBe(0)
  },
  60_000,
)

describe('starting', () => {
  test('says one line, and where to go on', async () => {
    const server = await serve(dataDir)
    expect(server.output.stdout).toMatch(
      /^fleetglass is ready at https:\/\/127\.0\.0\.1:\d+ \(kubeconfig: .*\/data\/kubeconfig\)\n$/,
    )
    await server.kill('SIGTERM')
  })

  test('twice on one directory: the second is refused with a sentence, the first goes on', async () => {
    const first = await serve(dataDir)
    const second = new RunningFleetglass([
      'serve',
      '--data-dir',
      dataDir,
      '--listen',
      '127.0.0.1:0',
    ])
    expect(await second.exited()).toBe(1)
    expect(second.output.stderr).toMatch(
      /^error: \S+ is in use by a fleetglass that is running \(process \d+\)\n$/,
    )
    expect(first.child.exitCode).toBeNull()
    await first.kill('SIGTERM')
  })

  test('on an address that is taken: a sentence, and nothing is left running', async () => {
    const first = await serve(dataDir)
    const [, address = ''] = /https:\/\/(\S+)/.exec(first.output.stdout) ?? []
    const other = join(folder, 'other')
    const second = new RunningFleetglass(['serve', '--data-dir', other, '--listen', address])
    expect(await second.exited()).toBe(1)
    expect(second.output.stderr).toBe(
      `error: cannot listen on ${address}: something else listens there; give another --listen\n`,
    )
    expect(processesWith(other)).toEqual([])
    await first.kill('SIGTERM')
  })
})

describe.skipIf(!HAS_KUBECTL)('resuming', () => {
  test('what was mirrored is there at once, and members are not listed again', async () => {
    const first = await serve(dataDir)
    await register(adminOf(dataDir))
    await first.kill('SIGTERM')
    member.put(CONFIG_MAPS, { metadata: { name: 'meanwhile', namespace: 'default' } })
    onTestFinished(() => void member.remove(CONFIG_MAPS, 'default', 'meanwhile'))
    // A list of one object only asks for the member's revision.
    const lists = () =>
      member
        .requests({ of: CONFIG_MAPS, kind: 'list' })
        .filter(({ query }) => query.get('limit') !== '1').length
    const listsBefore = lists()
    const second = await serve(dataDir, ['--continue-tokens', 'on-request'])
    const kubectl = adminOf(dataDir)
    expect(await must(kubectl, NAMES)).toContain(STORED.slice(0, 15))
    await until(async () => (await must(kubectl, NAMES)).includes('configmap/meanwhile'))
    expect(lists()).toBe(listsBefore)
    const page = await must(kubectl, `${NAMES} --chunk-size=2`)
    expect(page.trim().split('\n'), 'the first page is all that was asked for').toHaveLength(2)
    await second.kill('SIGTERM')
  })

  test('after kill -9: the syncer ends by itself, the orphaned database is taken in hand', async () => {
    const first = await serve(dataDir)
    await register(adminOf(dataDir))
    await first.kill('SIGKILL')
    // What is left is the database: its data folder is on its command line.
    await until(() => processesWith(dataDir).every((pid) => isPostgres(pid)))
    const second = await serve(dataDir)
    expect(await must(adminOf(dataDir), NAMES)).toBe(STORED)
    await second.kill('SIGTERM')
    expect(processesWith(dataDir)).toEqual([])
  })

  test('a syncer that dies is started again', async () => {
    const server = await serve(dataDir)
    const kubectl = adminOf(dataDir)
    await register(kubectl)
    const syncer = () =>
      processesWith(dataDir).find((pid) => commandLineOf(pid).endsWith(' syncer'))
    const killed = syncer()!
    process.kill(killed, 'SIGKILL')
    await until(() => syncer() !== undefined && syncer() !== killed)
    member.put(CONFIG_MAPS, { metadata: { name: 'later', namespace: 'default' } })
    onTestFinished(() => void member.remove(CONFIG_MAPS, 'default', 'later'))
    await until(async () => (await must(kubectl, NAMES)).includes('configmap/later'))
    await server.kill('SIGTERM')
  })
})

describe.skipIf(!HAS_KUBECTL)('a PediaCluster with kubectl', () => {
  let server: RunningFleetglass
  let kubectl: KubectlRunner
  let shared: string
  beforeAll(async () => {
    shared = mkdtempSync(join(tmpdir(), 'fleetglass-serve-'))
    chmodSync(shared, 0o711)
    server = await serve(shared)
    kubectl = adminOf(shared)
  })
  beforeEach(() => {
    dataDir = shared
  })
  afterEach(() => must(kubectl, 'kubectl delete pediaclusters,clustersyncresources --all'))
  afterAll(async () => {
    await server.kill('SIGTERM')
    rmSync(shared, { recursive: true })
  })

  test('apply, diff, apply again, server-side apply, patch, label, edit, wait, delete', async () => {
    expect(await must(kubectl, 'kubectl apply -f -', manifest())).toMatch(/one created\n$/)
    // It holds a secret, which is not served, so kubectl cannot know that it is the same.
    expect(await must(kubectl, 'kubectl apply -f -', manifest())).toMatch(/one configured\n$/)
    const generation = "kubectl get pediacluster one -o jsonpath='{.metadata.generation}'"
    expect(await must(kubectl, generation)).toBe('1')
    const template = stringify({
      apiVersion: 'cluster.clusterpedia.io/v1alpha2',
      kind: 'ClusterSyncResources',
      metadata: { name: 'workloads' },
      spec: { syncResources: [{ group: 'apps', resources: ['*'] }] },
    })
    expect(await must(kubectl, 'kubectl apply -f -', template)).toMatch(/workloads created\n$/)
    expect(await must(kubectl, 'kubectl apply -f -', template)).toMatch(/workloads unchanged\n$/)
    expect(await must(kubectl, 'kubectl diff -f -', manifest())).toBe('')
    const changed = manifest({ syncResources: [{ group: '', resources: ['*'] }] })
    const diff = await kubectl.paste('kubectl diff -f -', changed)
    expect(diff.exitCode).toBe(1)
    expect(diff.stdout).toMatch(/^-\s+- configmaps$/m)
    expect(await must(kubectl, 'kubectl apply -f -', changed)).toMatch(/one configured\n$/)
    await must(kubectl, 'kubectl apply --server-side --force-conflicts -f -', manifest())
    await must(
      kubectl,
      `kubectl patch pediacluster one --type=merge -p '{"metadata":{"labels":{"env":"prod"}}}'`,
    )
    await must(kubectl, 'kubectl label pediacluster one team=a')
    expect(await must(kubectl, 'kubectl get pediacluster one --show-labels')).toContain(
      'env=prod,team=a',
    )
    await must(kubectl, 'EDITOR="sed -i s/prod/edge/" kubectl edit pediacluster one')
    await must(kubectl, 'kubectl wait --for=condition=Ready pediacluster/one --timeout=60s')
    expect(await must(kubectl, NAMES)).toBe(STORED)
    const selected = `${NAMES} -l search.clusterpedia.io/cluster-label.env=edge`
    expect(await must(kubectl, selected)).toBe(STORED)
    expect(await must(kubectl, 'kubectl delete pediacluster one')).toMatch(/"one" deleted/)
    expect((await kubectl.paste('kubectl --cluster clusterpedia get configmaps -A')).stdout).toBe(
      '',
    )
  })

  test('get -w shows how it comes in step', async () => {
    const seen = join(shared, 'watched')
    const watching = kubectl.paste(`timeout 60 kubectl get pediaclusters -w >${seen} &
      trap "kill $!" EXIT; timeout 60 sh -c 'until grep -q True ${seen}; do sleep 0.1; done'`)
    await until(() => existsSync(seen))
    await register(kubectl)
    await watching
    expect(readFileSync(seen, 'utf8')).toMatch(
      /^NAME +READY +VERSION +APISERVER\n(.*\n)*one +True +v1\.33\.1 +http:/,
    )
  })

  test('a manifest with a mistake is refused with the name of the field, by every kind of apply', async () => {
    const wrong = manifest({ syncResources: [{ group: '', resources: [] }], apiServer: 'x' })
    const refused = await kubectl.paste('kubectl apply -f -', wrong)
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain('apiServer')
    const invalid = manifest({ syncResources: [{ group: '', resources: [] }] })
    const applied = await kubectl.paste('kubectl apply --server-side -f -', invalid)
    expect(applied.exitCode).toBe(1)
    expect(applied.stderr).toContain('spec.syncResources[0].resources')
    expect(await must(kubectl, 'kubectl get pediaclusters -o name')).toBe('')
  })

  test('a type that is not asked for is not there', async () => {
    await register(kubectl)
    const { stderr } = await kubectl.paste('kubectl --cluster clusterpedia get pods')
    expect(stderr).toBe(`error: the server doesn't have a resource type "pods"\n`)
  })

  test('its credentials are shown to nobody', async () => {
    await register(kubectl)
    const secret = Buffer.from(TOKEN).toString('base64')
    for (const format of ['yaml', 'json']) {
      const shown = await must(kubectl, `kubectl get pediacluster one -o ${format}`)
      expect(shown).not.toContain(secret)
    }
    expect(server.output.stderr).not.toContain(TOKEN)
  })

  test('hack/gen-clusterconfigs.sh adds an entry for the fleet and each cluster', async () => {
    await register(kubectl)
    const own = join(folder, 'kubeconfig')
    writeFileSync(own, readFileSync(join(dataDir, 'kubeconfig')))
    const other = new KubectlRunner(anyKubectl()!, own)
    await must(other, 'kubectl config delete-cluster clusterpedia')
    await must(other, 'kubectl config set-cluster one --server=https://elsewhere.example')
    const script = join(import.meta.dirname, '../../hack/gen-clusterconfigs.sh')
    const first = await other.paste(`sh ${script}`)
    expect(first.stdout).toBe('cluster "clusterpedia" is set\n')
    expect(first.stderr).toContain(
      'cluster "one" is left as it is: it points at https://elsewhere.example',
    )
    await must(other, 'kubectl config delete-cluster one')
    expect(await must(other, `sh ${script}`)).toBe(
      'cluster "clusterpedia" is set\ncluster "one" is set\n',
    )
    expect(await must(other, 'kubectl --cluster one -n default get configmaps -o name')).toBe(
      STORED,
    )
    await must(other, 'kubectl config set contexts.fleetglass.cluster one')
    expect(await must(other, `sh ${script}`)).toContain('cluster "one" is set\n')
    // A kubectl that starts another one, and leaves it nothing on standard input.
    const starter = join(folder, 'starter')
    mkdirSync(starter)
    const start = `#!/bin/sh\nexec "${anyKubectl()!.path}" "$@" </dev/null\n`
    writeFileSync(join(starter, 'kubectl'), start, { mode: 0o755 })
    expect(await must(other, `PATH="${starter}:$PATH" sh ${script}`)).toContain(
      'cluster "one" is set\n',
    )
  })

  test('a viewer sees what their token is for, until it is revoked', async () => {
    await register(kubectl)
    const config = join(folder, 'viewer')
    const flags = ['--name', 'vera', '--viewer', '--clusters', 'o*', '--namespaces', 'default']
    const made = await command(['token', 'create', ...flags, '--kubeconfig', config])
    expect(made.stdout).toMatch(/^fgt_\S+\n$/)
    const viewer = new KubectlRunner(anyKubectl()!, config)
    await until(async () => (await viewer.paste(NAMES)).stdout === STORED)
    expect(
      (await viewer.paste('kubectl --cluster clusterpedia get configmaps -n kube-system')).stderr,
    ).toContain('Forbidden')
    expect((await viewer.paste('kubectl delete pediacluster one')).stderr).toContain('Forbidden')
    expect((await command(['token', 'list'])).stdout).toMatch(
      /^NAME +STATE +CREATED +EXPIRES\nvera +good +\S+:\d\dZ +\S+:\d\dZ\n/,
    )
    expect(await command(['token', 'create', ...flags])).toMatchObject({
      exitCode: 1,
      stderr:
        'error: there is already a token named "vera": choose another name, or revoke it first\n',
    })
    expect((await command(['token', 'revoke', 'vera'])).exitCode).toBe(0)
    await until(async () => (await viewer.paste(NAMES)).stderr.includes('Unauthorized'))
    expect(await must(kubectl, 'kubectl get fleetaccesses -o name')).toBe('')
  })
})

test('a token whose kubeconfig cannot be written is not made', async () => {
  const server = await serve(dataDir)
  await server.says('fleetglass is ready')
  const files = [
    { path: join(folder, 'missing/viewer'), why: 'no such file or directory' },
    { path: folder, why: 'it is a directory' },
  ]
  for (const { path, why } of files) {
    const flags = ['--name', 'vera', '--viewer', '--kubeconfig', path]
    expect(await command(['token', 'create', ...flags])).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `error: cannot write ${path}: ${why}\n`,
    })
  }
  expect((await command(['token', 'list'])).stdout.trim().split('\n')).toHaveLength(1)
})

describe('backup and restore', () => {
  test.skipIf(!HAS_KUBECTL)(
    'a backup brings registrations, rights, tokens and credentials to another directory',
    async () => {
      const server = await serve(dataDir)
      await register(adminOf(dataDir))
      const { stdout } = await command(['token', 'create', '--name', 'vera', '--viewer'])
      const file = join(folder, 'backup.json')
      expect(await command(['backup', '--out', file])).toMatchObject({
        exitCode: 0,
        stdout: expect.stringMatching(/^\d+ objects and 1 token and the encryption key are in /),
      })
      expect(statSync(file).mode & 0o777).toBe(0o600)
      const again = await command(['backup', '--out', file])
      expect(again).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('not overwritten'),
      })
      const refused = await command(['restore', file])
      expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('already') })
      await server.kill('SIGTERM')
      dataDir = join(folder, 'restored')
      expect(await command(['restore', file])).toMatchObject({ exitCode: 0 })
      const next = await serve(dataDir)
      const restored = adminOf(dataDir)
      await must(restored, 'kubectl wait --for=condition=Ready pediacluster/one --timeout=60s')
      expect(await must(restored, NAMES)).toBe(STORED)
      expect(await must(restored, `${NAMES} --token ${stdout.trim()}`)).toBe(STORED)
      await next.kill('SIGTERM')
    },
    90_000,
  )

  test.each([
    { name: 'no JSON', text: 'hello', says: 'it is not a backup of fleetglass' },
    { name: 'other JSON', text: '{"kind":"List"}', says: 'it is not a backup of fleetglass' },
    {
      name: 'half a backup',
      text: '{"kind":"fleetglass backup","format":1}',
      says: 'it is damaged',
    },
    {
      name: 'one of the future',
      text: '{"kind":"fleetglass backup","format":9}',
      says: 'its format 9',
    },
  ])(
    'a file that is $name restores nothing',
    async ({ text, says }) => {
      const file = join(folder, 'file')
      writeFileSync(file, text)
      const { exitCode, stderr } = await command(['restore', file])
      expect(exitCode).toBe(1)
      expect(stderr).toContain(`error: nothing was restored from ${file}: ${says}`)
    },
    60_000,
  )
})

describe.skipIf(!HAS_KUBECTL)('--import-kubeconfig', () => {
  /** Prints what an exec plugin prints: a credential that is good for a while. */
  function writePlugin(): string {
    const path = join(folder, 'plugin')
    const status = { token: TOKEN }
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status,
    }
    writeFileSync(path, `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`, { mode: 0o755 })
    return path
  }

  function writeImported(contexts: readonly string[]): string {
    const path = join(folder, 'members.yaml')
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: writePlugin(),
      interactiveMode: 'Never',
    }
    const text = stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: member.url } }],
      users: [{ name: 'u', user: { exec } }],
      contexts: contexts.map((name) => ({ name, context: { cluster: 'c', user: 'u' } })),
    })
    writeFileSync(path, text)
    return path
  }

  test('makes a cluster of each context, with its exec plugin', async () => {
    const file = writeImported(['admin@Prod:eu/1', 'other'])
    const server = await serve(dataDir, [
      '--import-kubeconfig',
      file,
      '--context',
      'admin@Prod:eu/1',
    ])
    const kubectl = adminOf(dataDir)
    expect(await must(kubectl, 'kubectl get pediaclusters -o name')).toBe(
      'pediacluster.cluster.clusterpedia.io/admin-prod-eu-1\n',
    )
    await must(kubectl, 'kubectl wait --for=condition=Ready pediaclusters --all --timeout=60s')
    expect(await must(kubectl, NAMES)).toContain(STORED.split('\n')[0]!)
    await server.kill('SIGTERM')
    const next = await serve(dataDir, ['--import-kubeconfig', file, '--context', 'other'])
    expect(await must(kubectl, 'kubectl get pediaclusters -o name', '')).toBe(
      'pediacluster.cluster.clusterpedia.io/other\n',
    )
    await next.kill('SIGTERM')
  })

  test.each([
    {
      name: 'a context that is not there',
      args: ['--context', 'none'],
      says: 'has no context "none"',
    },
    {
      name: 'two that would be one cluster',
      args: ['--context', 'a_b,a.b,a-b'],
      says: 'would both be the cluster a-b',
    },
  ])(
    '$name is refused before anything starts',
    async ({ args, says }) => {
      const file = writeImported(['a_b', 'a.b', 'a-b'])
      const ended = await command(['serve', '--import-kubeconfig', file, ...args])
      expect(ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(says) })
    },
    30_000,
  )
})

function commandLineOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
}

function isPostgres(pid: number): boolean {
  return /postgres/.test(commandLineOf(pid))
}
