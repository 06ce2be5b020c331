import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordClusterState } from '../../src/store/clusters.ts'
import { crdOf } from '../drift/seen.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { FilledCluster, metadata } from '../support/objects.ts'
import { runHere } from '../support/run-here.ts'

const PODS = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }
const CRDS = {
  ...{ group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
  ...{ kind: 'CustomResourceDefinition', namespaced: false },
}

let folder: string
let database: TestDatabase
let store: readonly string[]

const drift = (...args: readonly string[]) => runHere('drift', ...args)

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetglass-test-'))
  database = await testDatabase()
  store = ['--database-url', database.url]
  const cluster = async (name: string, labels: Record<string, string>, version: string) => {
    const made = await FilledCluster.create(database.store, name, labels)
    const document = JSON.stringify({ gitVersion: version })
    await recordClusterState(database.store, made.lease, { version: document, staleReason: null })
    return made
  }
  const pod = (name: string, image: string) => ({
    metadata: metadata(name, { namespace: 'default' }),
    spec: { containers: [{ name: 'main', image }] },
    status: { phase: 'Running' },
  })
  const crd = (name: string) => ({ ...crdOf({ name }), metadata: metadata(name) })
  const one = await cluster('prod-1', { env: 'prod' }, 'v1.30.5')
  await one.fill(PODS, [
    pod('a', 'app:1'),
    pod('b', 'host:5000/team/tool:1.2.0'),
    pod('c', 'Bad/X'),
  ])
  await one.fill(CRDS, [crd('x.example.com'), crd('y.example.com')])
  const two = await cluster('prod-2', { env: 'prod' }, 'v1.31.1')
  await two.fill(PODS, [pod('a', 'app:1'), pod('b', 'host:5000/team/tool:1.3.0')])
  await two.fill(CRDS, [crd('x.example.com')])
  await cluster('test-1', { env: 'test' }, 'v1.30.5')
})

afterAll(async () => {
  rmSync(folder, { recursive: true })
  await database.drop()
})

describe('a wrong command line ends with exit code 4, and nothing is read or printed', () => {
  // Nothing listens there: whoever reads first fails otherwise.
  const unused = ['--database-url', 'postgres://127.0.0.1:1/none']
  const cases: ReadonlyArray<{ name: string; args: readonly string[]; says: string }> = [
    { name: 'nothing to compare', args: [], says: 'versions, images or crds' },
    { name: 'something else to compare', args: ['pods'], says: 'not "pods"' },
    {
      name: 'a flag that is not there',
      args: ['images', '--nope'],
      says: "unknown option '--nope'",
    },
    { name: 'a flag without its value', args: ['crds', '--baseline'], says: '--baseline' },
    { name: 'a word too many', args: ['versions', 'now'], says: 'too many arguments' },
    { name: 'an output that is not there', args: ['versions', '--output', 'yaml'], says: 'yaml' },
    { name: 'a source of images', args: ['images', '--from', 'dreams'], says: 'dreams' },
    { name: 'a time that is none', args: ['images', '--max-staleness', '5 min'], says: '5 min' },
    { name: 'an empty glob', args: ['crds', '--ignore', 'a,,b'], says: 'separated by commas' },
    { name: 'a mirror of nothing', args: ['images', '--mirror', 'a'], says: 'FROM=TO' },
    { name: 'a context of no kubeconfig', args: ['crds', '--context', 'a'], says: '--kubeconfig' },
    {
      name: 'two sources',
      args: ['crds', '--kubeconfig', 'k', ...unused],
      says: '--kubeconfig and --database-url',
    },
    { name: 'an empty output', args: ['crds', '--output', ''], says: '--output' },
    { name: 'no namespace', args: ['images', '-n', ''], says: 'names separated by commas' },
    {
      name: 'a namespace that is a path',
      args: ['images', '-n', '../x'],
      says: '"../x" is no name',
    },
    {
      name: 'a namespace that would end the selector',
      args: ['images', '-n', 'a)'],
      says: '"a)" is no name',
    },
    {
      name: 'a mirror of two',
      args: ['images', '--mirror', 'a=b', '--mirror', 'a=c'],
      says: 'a is a mirror of b already',
    },
    {
      name: 'a time before now',
      args: ['crds', '--max-staleness=-5m'],
      says: 'must not be negative',
    },
    { name: 'an empty kubeconfig', args: ['crds', '--kubeconfig', ''], says: '--kubeconfig' },
    { name: 'an empty context', args: ['crds', '--context', ''], says: '--kubeconfig' },
    {
      name: 'a kubeconfig that is not there',
      args: ['crds', '--kubeconfig', 'gone'],
      says: 'gone',
    },
    {
      name: 'a database of another make',
      args: ['crds', '--database-url', 'mysql://x/y'],
      says: '--database-url must be',
    },
  ]
  test.each(cases)('$name', async ({ args, says }) => {
    const ended = await drift(...args)
    expect(ended).toMatchObject({ exitCode: 4, stdout: '' })
    expect(ended.stderr).toContain(says)
    expect(ended.stderr).not.toContain('    at ')
  })

  test('a kubeconfig that does not parse', async () => {
    const odd = join(folder, 'odd')
    writeFileSync(odd, 'token: "secret-word\n- [')
    const ended = await drift('images', '--kubeconfig', odd)
    expect(ended).toMatchObject({ exitCode: 4, stdout: '' })
    expect(ended.stderr).not.toContain('secret-word')
  })

  test.each([
    ['a baseline that is not there', ['--baseline', 'prod-9'], 'no cluster "prod-9"'],
    ['an empty baseline', ['--baseline', ''], 'no cluster ""'],
    ['no cluster by name', ['--clusters', ''], 'must be names, globs or labels'],
    ['an empty name among others', ['--clusters', 'prod-1,'], 'must be names, globs or labels'],
    ['a glob that selects nothing', ['--clusters', 'dev-*'], 'selects no cluster'],
    [
      'one of two that selects nothing',
      ['--clusters', 'prod-*', '--clusters', 'env=dev'],
      'env=dev',
    ],
    ['labels that are none', ['--clusters', 'env in prod'], 'selects no cluster'],
    ['labels that do not parse', ['--clusters', 'env=='], 'selects no cluster'],
    ['a selector that does not parse', ['--clusters', 'env in (prod'], '--clusters'],
  ])('%s', async (_, args, says) => {
    const ended = await drift('versions', ...store, ...args)
    expect(ended).toMatchObject({ exitCode: 4, stdout: '' })
    expect(ended.stderr).toContain(says)
  })
})

describe('exit codes', () => {
  const both = ['--clusters', 'env=prod']
  test.each([
    ['no drift', ['images', ...both, '--ignore', 'host:5000/*', '--exit-code'], 0],
    ['drift', ['images', ...both, '--exit-code'], 1],
    ['drift, not asked for in the code', ['images', ...both], 0],
    ['a cluster that is unknown', ['crds', '--exit-code'], 2],
    ['all known, and versions differ', ['versions', '--exit-code'], 1],
    ['clusters of one version', ['versions', '--clusters', 'prod-1,test-?', '--exit-code'], 0],
    [
      'the same by labels',
      ['versions', '--clusters', 'env in (test)', '--baseline', 'prod-1', '--exit-code'],
      0,
    ],
  ])('%s', async (_, args, exitCode) => {
    const ended = await drift(...args, ...store)
    expect(ended.stderr).toBe('')
    expect(ended.exitCode).toBe(exitCode)
  })

  test('a database that does not answer is no drift', async () => {
    const args = ['versions', '--database-url', 'postgres://127.0.0.1:1/none']
    expect(await drift(...args, '--exit-code')).toMatchObject({ exitCode: 2, stdout: '' })
    expect(await drift(...args)).toMatchObject({ exitCode: 1, stdout: '' })
  })
})

describe('JSON is as its schema says', () => {
  test.each([
    ['versions', []],
    ['versions', ['--baseline', 'prod-1']],
    ['images', []],
    ['images', ['--baseline', 'prod-2']],
    ['crds', ['--schemas']],
    ['crds', ['--baseline', 'prod-1', '--clusters', 'prod-*']],
  ])('%s %s', async (what, args) => {
    const printed = await runHere('schema', `drift-${what}`)
    const schema = JSON.parse(printed.stdout)
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema')
    const validate = new Ajv2020({ strict: true, validateFormats: false }).compile(schema)
    const { stdout } = await drift(what, ...args, ...store, '--output', 'json')
    const found = JSON.parse(stdout)
    validate(found)
    expect(validate.errors).toBeNull()
    expect(validate({ ...found, rows: [{}] })).toBe(false)
  })
})

test('a table that a person reads', async () => {
  const { stdout } = await drift('images', ...store)
  expect(stdout).toBe(`IMAGES  2 clusters compared, 1 unknown: 1 image of 2 differs

IMAGE                 DRIFT   CLASS   RUNS    CLUSTERS
host:5000/team/tool   yes     tag     1.2.0   prod-1 (behind)
                                      1.3.0   prod-2

NOT COMPARABLE   REASON    CLUSTERS
"Bad/X"          invalid   prod-1

1 more image without a difference: --all shows them

UNKNOWN   WHY             MESSAGE
test-1    not collected   its pods are not synced

drift: 1 image; 1 cluster unknown
`)
})

test('definitions as a table', async () => {
  const { stdout } = await drift('crds', ...store, '--clusters', 'prod-*')
  expect(stdout).toBe(`CRDS  2 clusters compared: 1 of 2 definitions differ

DEFINITION      DRIFT   CLASS     PRESENT IN   MISSING FROM   FLAGS
y.example.com   yes     missing   prod-1       prod-2

1 more definition without a difference: --all shows them

drift: 1 definition
`)
})

test('versions as a table, against a baseline', async () => {
  const { stdout } = await drift('versions', ...store, '--baseline', 'prod-1')
  expect(stdout).toBe(`VERSIONS  3 clusters compared, against prod-1: 2 versions, apart by minor

CLUSTER   SERVER    DIFFERS BY   KUBELETS   RUNTIMES   SKEW
prod-1    v1.30.5   baseline     unknown    unknown
test-1    v1.30.5   none         unknown    unknown
prod-2    v1.31.1   minor        unknown    unknown

drift: 1 cluster
`)
})
