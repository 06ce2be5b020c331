/**
 * `fleetglass fleet` and `gate` by the kubeconfig of a server: what is judged is what the server
 * shows to whoever asks. Objects are the server's own; only the registrations are told here.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { SWEPT, SWEPT_RESOURCES, type SweptResource } from '../../src/fleet/swept-resources.ts'
import { memberPrefix } from '../../src/kube/fleet-prefix.ts'
import { parseApiVersion } from '../../src/kube/group-resource.ts'
import type { Fields } from '../../src/printers/read-field.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, metadata } from '../support/objects.ts'

const REGISTRATIONS = '/apis/cluster.clusterpedia.io/v1alpha2'

let database: TestDatabase
let fleet: FleetServer
let folder: string

function crashing(name: string, namespace: string): Fields {
  const state = { waiting: { reason: 'CrashLoopBackOff' } }
  return {
    metadata: metadata(name, { namespace }),
    spec: { containers: [{ name: 'main', image: 'app:1' }] },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'False' }],
      containerStatuses: [{ name: 'main', ready: false, restartCount: 9, state }],
    },
  }
}

async function cluster(name: string, pods: readonly Fields[]): Promise<void> {
  const made = await FilledCluster.create(database.store, name)
  for (const resource of SWEPT_RESOURCES) {
    const { apiVersions, namespaced } = SWEPT[resource]
    const type = { ...parseApiVersion(apiVersions[0]!), resource, kind: `Kind${resource}` }
    await made.fill({ ...type, namespaced }, resource === 'pods' ? pods : [])
  }
}

/** All is well and synced, but for what is given. */
function registration(name: string, { wrong, refused }: { wrong?: string; refused?: string } = {}) {
  const resources = (of: SweptResource) => ({
    group: SWEPT[of].group,
    resources: [
      {
        name: of,
        syncConditions: [{ status: of === refused ? 'Error' : 'Syncing', version: 'v1' }],
      },
    ],
  })
  return {
    ...{ apiVersion: 'cluster.clusterpedia.io/v1alpha2', kind: 'PediaCluster' },
    metadata: { name },
    spec: { syncResources: [{ group: '*', resources: ['*'] }] },
    status: {
      conditions: ['ClusterHealthy', 'SynchroRunning', 'Ready'].map((type) => ({
        ...{ type, status: wrong ? 'False' : 'True' },
        lastTransitionTime: wrong ?? '2026-01-01T00:00:00Z',
      })),
      syncResources: SWEPT_RESOURCES.map(resources),
    },
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetglass-served-'))
  database = await testDatabase()
  await cluster('broken', [crashing('web', 'shop'), crashing('job', 'lab')])
  await cluster('well', [])
  await cluster('partly', [])
  await cluster('gone', [])
  const registered = [
    registration('broken'),
    registration('well'),
    registration('partly', { refused: 'services' }),
    registration('gone', { wrong: '2026-01-01T00:00:00Z' }),
  ]
  fleet = await fleetServer(database.store, {
    plugins: [
      async (server) => {
        server.get(`${REGISTRATIONS}/pediaclusters`, async () => ({ items: registered }))
        server.get(`${REGISTRATIONS}/clustersyncresources`, async () => ({ items: [] }))
      },
    ],
  })
  const url = await fleet.listen()
  const viewer = await fleet.viewer([
    { clusters: ['*'], namespaces: ['shop'], apiGroups: ['*'], resources: ['*'] },
  ])
  kubeconfig('admin', url, fleet.admin)
  // As gen-clusterconfigs.sh adds them: the root is found from the path of a member.
  kubeconfig('viewer', `${url}${memberPrefix('well')}`, viewer)
}, 60_000)

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
  rmSync(folder, { recursive: true })
})

function kubeconfig(file: string, server: string, { token }: Reader): void {
  const config = {
    'current-context': 'fleet',
    contexts: [{ name: 'fleet', context: { cluster: 'fleet', user: 'fleet' } }],
    clusters: [{ name: 'fleet', cluster: { server } }],
    users: [{ name: 'fleet', user: { token } }],
  }
  writeFileSync(join(folder, file), JSON.stringify(config))
}

async function fleetglass(...args: readonly string[]) {
  const printed = { stdout: '', stderr: '' }
  const collect = (to: keyof typeof printed) => (text: unknown) => {
    printed[to] += String(text)
    return true
  }
  vi.spyOn(process.stdout, 'write').mockImplementation(collect('stdout'))
  vi.spyOn(process.stderr, 'write').mockImplementation(collect('stderr'))
  vi.spyOn(console, 'error').mockImplementation(collect('stderr'))
  const exitCode = await run(args)
  vi.restoreAllMocks()
  return { exitCode, ...printed }
}

const served = (command: string, reader: string, ...args: readonly string[]) =>
  fleetglass(command, '--source', 'store', '--kubeconfig', join(folder, reader), ...args)

describe('fleet', () => {
  test('judges every cluster that is registered, and never calls well what is not seen', async () => {
    const { exitCode, stdout } = await served('fleet', 'admin', '--all-contexts')
    expect(stdout).toMatch(/^FLEET {2}4 clusters, 1 failing, 1 unreachable$/m)
    expect(stdout).toMatch(/^gone +unreachable +timed out$/m)
    expect(stdout).toMatch(/^partly +inconclusive +0 +0 +0 +\(1 blind spots?\)$/m)
    expect(stdout).toMatch(/^broken +fail +2 +0 +0 +CrashLoopBackOff$/m)
    expect(stdout).toMatch(/^well +pass +0 +0 +0$/m)
    expect(exitCode).toBe(2)
  })

  test('judges those that are chosen', async () => {
    const one = await served('fleet', 'admin', '--context', 'well')
    expect([one.exitCode, one.stderr]).toEqual([0, ''])
    const matched = await served('fleet', 'admin', '--all-contexts', '--match', 'br*')
    expect(matched.exitCode).toBe(1)
    const none = await served('fleet', 'admin', '--context', 'nowhere')
    expect([none.exitCode, none.stdout]).toEqual([4, ''])
  })

  test('of a reader of one namespace: what is in it', async () => {
    const args = ['--context', 'broken', '-n', 'shop', '-o', 'json']
    const { stdout } = await served('fleet', 'viewer', ...args)
    const [row] = JSON.parse(stdout).clusters
    expect(row).toMatchObject({ context: 'broken', critical: 1 })
  })

  test('a server that tells nothing ends with a sentence', async () => {
    kubeconfig('nobody', 'http://127.0.0.1:1', fleet.admin)
    const { exitCode, stdout, stderr } = await served('fleet', 'nobody', '--all-contexts')
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain('the server does not tell its clusters')
  })
})

test('gate says in full what is wrong with one', async () => {
  const { exitCode, stdout } = await served('gate', 'admin', '--context', 'broken')
  expect(exitCode).toBe(1)
  expect(stdout).toContain('CrashLoopBackOff')
  expect(stdout).toContain('shop')
})
