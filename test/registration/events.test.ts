/** How much of the past is kept, and what several processes see of one another. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kindOfResource } from '../../src/registration/kinds.ts'
import { createRegistrations } from '../../src/registration/registrations.ts'
import {
  CLUSTERS,
  MERGE,
  pediaCluster,
  type RegistrationServer,
  registrationServer,
} from './registration-server.ts'

let api: RegistrationServer
beforeAll(async () => {
  api = await registrationServer()
})
afterAll(() => api.stop())

const write = (labels: object) =>
  api.ask('PATCH', `${CLUSTERS}/one`, { body: { metadata: { labels } }, type: MERGE })
const floor = async () => {
  const { rows } = await api.database.store.pool.query('select floor from registration_revision')
  return Number(rows[0].floor)
}

test('old events are cleared away, and the floor rises to the last of them', async () => {
  const { pool } = api.database.store
  await api.ask('POST', CLUSTERS, { body: pediaCluster('one') })
  for (let i = 0; i < 20; i++) await write({ i: `${i}` })
  const { rows } = await pool.query('select max(resource_version) as last from registration_event')
  await pool.query("update registration_event set at = now() - interval '2 days'")
  expect(await floor()).toBe(0)
  for (let i = 20; i < 90; i++) await write({ i: `${i}` })
  expect(await floor()).toBe(Number(rows[0].last))
  const left = await pool.query('select count(*)::int as n from registration_event')
  expect(left.rows[0].n).toBe(70)
})

test('two processes on one store: what one writes, the other sees and may not overwrite', async () => {
  const { keyring, clock, database } = api
  const other = createRegistrations({ store: database.store, keyring, clock })
  const stopping = new AbortController()
  const kind = kindOfResource('cluster.clusterpedia.io', 'pediaclusters')
  const { json } = await api.ask('GET', `${CLUSTERS}/one`)
  const watching = other.watch(
    {
      ...{ kind, bookmarks: false, initialEvents: false, selects: () => true },
      after: BigInt(json.metadata.resourceVersion),
    },
    stopping.signal,
  )
  const first = watching.next()
  await write({ i: 'seen' })
  const { value } = await first
  expect(value).toMatchObject({ type: 'MODIFIED', object: { metadata: { labels: { i: 'seen' } } } })
  const outdated = other.replace({
    ...{ kind, name: 'one', subresource: '', options: { fieldManager: 'other' } },
    body: { text: JSON.stringify(json), format: 'json' },
  })
  await expect(outdated).rejects.toThrow('the object has been modified')
  stopping.abort()
  await watching.return(undefined)
  await other.close()
})

test('writers at the same time: one wins, the other is told', async () => {
  const { json } = await api.ask('GET', `${CLUSTERS}/one`)
  const replace = (label: string) =>
    api.ask('PUT', `${CLUSTERS}/one`, {
      body: { ...json, metadata: { ...json.metadata, labels: { label } } },
    })
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map(replace))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409])
})
