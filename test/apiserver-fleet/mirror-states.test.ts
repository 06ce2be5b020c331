/** `…/resources/clusters?types=…`: what a sweep or a comparison by a kubeconfig goes by. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AccessRule } from '../../src/kube/fleet-access.ts'
import { MIRROR_STATES_PATH, parseMirrorStates } from '../../src/kube/mirror-state.ts'
import { recordClusterState } from '../../src/store/clusters.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster } from '../support/objects.ts'

const PODS = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }
const NODES = { group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false }
const INGRESSES = {
  ...{ group: 'extensions', version: 'v1beta1', resource: 'ingresses' },
  ...{ kind: 'Ingress', namespaced: true },
}
const CRON_JOBS = { group: 'batch', resource: 'cronjobs' }
const SINCE = new Date('2026-12-01T03:23:56.789Z')
const VERSION = '{"gitVersion":"v1.36.2"}'

let database: TestDatabase
let fleet: FleetServer

beforeAll(async () => {
  database = await testDatabase()
  const east = await FilledCluster.create(database.store, 'east', { env: 'prod' })
  for (const type of [PODS, NODES, INGRESSES]) await east.fill(type, [])
  await recordClusterState(database.store, east.lease, {
    ...{ version: VERSION, staleReason: 'connection refused', staleSince: SINCE },
  })
  await FilledCluster.create(database.store, 'west')
  const wishesOf = (name: string) => ({
    wants: ({ resource }: { readonly resource: string }) => resource === 'cronjobs',
    namespaces: name === 'west' ? undefined : ['shop', 'lab'],
  })
  fleet = await fleetServer(database.store, { wishes: async () => wishesOf })
  await fleet.refresh()
})
afterAll(async () => {
  await fleet.close()
  await database.drop()
})

async function told(reader: Reader, types: string) {
  const { status, json } = await reader.askRoot(`${MIRROR_STATES_PATH}?types=${types}`)
  expect(status).toBe(200)
  return parseMirrorStates(json)!
}

const rule = (narrowed: Partial<AccessRule>): AccessRule => ({
  ...{ clusters: ['*'], namespaces: ['*'], apiGroups: ['*'], resources: ['*'] },
  ...narrowed,
})

test('as of when each mirror is, and how each type of it goes', async () => {
  const types = 'pods,nodes,ingresses.networking.k8s.io,cronjobs.batch'
  const { now, clusters } = await told(fleet.admin, types)
  expect(Math.abs(now - Date.now())).toBeLessThan(60_000)
  const syncing = { status: 'Syncing', reason: '', message: '', position: true }
  expect(clusters).toEqual([
    {
      ...{ name: 'east', labels: { env: 'prod' }, version: VERSION },
      ...{ staleReason: 'connection refused', staleSince: SINCE, syncerSeenAt: expect.any(Date) },
      resources: [
        { group: '', resource: 'pods', apiVersion: 'v1', ...syncing, namespaces: ['shop', 'lab'] },
        { group: '', resource: 'nodes', apiVersion: 'v1', ...syncing },
        {
          ...{ group: 'networking.k8s.io', resource: 'ingresses' },
          ...{ apiVersion: 'extensions/v1beta1', ...syncing, namespaces: ['shop', 'lab'] },
        },
      ],
      ...{ forbidden: [], unserved: [CRON_JOBS] },
    },
    expect.objectContaining({ name: 'west', resources: [], unserved: [CRON_JOBS] }),
  ])
})

describe('a reader is told', () => {
  test('of their clusters and types alone', async () => {
    const reader = await fleet.viewer([rule({ clusters: ['east'], resources: ['pods'] })])
    const { clusters } = await told(reader, 'pods,nodes,cronjobs.batch')
    expect(clusters).toMatchObject([
      {
        name: 'east',
        resources: [{ resource: 'pods' }],
        forbidden: [{ group: '', resource: 'nodes' }, CRON_JOBS],
        unserved: [],
      },
    ])
  })

  test('which namespaces they see: those that are mirrored and theirs', async () => {
    const reader = await fleet.viewer([rule({ namespaces: ['shop', 'hr'] })])
    const { clusters } = await told(reader, 'pods,nodes')
    expect(clusters[0]).toMatchObject({
      resources: [{ resource: 'pods', namespaces: ['shop'] }],
      forbidden: [{ resource: 'nodes' }],
    })
  })

  test('nothing, who may see nothing', async () => {
    expect((await told(await fleet.viewer([]), 'pods')).clusters).toEqual([])
  })

  test('of no type that they did not ask for', async () => {
    const [east] = (await told(fleet.admin, '')).clusters
    expect(east).toMatchObject({ resources: [], forbidden: [], unserved: [] })
  })
})

describe('refused', () => {
  test.each([
    ['another parameter', '?type=pods', 'unknown query parameter \\"type\\"'],
    ['more types than can be', `?types=${'a,'.repeat(65)}`, 'at most 64'],
  ])('%s', async (_, query, says) => {
    const answer = await fleet.admin.askRoot(MIRROR_STATES_PATH + query)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(says)
  })

  test('a write', async () => {
    const answer = await fleet.admin.askRoot(MIRROR_STATES_PATH, { method: 'POST', payload: '{}' })
    expect(answer.status).toBe(405)
  })

  test('nobody in particular', async () => {
    const answer = await fleet.server.inject({ url: MIRROR_STATES_PATH })
    expect(answer.statusCode).toBe(401)
  })
})
