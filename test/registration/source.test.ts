/** What syncers, the catalog and rights learn of registrations. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  databaseAccessSource,
  databaseRegistrationSource,
} from '../../src/registration/database-source.ts'
import type { RegistrationState } from '../../src/registration/registration-source.ts'
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

test('states are whole, and follow what is wanted', async () => {
  const source = databaseRegistrationSource(api.registrations)
  const states = source.states(stopping.signal)[Symbol.asyncIterator]()
  const next = async () => summary((await states.next()).value)
  expect(await next()).toEqual({ clusters: [], templates: [] })

  const tokenData = base64('token')
  const { json } = await api.ask('POST', CLUSTERS, { body: pediaCluster('one', { tokenData }) })
  expect(await next()).toEqual({ clusters: [`one ${tokenData}`], templates: [] })

  // A status is no news: the next state is that of the next real change.
  await source.writeStatus('one', json.metadata.uid, { version: 'v1.30.0' })
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
  await source.writeStatus('status', uid, { version: 'v1.30.0' })
  const first = await current()
  expect(first.status).toEqual({ version: 'v1.30.0' })
  const [entry] = first.metadata.managedFields.filter(
    (each: { manager: string }) => each.manager === 'fleetglass-syncer',
  )
  expect(entry).toMatchObject({ operation: 'Update', subresource: 'status' })
  await source.writeStatus('status', uid, { version: 'v1.30.0' })
  expect(await current()).toEqual(first)
  await source.writeStatus('status', 'another uid', { version: 'v1.31.0' })
  expect(await current()).toEqual(first)
  await source.writeStatus('gone', uid, { version: 'v1.31.0' })
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
