/** The demo as a newcomer meets it, and the users' own walk-through, with every kubectl there is. */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { DEMO_COMMANDS } from '../../src/cli/demo/guide.ts'
import { allKubectls, KubectlRunner } from '../support/kubectl.ts'
import { processesWith, RunningFleetglass } from '../support/running-fleetglass.ts'

const KUBECTLS = allKubectls()
const START_WITHIN_SECONDS = 60

let folder: string
let kubeconfig: string
let demo: RunningFleetglass

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetglass-demo-'))
  // So that the database's user can reach it, and its files go with it.
  chmodSync(folder, 0o711)
  demo = new RunningFleetglass(['demo', '--data-dir', folder, '--listen', '127.0.0.1:0'])
  await demo.says('Ctrl-C stops everything.')
  kubeconfig = join(folder, 'kubeconfig')
}, START_WITHIN_SECONDS * 1000)

afterAll(async () => {
  await demo.kill('SIGTERM')
  rmSync(folder, { recursive: true })
})

describe('what the demo prints', () => {
  test('says how far each cluster is, until all are in step', () => {
    for (const name of ['dot-01', 'dot-02', 'dot-03', 'dot-04']) {
      expect(demo.output.stderr).toMatch(
        new RegExp(`${name}: in step, v1\\.\\d+\\.\\d+, \\d+ resources`),
      )
    }
  })

  test('names the kubeconfig, and nothing but what is to be read', () => {
    expect(demo.output.stdout).toContain(`export KUBECONFIG=${kubeconfig}\n`)
    expect(demo.output.stderr).not.toMatch(/warn|deprecat|\{"level"/i)
  })

  test('has a kubeconfig entry for the fleet and each cluster', () => {
    const { clusters } = parse(readFileSync(kubeconfig, 'utf8'))
    const names = clusters.map(({ name }: { name: string }) => name)
    expect(names).toEqual(['fleetglass', 'clusterpedia', 'dot-01', 'dot-02', 'dot-03', 'dot-04'])
  })
})

interface Line {
  readonly line: string
  /** Of the whole output, lines in order. */
  readonly shows?: RegExp
  readonly says?: RegExp
  readonly exitCode?: number
}

const WALK_THROUGH: readonly Line[] = [
  {
    line: 'kubectl --cluster clusterpedia get deployments -A',
    shows:
      /^NAMESPACE {2,}CLUSTER {2,}NAME {2,}READY {3}UP-TO-DATE {3}AVAILABLE {3}AGE\na-team {2,}dot-01 {2,}silly-demo {2,}2\/2 {5}2 {12}2 {11}\d+m\n/,
  },
  {
    line: 'kubectl --cluster clusterpedia -n a-team get pods --field-selector="status.phase notin (Running)"',
    shows: /^CLUSTER {2,}NAME {2,}READY {3}STATUS {2,}RESTARTS {2,}AGE\n(?!(.*\n)*.* Running )/,
  },
  {
    line: 'kubectl --cluster clusterpedia -n a-team get deployments -l "search.clusterpedia.io/names=silly-demo"',
    shows: /^CLUSTER {3}NAME .*\n(dot-0[1-4] {4}silly-demo .*\n){4}$/,
  },
  {
    line: 'kubectl --cluster clusterpedia -n a-team get deployments -l "internalstorage.clusterpedia.io/fuzzy-name=something"',
    shows: /^CLUSTER {3}NAME .*\n(dot-0\d {4}\S*something\S* .*\n)+$/,
  },
  {
    line: 'kubectl --cluster clusterpedia get deployments -A -l "search.clusterpedia.io/since=2024-01-01,search.clusterpedia.io/orderby in (cluster, namespace)"',
    shows:
      /^NAMESPACE {2,}CLUSTER .*\na-team {2,}dot-01 (.*\n)+a-team {2,}dot-02 (.*\n)+a-team {2,}dot-03 /,
  },
  {
    line: 'kubectl --cluster clusterpedia -n a-team get sqlclaims',
    shows: /^CLUSTER {3}NAME {7}SYNCED {3}READY {3}CONNECTION-SECRET {3}AGE\ndot-01 {4}my-db-01 /,
  },
  {
    line: 'kubectl --cluster dot-01 api-resources',
    shows:
      /^NAME (.*\n)+deployments {2,}deploy {2,}apps\/v1 {2,}true {2,}Deployment\n(.*\n)*sqlclaims /,
  },
  {
    line: 'kubectl --cluster dot-01 -n a-team delete sqlclaim my-db-01',
    says: /^Error from server \(MethodNotAllowed\): the server does not allow this method on the requested resource\n$/,
    exitCode: 1,
  },
]

/** What a kubectl user does besides. */
const DAILY: readonly Line[] = [
  {
    line: 'kubectl get pediaclusters',
    shows: /^NAME {5}READY {3}VERSION {4}APISERVER\ndot-01 {3}True {4}v1\.36\.2 {4}https:/,
  },
  {
    line: 'kubectl get pediaclusters -o wide',
    shows:
      /^NAME {5}READY {3}VERSION {4}APISERVER {2,}VALIDATED {3}SYNCHRORUNNING {3}CLUSTERHEALTHY {3}SHARDINGNAME\n/,
  },
  {
    line: 'kubectl wait --for=condition=Ready pediaclusters --all --timeout=60s',
    shows: /^(pediacluster\S+ condition met\n){4}$/,
  },
  {
    line: 'kubectl explain pediacluster.spec.apiserver',
    shows: /apiserver <string>|FIELD: apiserver/,
  },
  {
    line: 'kubectl --cluster clusterpedia get deployments -n a-team -o name',
    shows: /^deployment.apps\/silly-demo\n/,
  },
  {
    line: "kubectl --cluster dot-01 -n a-team get deployment silly-demo -o jsonpath='{.metadata.annotations.shadow\\.clusterpedia\\.io/cluster-name}'",
    shows: /^dot-01$/,
  },
  {
    line: 'kubectl --cluster dot-01 -n a-team get deployment silly-demo -o yaml',
    shows: /^apiVersion: apps\/v1\nkind: Deployment\n/,
  },
  {
    line: 'kubectl --cluster dot-01 -n a-team get deployment silly-demo -o json',
    shows: /^\{\n {4}"apiVersion": "apps\/v1",\n/,
  },
  {
    line: "kubectl --cluster clusterpedia get nodes -o custom-columns='N:.metadata.name,V:.status.nodeInfo.kubeletVersion'",
    shows: /^N +V\ndot-01-node-a +v1\.36\.2\n/,
  },
  {
    line: 'kubectl --cluster clusterpedia get nodes -o wide',
    shows: /^CLUSTER .* INTERNAL-IP .* CONTAINER-RUNTIME\n/,
  },
  {
    line: 'kubectl --cluster clusterpedia get pods -A --chunk-size=3',
    shows: /^NAMESPACE {2,}CLUSTER (.*\n){20,}$/,
  },
  {
    line: 'kubectl --cluster clusterpedia get pods -A --sort-by=.metadata.name',
    shows: /^NAMESPACE {2,}CLUSTER (.*\n){20,}$/,
  },
  {
    line: 'kubectl --cluster clusterpedia get deployments -A -l app=silly-demo',
    shows: /^NAMESPACE .*\n(a-team .* silly-demo .*\n){4}$/,
  },
  {
    line: 'kubectl --cluster clusterpedia -n a-team describe deployment do-something',
    shows: /^Name: +do-something\n(.*\n)*Events: /,
  },
  {
    line: 'kubectl --cluster clusterpedia get events -A',
    shows: /^NAMESPACE {2,}CLUSTER {3}LAST SEEN /,
  },
  { line: 'kubectl --cluster dot-02 events -A', shows: /^NAMESPACE {2,}LAST SEEN / },
  { line: 'kubectl --cluster dot-01 explain deployment.spec.replicas', shows: /FIELD: +replicas/ },
  { line: 'kubectl --cluster dot-01 explain sqlclaim.spec', shows: /KIND: +SQLClaim/ },
  { line: 'kubectl --cluster dot-01 auth can-i list pods', shows: /^yes\n$/ },
  { line: 'kubectl --cluster dot-01 auth can-i delete pods', shows: /^no/, exitCode: 1 },
  {
    line: 'kubectl --cluster dot-01 -n a-team get deployment none-such',
    says: /^Error from server \(NotFound\): deployments.apps "none-such" not found\n$/,
    exitCode: 1,
  },
  {
    line: 'kubectl --cluster clusterpedia -n a-team get deployment silly-demo',
    says: /^Error from server \(Conflict\): .*dot-01.*dot-04/,
    exitCode: 1,
  },
  {
    line: "kubectl --cluster clusterpedia get pods -l 'search.clusterpedia.io/nonesuch=1'",
    says: /^Error from server \(BadRequest\): /,
    exitCode: 1,
  },
  {
    line: 'kubectl --cluster nowhere get pods',
    says: /no server found for cluster "nowhere"|cluster "nowhere" does not exist/,
    exitCode: 1,
  },
]

describe.skipIf(KUBECTLS.length === 0).each(KUBECTLS)('kubectl $version', (kubectl) => {
  let runner: KubectlRunner
  beforeAll(() => {
    runner = new KubectlRunner(kubectl, kubeconfig)
  })

  test.each([...WALK_THROUGH, ...DAILY])(
    '$line',
    async ({ line, shows, says, exitCode = 0 }) => {
      const ended = await runner.paste(line)
      if (shows) expect(ended.stdout).toMatch(shows)
      if (says) expect(ended.stderr).toMatch(says)
      else if (exitCode === 0) expect(ended.stderr).toBe('')
      expect(ended.exitCode).toBe(exitCode)
    },
    30_000,
  )

  test.each(DEMO_COMMANDS)(
    'as the demo prints it: $command',
    async ({ command }) => {
      const { exitCode, stdout, stderr } = await runner.paste(command)
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
      expect(stdout.split('\n').length).toBeGreaterThan(2)
    },
    30_000,
  )
})

describe('kubectl --cluster NAME api-resources', () => {
  const namesOf = async (cluster: string) => {
    const runner = new KubectlRunner(KUBECTLS.at(-1)!, kubeconfig)
    const { stdout } = await runner.paste(`kubectl --cluster ${cluster} api-resources -o name`)
    return stdout.trim().split('\n')
  }

  test.skipIf(KUBECTLS.length === 0)(
    'the fleet’s is the union of the members’',
    async () => {
      const members = await Promise.all(['dot-01', 'dot-02', 'dot-03', 'dot-04'].map(namesOf))
      const fleet = await namesOf('clusterpedia')
      expect(new Set(fleet)).toEqual(new Set(members.flat()))
      expect(members[1]).not.toContain('sqlclaims.devopstoolkitseries.com')
    },
    30_000,
  )
})

describe('demo --exec', () => {
  const run = async (command: string) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'fleetglass-exec-'))
    // So that the database's user can reach it, and its files go with it.
    chmodSync(dataDir, 0o711)
    const args = ['demo', '--data-dir', dataDir, '--listen', '127.0.0.1:0', '--exec', command]
    const running = new RunningFleetglass(args)
    const exitCode = await running.exited()
    const left = processesWith(dataDir)
    rmSync(dataDir, { recursive: true })
    return { exitCode, stdout: running.output.stdout, left }
  }

  test('runs one command with KUBECONFIG set, then stops with its exit code', async () => {
    const { exitCode, stdout, left } = await run('echo "config: $KUBECONFIG"; exit 7')
    expect(exitCode).toBe(7)
    expect(stdout).toMatch(/^config: \S+\/kubeconfig\n$/)
    expect(left).toEqual([])
  })

  test.skipIf(KUBECTLS.length === 0)(
    'has all clusters in step when it runs it',
    async () => {
      const answered = await run('kubectl --cluster clusterpedia get deployments -A')
      expect(answered).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('silly-demo') })
      for (const cluster of ['dot-01', 'dot-02', 'dot-03', 'dot-04']) {
        expect(answered.stdout).toContain(cluster)
      }
    },
    60_000,
  )
})
