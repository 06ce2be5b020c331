import { Agent, request } from 'undici'
import { afterEach, describe, expect, test } from 'vitest'
import { type MemberOptions, MemberServer } from '../../src/demo/member-server.ts'
import { createDemoPki, type DemoPki } from '../../src/demo/pki.ts'
import { builtInResources } from '../../src/demo/recorded.ts'

const pki: DemoPki = await createDemoPki({ name: 'm', clientName: 'reader', now: Date.now() })
const other: DemoPki = await createDemoPki({ name: 'm', clientName: 'reader', now: Date.now() })

let member: MemberServer
const start = async (options: Partial<MemberOptions>) => {
  member = new MemberServer({
    version: 'v1.36.2',
    resources: builtInResources(),
    tls: { ...pki.server, clientCa: pki.ca },
    ...options,
  })
  await member.start()
}
afterEach(async () => await member.stop())

const get = async (
  path: string,
  as: { token?: string; client?: DemoPki['client']; ca?: string } = {},
) => {
  const dispatcher = new Agent({ connect: { ca: as.ca ?? pki.ca, ...as.client } })
  const headers = as.token ? { authorization: `Bearer ${as.token}` } : {}
  try {
    const { statusCode, body } = await request(member.url + path, { dispatcher, headers })
    return { status: statusCode, body: await body.text() }
  } finally {
    await dispatcher.destroy()
  }
}

describe('who may come in', () => {
  const CASES: ReadonlyArray<{
    who: string
    as: { token?: string; client?: DemoPki['client'] }
    path?: string
    status: number
  }> = [
    { who: 'a token', as: { token: 'right' }, status: 200 },
    { who: 'a wrong token', as: { token: 'wrong' }, status: 401 },
    {
      who: 'a wrong token, even for health',
      as: { token: 'wrong' },
      path: '/healthz',
      status: 401,
    },
    { who: 'a client certificate', as: { client: pki.client }, status: 200 },
    { who: 'a client certificate of another CA', as: { client: other.client }, status: 401 },
    { who: 'nobody', as: {}, status: 401 },
    { who: 'nobody, for health', as: {}, path: '/readyz', status: 200 },
    { who: 'nobody, for the version', as: {}, path: '/version', status: 200 },
  ]
  test.each(CASES)('$who: $status', async ({ as, path, status }) => {
    await start({ tokens: { right: 'reader' } })
    const answer = await get(path ?? '/api/v1/pods', as)
    expect(answer.status).toBe(status)
    if (status === 401) {
      expect(JSON.parse(answer.body)).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'Unauthorized',
        reason: 'Unauthorized',
        code: 401,
      })
    }
  })

  test('a token that is revoked is refused from then on', async () => {
    await start({ tokens: { right: 'reader' } })
    expect((await get('/api/v1/pods', { token: 'right' })).status).toBe(200)
    member.tokens.delete('right')
    expect((await get('/api/v1/pods', { token: 'right' })).status).toBe(401)
  })

  test('a client that trusts another CA does not connect', async () => {
    await start({})
    await expect(get('/version', { ca: other.ca })).rejects.toThrow(/certificate/)
  })
})

test('a renewed certificate is shown to those who connect from then on', async () => {
  await start({})
  member.renewCertificate(other.server)
  await expect(get('/version')).rejects.toThrow(/certificate/)
  expect((await get('/version', { ca: other.ca })).status).toBe(200)
})

describe('what they may read', () => {
  test('is refused in Kubernetes’ words', async () => {
    await start({
      tokens: { right: 'reader' },
      authorize: ({ resource }) => resource !== 'secrets',
    })
    const answer = await get('/api/v1/secrets', { token: 'right' })
    expect(JSON.parse(answer.body)).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message:
        'secrets is forbidden: User "reader" cannot list resource "secrets" in API group "" at the cluster scope',
      reason: 'Forbidden',
      details: { kind: 'secrets' },
      code: 403,
    })
    expect((await get('/api/v1/pods', { token: 'right' })).status).toBe(200)
  })
})

test('an API below a path answers there and nowhere else', async () => {
  await start({ basePath: '/k8s/clusters/c-1', tls: pki.server })
  expect(member.url).toMatch(/\/k8s\/clusters\/c-1$/)
  expect((await get('/api/v1/pods')).status).toBe(200)
  const { statusCode, body } = await request(`${new URL(member.url).origin}/api/v1/pods`, {
    dispatcher: new Agent({ connect: { ca: pki.ca } }),
  })
  await body.dump()
  expect(statusCode).toBe(404)
})
