/**
 * `fleetglass fleet` and `gate` by the kubeconfig of a server: what is judged is what the server
 * shows to whoever asks.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { SWEPT, SWEPT_RESOURCES, type SweptResource } from '../../src/fleet/swept-resources.ts'
import { memberPrefix } from '../../src/kube/fleet-prefix.ts'
import { parseApiVersion } from '../../src/kube/group-resource.ts'
import type { Fields } from '../../src/printers/read-field.ts'
import { listClusterResources, setSyncStatus } from '../../src/store/cluster-resources.ts'
import { recordClusterState } from '../../src/store/clusters.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { startMemberCluster } from '../support/member-cluster.ts'
import { FilledCluster, metadata } from '../support/objects.ts'
import { runHere } from '../support/run-here.ts'

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

function typeOf(resource: SweptResource) {
  const { apiVersions, namespaced } = SWEPT[resource]
  return { ...parseApiVersion(apiVersions[0]!), resource, kind: `Kind${resource}`, namespaced }
}

/** All of it is mirrored, but for HorizontalPodAutoscalers, which it does not serve. */
async function cluster(name: string, pods: readonly Fields[]): Promise<FilledCluster> {
  const made = await FilledCluster.create(database.store, name)
  for (const resource of SWEPT_RESOURCES) {
    if (resource === 'horizontalpodautoscalers') continue
    await made.fill(typeOf(resource), resource === 'pods' ? pods : [])
  }
  return made
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetglass-served-'))
  database = await testDatabase()
  await cluster('broken', [crashing('web', 'shop'), crashing('job', 'lab')])
  await cluster('well', [])
  const partly = await cluster('partly', [])
  const services = [...(await listClusterResources(database.store, partly.id))].find(
    ({ resource }) => resource === 'services',
  )!
  await setSyncStatus(database.store, partly.lease, {
    ...{ typeId: services.typeId, status: 'Error', reason: 'Forbidden', message: 'not you' },
  })
  const gone = await cluster('gone', [])
  await recordClusterState(database.store, gone.lease, {
    ...{ staleReason: 'connection refused', staleSince: new Date('2026-01-01T00:00:00Z') },
  })
  const few = await FilledCluster.create(database.store, 'few')
  await few.fill(typeOf('pods'), [])
  const wishes = (name: string) => ({
    // Of the rest nothing is known: they may not have been asked for.
    wants: () => name !== 'few',
    namespaces: name === 'some' ? ['shop'] : undefined,
  })
  await cluster('some', [])
  fleet = await fleetServer(database.store, { wishes: async () => wishes })
  await fleet.refresh()
  const url = await fleet.listen()
  const viewer = await fleet.viewer([
    { clusters: ['*'], namespaces: ['shop'], apiGroups: ['*'], resources: ['*'] },
  ])
  kubeconfig('admin', url, fleet.admin)
  // As gen-clusterconfigs.sh adds them: the root is found from the path of a member.
  kubeconfig('viewer', `${url}${memberPrefix('well')}`, viewer)
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
  rmSync(folder, { recursive: true })
})

function kubeconfig(file: string, server: string, reader?: Reader): void {
  const config = {
    'current-context': 'fleet',
    contexts: [{ name: 'fleet', context: { cluster: 'fleet', user: 'fleet' } }],
    clusters: [{ name: 'fleet', cluster: { server } }],
    users: [{ name: 'fleet', user: reader ? { token: reader.token } : {} }],
  }
  writeFileSync(join(folder, file), JSON.stringify(config))
}

const served = (command: string, reader: string, ...args: readonly string[]) =>
  runHere(command, '--source', 'store', '--kubeconfig', join(folder, reader), ...args)

describe('fleet', () => {
  test('judges every cluster that is registered, and never calls well what is not seen', async () => {
    const { exitCode, stdout } = await served('fleet', 'admin', '--all-contexts')
    expect(stdout).toMatch(/^FLEET {2}6 clusters, 1 failing, 1 unreachable$/m)
    expect(stdout).toMatch(/^gone +unreachable +timed out$/m)
    expect(stdout).toMatch(/^partly +inconclusive +0 +0 +0 +\(1 blind spots?\)$/m)
    // What the registration leaves out may be anything: of one namespace, or of 22 resources.
    expect(stdout).toMatch(/^some +inconclusive +0 +0 +0 +\(\d+ blind spots\)$/m)
    expect(stdout).toMatch(/^few +inconclusive +0 +0 +0 +\(22 blind spots\)$/m)
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

test('what a reader of some namespaces cannot see of a cluster is not called well', async () => {
  const { exitCode, stdout } = await served('gate', 'viewer', '--context', 'well', '-o', 'json')
  expect(exitCode).toBe(2)
  expect(JSON.parse(stdout).blindSpots).toEqual(
    expect.arrayContaining(['deployments', 'namespaces', 'nodes', 'pods']),
  )
})

test('a server that is taken for a cluster is called neither well nor broken, and says what to do', async () => {
  const args = ['--kubeconfig', join(folder, 'admin'), '--why']
  const { exitCode, stdout, stderr } = await runHere('fleet', '--all-contexts', ...args)
  expect(stdout).toMatch(/^fleet +unreachable +connecting to the cluster$/m)
  expect(stderr).toBe('fleet: nothing was seen: it is a fleetglass server: add --source store\n')
  expect(exitCode).toBe(2)
})

test('a cluster that is taken for a server is no answer, and says so', async () => {
  const member = await startMemberCluster()
  onTestFinished(() => member.stop())
  kubeconfig('member', member.url)
  const { exitCode, stdout, stderr } = await served('fleet', 'member', '--all-contexts')
  expect([exitCode, stdout]).toEqual([2, ''])
  expect(stderr).toContain('is it a fleetglass server?')
})

test('a fleet file names clusters of the server, and no other kubeconfig', async () => {
  const file = join(folder, 'fleet.yaml')
  writeFileSync(file, '- {context: broken, name: shop}\n- {context: well}\n')
  const { exitCode, stdout } = await served('fleet', 'admin', '--fleet-file', file)
  expect(stdout).toMatch(/^shop +fail/m)
  expect(exitCode).toBe(1)
  writeFileSync(file, '- {context: broken, kubeconfig: other}\n')
  const refused = await served('fleet', 'admin', '--fleet-file', file)
  expect([refused.exitCode, refused.stdout]).toEqual([4, ''])
  expect(refused.stderr).toContain('an entry cannot have a kubeconfig')
})
