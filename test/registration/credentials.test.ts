import { afterAll, beforeAll, expect, test } from 'vitest'
import { databaseRegistrationSource } from '../../src/registration/database-source.ts'
import {
  APPLY,
  base64,
  CLUSTERS,
  JSON_PATCH,
  MERGE,
  pediaCluster,
  type RegistrationServer,
  registrationServer,
} from './registration-server.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const TOKEN = base64('the-secret-token')
const KEY = base64('the-secret-key')
const KUBECONFIG = base64('the-secret-kubeconfig')
const SECRETS = { tokenData: TOKEN, keyData: KEY, kubeconfig: KUBECONFIG }

let api: RegistrationServer
beforeAll(async () => {
  api = await registrationServer()
})
afterAll(() => api.stop())

const digestOf = (secret: string) => base64(api.keyring.digest(Buffer.from(secret, 'base64')))

/** What a syncer is given. */
async function opened(name: string) {
  const source = databaseRegistrationSource(api.registrations)
  for await (const state of source.states(new AbortController().signal)) {
    return state.pediaClusters.find(({ metadata }) => metadata.name === name)?.spec
  }
  return undefined
}

/** No secret may stand in it, encoded or not. */
function expectNoSecret(text: string) {
  for (const secret of [TOKEN, KEY, KUBECONFIG]) {
    expect(text).not.toContain(secret)
    expect(text).not.toContain(Buffer.from(secret, 'base64').toString())
  }
}

test('digests stand in place of secrets, wherever an object is served', async () => {
  const cert = base64('a public certificate')
  const spec = { ...SECRETS, certData: cert, caData: cert }
  const manifest = pediaCluster('secret', spec)
  const body = pediaCluster('secret', spec, {
    annotations: { [LAST_APPLIED]: `${JSON.stringify(manifest)}\n` },
  })
  const tried = await api.ask('POST', `${CLUSTERS}?dryRun=All`, { body })
  const created = await api.ask('POST', CLUSTERS, { body })
  expect(created.json.spec).toEqual({
    apiserver: 'https://10.0.0.1:6443',
    tokenData: digestOf(TOKEN),
    keyData: digestOf(KEY),
    kubeconfig: digestOf(KUBECONFIG),
    certData: cert,
    caData: cert,
  })
  expect(Buffer.from(created.json.spec.tokenData, 'base64').toString()).toMatch(
    /^hmac-sha256:[0-9a-f]{64}$/,
  )
  const lastApplied = JSON.parse(created.json.metadata.annotations[LAST_APPLIED])
  expect(lastApplied.spec).toEqual(created.json.spec)
  const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  const answers = [
    tried,
    created,
    await api.ask('GET', `${CLUSTERS}/secret`),
    await api.ask('GET', `${CLUSTERS}?includeObject=Object`, { accept: table }),
    await api.ask('GET', CLUSTERS, { accept: 'application/yaml' }),
    await api.ask('GET', `${CLUSTERS}?pretty=true`),
  ]
  for (const { text } of answers) expectNoSecret(text)
  expect(await opened('secret')).toMatchObject(spec)
})

test('nothing of a secret is stored as it is', async () => {
  const { rows } = await api.database.store.pool.query(
    "select coalesce(string_agg(r::text, ''), '') || (select string_agg(e::text, '') from registration_event e) as text from registration r",
  )
  expectNoSecret(rows[0].text)
})

test('a digest that is written back stands for the secret', async () => {
  const { json } = await api.ask('GET', `${CLUSTERS}/secret`)
  const edited = { ...json, spec: { ...json.spec, shardingName: 'edited' } }
  expect((await api.ask('PUT', `${CLUSTERS}/secret`, { body: edited })).status).toBe(200)
  expect(await opened('secret')).toMatchObject({ ...SECRETS, shardingName: 'edited' })
})

test('a secret that is changed, and one that is removed', async () => {
  const next = base64('another-token')
  const { json } = await api.ask('PATCH', `${CLUSTERS}/secret`, {
    body: { spec: { tokenData: next, keyData: null } },
    type: MERGE,
  })
  expect([json.spec.tokenData, json.spec.keyData]).toEqual([digestOf(next), undefined])
  const spec = await opened('secret')
  expect([spec?.tokenData, spec?.keyData, spec?.kubeconfig]).toEqual([next, undefined, KUBECONFIG])
})

test('the same secret again is no change', async () => {
  const before = await api.ask('GET', `${CLUSTERS}/secret`)
  const body = { spec: { kubeconfig: KUBECONFIG } }
  const { json } = await api.ask('PATCH', `${CLUSTERS}/secret`, { body, type: MERGE })
  expect(json).toEqual(before.json)
})

test('a digest of something else is refused', async () => {
  const other = base64(`hmac-sha256:${'0'.repeat(64)}`)
  const message =
    'is the digest of a credential that is not stored here; give the credential itself'
  const patched = await api.ask('PATCH', `${CLUSTERS}/secret`, {
    body: [{ op: 'add', path: '/spec/keyData', value: other }],
    type: JSON_PATCH,
  })
  expect([patched.status, patched.json.details.causes[0].field]).toEqual([422, 'spec.keyData'])
  expect(patched.json.message).toContain(message)
  const created = await api.ask('POST', CLUSTERS, { body: pediaCluster('x', { tokenData: other }) })
  expect([created.status, created.json.details.causes[0].field]).toEqual([422, 'spec.tokenData'])
})

test('applying a manifest with the secret twice is no conflict and no change', async () => {
  const body = pediaCluster('applied', { tokenData: TOKEN })
  const path = `${CLUSTERS}/applied?fieldManager=a`
  const first = await api.ask('PATCH', path, { body, type: APPLY })
  const second = await api.ask('PATCH', path, { body, type: APPLY })
  expect(second.json).toEqual(first.json)
  const shared = await api.ask('PATCH', `${CLUSTERS}/applied?fieldManager=b`, { body, type: APPLY })
  expect([shared.status, shared.json.spec.tokenData]).toEqual([200, digestOf(TOKEN)])
  expect(await opened('applied')).toMatchObject({ tokenData: TOKEN })
})

test('credentials that do not open keep nobody from the rest, and can be given again', async () => {
  await api.ask('POST', CLUSTERS, { body: pediaCluster('damaged', SECRETS) })
  await api.database.store.db
    .updateTable('registration')
    .set({ credentials: Buffer.from('not what was sealed') })
    .where('name', '=', 'damaged')
    .execute()
  const patch = (body: object) => api.ask('PATCH', `${CLUSTERS}/damaged`, { body, type: MERGE })
  expect((await patch({ metadata: { labels: { env: 'prod' } } })).status).toBe(200)
  expect(await opened('damaged')).toMatchObject({ apiserver: 'https://10.0.0.1:6443' })
  const half = await patch({ spec: { keyData: base64('another key') } })
  expect(half.status).toBe(422)
  expect(half.json.message).toContain('is the digest of a credential that is not stored here')
  expect((await patch({ spec: SECRETS })).status).toBe(200)
  expect(await opened('damaged')).toMatchObject(SECRETS)
})

test('a refused patch does not show the secret', async () => {
  const answer = await api.ask('PATCH', `${CLUSTERS}/secret?fieldValidation=Strict`, {
    body: { spec: { tokenData: TOKEN, color: 'red' } },
    type: MERGE,
  })
  expect(answer.status).toBe(422)
  expectNoSecret(answer.text)
})

test('a last-applied annotation that is no object is not kept', async () => {
  const body = pediaCluster('odd', {}, { annotations: { [LAST_APPLIED]: `token: ${TOKEN}` } })
  const { json } = await api.ask('POST', CLUSTERS, { body })
  expect(json.metadata.annotations).toEqual({})
})
