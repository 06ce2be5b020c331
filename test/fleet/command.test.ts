/** `fleetglass fleet`, `gate` and `schema` as typed: usage, exit codes, and what is printed where. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { memberPrefix } from '../../src/kube/fleet-prefix.ts'
import { type MemberCluster, startMemberCluster } from '../support/member-cluster.ts'
import { DEPLOYMENTS, PODS, REPLICA_SETS } from '../support/resource-types.ts'
import { runHere } from '../support/run-here.ts'
import { CRASHING } from './cluster.ts'

let folder: string
let broken: MemberCluster
let well: MemberCluster

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetglass-fleet-'))
  broken = await startMemberCluster()
  well = await startMemberCluster()
  for (const object of CRASHING.deployments!) broken.put(DEPLOYMENTS, object)
  for (const object of CRASHING.replicasets!) broken.put(REPLICA_SETS, object)
  for (const object of CRASHING.pods!) broken.put(PODS, object)
  kubeconfig('kubeconfig', { 'prod-b': broken.url, 'prod-a': well.url, lab: 'http://127.0.0.1:1' })
  kubeconfig('sick', { default: broken.url })
  kubeconfig('sound', { default: well.url })
  kubeconfig('nowhere', {})
  writeFileSync(join(folder, 'torn'), 'contexts: [')
  writeFileSync(join(folder, 'deep'), '['.repeat(100_000))
  kubeconfig('mirror', { 'a-mirror': `https://fleet.example.com${memberPrefix('dot-01')}` })
  writeFileSync(join(folder, 'odd'), ODD_KUBECONFIG)
  writeFileSync(join(folder, 'bomb'), BOMB)
  writeFileSync(join(folder, 'keyless'), '{"contexts":[{"name":"x","context":{"cluster":"gone"}}]}')
  const sick = join(folder, 'sick')
  const sound = join(folder, 'sound')
  writeFileSync(
    join(folder, 'fleet.yaml'),
    ['edge-d', 'edge-b', 'edge-c', 'edge-a']
      .map(
        (name) =>
          `- {context: default, name: ${name}, kubeconfig: ${/[bd]$/.test(name) ? sick : sound}}\n`,
      )
      .join(''),
  )
})

afterAll(async () => {
  await Promise.all([broken.stop(), well.stop()])
  rmSync(folder, { recursive: true })
})

function kubeconfig(file: string, servers: Readonly<Record<string, string>>): void {
  const names = Object.keys(servers)
  const config = {
    contexts: names.map((name) => ({ name, context: { cluster: name } })),
    clusters: names.map((name) => ({ name, cluster: { server: servers[name] } })),
  }
  writeFileSync(join(folder, file), JSON.stringify(config))
}

beforeEach(() => vi.stubEnv('KUBECONFIG', join(folder, 'kubeconfig')))
afterEach(() => vi.unstubAllEnvs())

const ODD_KUBECONFIG = JSON.stringify({
  contexts: [null, 3, 'x', [], {}, { name: null }, { name: 5 }, { name: 'y', context: [] }],
  clusters: { a: 1 },
  users: 'nobody',
  'current-context': ['y'],
})
/** Each line is ten of the line before. */
const BOMB = [
  'a: &a [x,x]',
  ...[...'bcdefghi'].map((one, i) => {
    const before = `*${'abcdefgh'[i]}`
    return `${one}: &${one} [${Array(10).fill(before).join(',')}]`
  }),
].join('\n')

describe('F28 usage errors: exit code 4, nothing on standard output, nothing asked', () => {
  const file = (name: string) => join(folder, name)
  test.each([
    ['a flag that is not known', ['--fix'], ['--fix']],
    ['a word too many', ['prod-a'], ['too many arguments']],
    ['workers that are no number', ['--workers', 'many'], ['--workers']],
    ['a timeout that is none', ['--cluster-timeout', 'soon'], ['--cluster-timeout']],
    [
      'a fleet file and a context',
      ['--fleet-file', 'x', '--context', 'y'],
      ['--fleet-file', '--context'],
    ],
    [
      'a fleet file and all contexts',
      ['--fleet-file', 'x', '--all-contexts'],
      ['--fleet-file', '--all-contexts'],
    ],
    ['an output of another kind', ['--all-contexts', '--output', 'yaml'], ['yaml']],
    ['a level of another kind', ['--all-contexts', '--fail-on', 'fatal'], ['fatal']],
    ['no time at all', ['--all-contexts', '--cluster-timeout', '0'], ['--cluster-timeout', '0s']],
    [
      'a fleet file that is not there',
      ['--fleet-file', '/none.yaml'],
      ['--fleet-file', '/none.yaml'],
    ],
    ['a pattern without what it is for', ['--match', 'x'], ['--all-contexts', '--fleet-file']],
    [
      'a context and all contexts',
      ['--context', 'prod-a', '--all-contexts'],
      ['--context', '--all-contexts'],
    ],
    ['a context that is not there', ['--context', 'prod-z'], ['prod-z']],
    ['nothing selected', [], ['--context', '--all-contexts']],
    ['a pattern that selects nothing', ['--all-contexts', '--match', 'x*'], ['x*']],
    [
      'a fleet file and a pattern that selects nothing',
      ['--fleet-file', 'FLEET', '--match', 'edge-[ab]'],
      ['edge-[ab]'],
    ],
    ...['--data-dir=x', '--database-url=postgres://me@h/d', '--max-staleness=1h'].map(
      (flag): [string, string[], string[]] => [
        `the flag of a mirror, ${flag}, without one`,
        ['--all-contexts', flag],
        [flag.split('=')[0]!, '--source store'],
      ],
    ),
    ['an unknown source', ['--all-contexts', '--source', 'dream'], ['dream']],
    [
      'a namespace that is a path',
      ['--context', 'prod-a', '-n', '../..'],
      ['--namespace', '../..'],
    ],
    ['a namespace of two', ['--context', 'prod-a', '-n', 'a,b'], ['--namespace', 'a,b']],
    ['a flag without its value', ['--context'], ['--context']],
    ['an empty context', ['--context', ''], ['""']],
    ['an empty output', ['--all-contexts', '--output', ''], ['--output']],
    ['an empty level', ['--all-contexts', '--fail-on='], ['--fail-on']],
    ['an empty timeout', ['--all-contexts', '--cluster-timeout', ''], ['--cluster-timeout']],
    ['a timeout before now', ['--all-contexts', '--cluster-timeout=-1s'], ['--cluster-timeout']],
    ['an empty number of workers', ['--all-contexts', '--workers', ''], ['--workers']],
    ['half a worker', ['--all-contexts', '--workers', '1.5'], ['--workers']],
    ['no age of kills', ['--all-contexts', '--oom-max-age', '0s'], ['--oom-max-age']],
    ['an empty fleet file', ['--fleet-file', ''], ['--fleet-file']],
    ['a fleet file that is a folder', ['--fleet-file', 'FOLDER'], ['--fleet-file']],
    [
      'a fleet file of nothing but brackets',
      ['--fleet-file', 'DEEP'],
      ['--fleet-file', 'not YAML'],
    ],
    ['an empty kubeconfig', ['--all-contexts', '--kubeconfig', ''], ['kubeconfig']],
    ['a list of kubeconfigs', ['--all-contexts', '--kubeconfig', 'a:b'], ['list of several files']],
    [
      'what fleetglass serves, which is no cluster',
      ['--all-contexts', '--kubeconfig', 'MIRROR'],
      ['"a-mirror"', '--source store --kubeconfig'],
    ],
  ] as const)('%s', async (_, args, says) => {
    const asked = broken.requests().length + well.requests().length
    const files: Readonly<Record<string, string>> = {
      ...{ FLEET: 'fleet.yaml', FOLDER: '.', DEEP: 'deep', MIRROR: 'mirror' },
    }
    const given = args.map((arg: string) => (arg in files ? file(files[arg]!) : arg))
    const { exitCode, stdout, stderr } = await runHere('fleet', ...given)
    expect([exitCode, stdout]).toEqual([4, ''])
    for (const part of says) expect(stderr).toContain(part)
    expect(broken.requests().length + well.requests().length).toBe(asked)
  })

  test.each([
    ['is not there', 'none', 'kubeconfig'],
    ['is no YAML', 'torn', 'kubeconfig'],
    ['has no contexts', 'nowhere', '--all-contexts'],
    ['has a context without a cluster', 'keyless', '"x"'],
    ['is rubbish in every part', 'odd', '"y"'],
    ['grows without end', 'bomb', 'kubeconfig'],
  ])('a kubeconfig that %s', async (...[, name, says]) => {
    const { exitCode, stdout, stderr } = await runHere(
      'fleet',
      '--all-contexts',
      '--kubeconfig',
      file(name),
    )
    expect([exitCode, stdout]).toEqual([4, ''])
    expect(stderr).toContain(says)
    expect(stderr).not.toContain(folder)
  })

  test('the gate has the same exit code', async () => {
    const { exitCode, stdout } = await runHere('gate', '--context', 'prod-z')
    expect([exitCode, stdout]).toEqual([4, ''])
  })
})

test('every cluster, one of them out of reach', async () => {
  const { exitCode, stdout, stderr } = await runHere('fleet', '--all-contexts')
  expect(stdout).toBe(`FLEET  3 clusters, 1 failing, 1 unreachable

CLUSTER  VERDICT       CRIT  WARN  INFO  TOP ISSUES
lab      unreachable                     connecting to the cluster
prod-b   fail             1     0     0  CrashLoopBackOff
prod-a   pass             0     0     0

verdict: inconclusive (exit 2)
`)
  expect([exitCode, stderr]).toEqual([2, ''])
})

describe('why something was not seen', () => {
  test('is not said into a pipe unless asked, and then with what was answered', async () => {
    const { exitCode, stdout, stderr } = await runHere('fleet', '--all-contexts', '--why')
    expect(exitCode).toBe(2)
    expect(stderr).toBe('lab: nothing was seen: no connection (connection refused)\n')
    expect(stdout).not.toContain('refused')
  })

  test('of a gate, too', async () => {
    const { exitCode, stdout, stderr } = await runHere('gate', '--context', 'lab', '--why')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('connection refused')
    expect(stdout).not.toContain('refused')
  })
})

test.each([
  ['more time than a timer takes', ['--context', 'prod-a', '--cluster-timeout', '30d'], 0],
  ['a time with a fraction', ['--context', 'prod-a', '--cluster-timeout', '5000.5ms'], 0],
  ['a flag twice: the last counts', ['--context', 'prod-b', '-n', 'other', '-n', 'default'], 1],
  ['an empty pattern: none', ['--context', 'prod-a', '--match', ''], 0],
  ['an empty namespace: all', ['--context', 'prod-b', '-n', ''], 1],
  ['more workers than a number holds', ['--context', 'prod-a', '--workers', '9'.repeat(30)], 0],
  ['long flags with a single dash', ['-context', 'prod-a', '-fail-on= CRITICAL '], 0],
  [
    'two of them, one twice',
    ['--context', 'prod-a', '--context', 'prod-b', '--context', 'prod-b'],
    1,
  ],
  ['a pattern', ['--all-contexts', '--match', 'prod-?', '--workers', '0'], 1],
  ['another namespace', ['--context', 'prod-b', '-n', 'other', '--workers', '500'], 0],
])('%s', async (_, args, code) => {
  const { exitCode, stdout } = await runHere('fleet', ...args)
  expect(exitCode, stdout).toBe(code)
})

test('F26 a fleet file names its clusters', async () => {
  const args = ['fleet', '--fleet-file', join(folder, 'fleet.yaml'), '--output', 'json']
  const { exitCode, stdout } = await runHere(...args)
  const report = JSON.parse(stdout)
  expect(exitCode).toBe(1)
  expect(
    report.clusters.map(({ name, context }: Record<string, string>) => `${name} ${context}`),
  ).toEqual(['edge-b default', 'edge-d default', 'edge-a default', 'edge-c default'])
  expect(report.shared).toEqual([
    { signal: 'CrashLoopBackOff', source: 'issue', clusters: ['edge-b', 'edge-d'] },
  ])
  expect(stdout).not.toContain(folder)
  const { stdout: four } = await runHere(...args, '--match', 'edge-?')
  expect(JSON.parse(four).clusters).toHaveLength(4)
})

test('a variable sets what a flag does not, and rubbish in it is ignored', async () => {
  vi.stubEnv('FLEETGLASS_FLEET_CLUSTER_TIMEOUT', '1ms')
  const { stdout } = await runHere('fleet', '--context', 'prod-a')
  expect(stdout).toContain('timed out')
  vi.stubEnv('FLEETGLASS_FLEET_CLUSTER_TIMEOUT', 'soon')
  vi.stubEnv('FLEETGLASS_FLEET_WORKERS', 'many')
  expect((await runHere('fleet', '--context', 'prod-a')).exitCode).toBe(0)
})

describe('the gate', () => {
  test('prints every finding and what to do next', async () => {
    const { exitCode, stdout } = await runHere('gate', '--context', 'prod-b')
    expect(exitCode).toBe(1)
    expect(stdout).toBe(`GATE  prod-b  1 critical, 0 warning, 0 info

critical  CrashLoopBackOff  Pod default/web-1-a
          container app keeps crashing
          next: read why it ended: kubectl logs --previous

verdict: fail (exit 1)
`)
  })

  test.each([
    ['prod-a', 0],
    ['prod-b', 1],
    ['lab', 2],
  ])('of %s exits with %i, and its JSON is valid', async (context, code) => {
    const { exitCode, stdout } = await runHere('gate', '--context', context, '-o', 'json')
    const isValid = new Ajv2020({ strict: false }).compile(
      JSON.parse((await runHere('schema', 'gate')).stdout),
    )
    expect(exitCode).toBe(code)
    expect(isValid(JSON.parse(stdout)), JSON.stringify(isValid.errors)).toBe(true)
  })
})

test('schemas are printed, and one that is not there is named', async () => {
  expect(JSON.parse((await runHere('schema', 'fleet')).stdout).$id).toBe(
    'https://k8sproject.top/schemas/fleet-v1.json',
  )
  const { exitCode, stderr } = await runHere('schema', 'none')
  expect(exitCode).toBe(4)
  expect(stderr).toContain('"none"')
})
