/** What syncers, the catalog and rights learn of registrations. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  databaseAccessSource,
  databaseRegistrationSource,
} from '../../src/registration/database-source.ts'
import type { RegistrationState } from '../../src/registration/registration-source.ts'
import { acquireLease, LeaseLost } from '../../src/store/leases.ts'
import {
  ACCESSES,
  base64,
  CLUSTERS,
  fleetAccess,
  MERGE,
  pediaCluster,
  type RegistrationServer,
  registrationServer,
  syncResources,
  TEMPLATES,
} from './registration-server.ts'

let api: RegistrationServer
const stopping = new AbortController()
beforeAll(async () => {
  api = await registrationServer()
})
afterAll(async () => {
  stopping.abort()
  await api.stop()
})

const summary = (state: RegistrationState) => ({
  clusters: state.pediaClusters.map(({ metadata, spec }) => `${metadata.name} ${spec.tokenData}`),
  templates: state.syncResources.map(({ metadata }) => metadata.name),
})

const clusterRows = async () => {
  const { rows } = await api.database.store.pool.query(
    'select name, labels::text as labels, removed_at is not null as removed from cluster order by id',
  )
  return rows
}

const V130 = { version: 'v1.30.0' }

/** Each call gets a new epoch: the ones before are lost. */
const leaseOf = async (uid: string) => {
  const { store } = api.database
  const { rows } = await store.pool.query('select id from cluster where registration_uid = $1', [
    uid,
  ])
  return (await acquireLease(store, { clusterId: rows[0].id, holder: 'test', seconds: 60 }))!
}

test('states are whole, and follow what is wanted', async () => {
  const source = databaseRegistrationSource(api.registrations)
  const states = source.states(stopping.signal)[Symbol.asyncIterator]()
  const next = async () => summary((await states.next()).value)
  expect(await next()).toEqual({ clusters: [], templates: [] })

  const tokenData = base64('token')
  const { json } = await api.ask('POST', CLUSTERS, { body: pediaCluster('one', { tokenData }) })
  expect(await next()).toEqual({ clusters: [`one ${tokenData}`], templates: [] })

  // A status is no news: the next state is that of the next real change.
  const { uid } = json.metadata
  await source.writeStatus({ name: 'one', uid, lease: await leaseOf(uid), status: V130 })
  await api.ask('POST', TEMPLATES, { body: syncResources('template') })
  expect(await next()).toEqual({ clusters: [`one ${tokenData}`], templates: ['template'] })

  const changed = base64('other token')
  await api.ask('PATCH', `${CLUSTERS}/one`, { body: { spec: { tokenData: changed } }, type: MERGE })
  expect(await next()).toEqual({ clusters: [`one ${changed}`], templates: ['template'] })

  await api.ask('DELETE', `${CLUSTERS}/one`)
  expect(await next()).toEqual({ clusters: [], templates: ['template'] })
})

test('a status is written for the registration it was made for, and only when it differs', async () => {
  const source = databaseRegistrationSource(api.registrations)
  const { json } = await api.ask('POST', CLUSTERS, { body: pediaCluster('status') })
  const { uid } = json.metadata
  const current = async () => (await api.ask('GET', `${CLUSTERS}/status`)).json
  const lease = await leaseOf(uid)
  const write = { name: 'status', uid, lease, status: V130 }
  await source.writeStatus(write)
  const first = await current()
  expect(first.status).toEqual({ version: 'v1.30.0' })
  const [entry] = first.metadata.managedFields.filter(
    (each: { manager: string }) => each.manager === 'fleetglass-syncer',
  )
  expect(entry).toMatchObject({ operation: 'Update', subresource: 'status' })
  await source.writeStatus(write)
  expect(await current()).toEqual(first)
  const status = { version: 'v1.31.0' }
  await source.writeStatus({ ...write, uid: 'another uid', status })
  expect(await current()).toEqual(first)
  await source.writeStatus({ ...write, name: 'gone', status })
})

test('a status is not written by who slept through the lease of the cluster', async () => {
  const source = databaseRegistrationSource(api.registrations)
  const { json } = await api.ask('POST', CLUSTERS, { body: pediaCluster('fenced') })
  const { uid } = json.metadata
  const [old, held] = [await leaseOf(uid), await leaseOf(uid)]
  const write = { name: 'fenced', uid }
  await source.writeStatus({ ...write, lease: held, status: V130 })
  const current = async () => (await api.ask('GET', `${CLUSTERS}/fenced`)).json
  const before = await current()
  const late = source.writeStatus({ ...write, lease: old, status: { version: 'v1.29.0' } })
  await expect(late).rejects.toThrow(LeaseLost)
  expect(await current()).toEqual(before)
})

test('the clusters that readers see are in step with each write', async () => {
  await api.database.store.pool.query('delete from cluster')
  await api.ask('POST', CLUSTERS, { body: pediaCluster('step', {}, { labels: { env: 'prod' } }) })
  expect(await clusterRows()).toEqual([{ name: 'step', labels: '{"env": "prod"}', removed: false }])
  await api.ask('PATCH', `${CLUSTERS}/step`, {
    body: { metadata: { labels: { env: 'test' } } },
    type: MERGE,
  })
  expect(await clusterRows()).toEqual([{ name: 'step', labels: '{"env": "test"}', removed: false }])
  await api.ask('POST', `${CLUSTERS}?dryRun=All`, { body: pediaCluster('tried') })
  await api.ask('DELETE', `${CLUSTERS}/step`)
  expect(await clusterRows()).toEqual([{ name: 'step', labels: '{"env": "test"}', removed: true }])
  await api.ask('POST', CLUSTERS, { body: pediaCluster('step') })
  expect(await clusterRows()).toEqual([
    { name: 'step', labels: '{"env": "test"}', removed: true },
    { name: 'step', labels: '{}', removed: false },
  ])
})

test('a change of rights is told', async () => {
  const source = databaseAccessSource(api.registrations)
  expect(await source.accessObjects()).toEqual([])
  const told = new Promise<void>((resolve) => {
    const look = () =>
      source.accessObjects().then((objects) => {
        if (objects.length === 1) resolve()
      })
    source.onAccessChange(() => void look(), stopping.signal)
  })
  await api.ask('POST', ACCESSES, { body: fleetAccess('jane') })
  await told
})
