import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CertificateBundle } from '../../src/apiserver/access/authentication/certificate-bundle.ts'
import { authenticatorOf } from '../../src/apiserver/access/authentication/trust.ts'
import { standaloneAuthorizer } from '../../src/apiserver/access/authorizer.ts'
import { authentication } from '../../src/apiserver/plugins/authenticate.ts'
import { systemClock } from '../../src/clock.ts'
import { createAccessToken, revokeAccessToken } from '../../src/store/access-tokens.ts'
import { makeCertificates } from '../support/certificates.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type DocumentServer, documentServer } from '../support/document-server.ts'
import { until } from '../support/until.ts'

const FLEET = '/apis/clusterpedia.io/v1beta1/resources'
const UNAUTHORIZED =
  '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}\n'

let database: TestDatabase
let fleet: DocumentServer

beforeAll(async () => {
  database = await testDatabase()
  fleet = await documentServer(database.store)
})

afterAll(async () => {
  await fleet.close()
  await database.drop()
})

async function get(url: string, headers: Record<string, string> = {}) {
  return fleet.server.inject({ url, headers })
}

describe('someone who does not say who they are', () => {
  test.each(
    ['', FLEET, `${FLEET}/clusters/any`].flatMap((prefix) =>
      ['/healthz', '/livez', '/readyz', '/version'].map((path) => prefix + path),
    ),
  )('may ask for %s', async (path) => {
    expect((await get(path)).statusCode).toBe(200)
  })

  test.each([
    '/',
    '/api',
    '/apis',
    '/metrics',
    '/openapi/v3',
    `${FLEET}/api/v1/pods`,
    `${FLEET}/versions`,
    '/no/version',
    '/version/more',
  ])('may not ask for %s', async (path) => {
    const answer = await get(path)
    expect([answer.statusCode, answer.body]).toEqual([401, UNAUTHORIZED])
  })

  test('may not post to a path that is open', async () => {
    const answer = await fleet.server.inject({ method: 'POST', url: '/version' })
    expect(answer.statusCode).toBe(401)
  })

  test('learns the version of no member', async () => {
    const answer = await get(`${FLEET}/version`)
    expect(answer.json().gitVersion).toBe('v1.36.2')
  })
})

describe('a bearer token', () => {
  const make = (name: string, lifetimeSeconds: number) =>
    createAccessToken(database.store, {
      ...{ name, userName: 'jane', groups: ['devs'] },
      expiresAt: new Date(Date.now() + lifetimeSeconds * 1000),
    })

  test('names its user', async () => {
    const authorization = `Bearer ${await make('good', 60)}`
    const answer = await fleet.server.inject({
      method: 'POST',
      url: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      headers: { authorization },
      payload: {},
    })
    expect(answer.json().status.userInfo).toEqual({
      username: 'jane',
      groups: ['devs', 'system:authenticated'],
    })
  })

  test('counts no longer a few seconds after it is revoked', async () => {
    const authorization = `Bearer ${await make('revoked', 60)}`
    expect((await get('/api', { authorization })).statusCode).toBe(200)
    await revokeAccessToken(database.store, 'revoked')
    await until(async () => (await get('/api', { authorization })).statusCode === 401)
  })

  test.each([
    ['is expired', async () => `Bearer ${await make('expired', -1)}`],
    ['is not ours', async () => 'Bearer eyJhbGciOi.x.y'],
    ['has another secret', async () => `Bearer ${(await make('other', 60)).slice(0, -3)}AAA`],
    ['is empty', async () => 'Bearer '],
    ['comes in another scheme', async () => 'Basic amFuZTpqYW5l'],
  ])('that %s is refused, on open paths too', async (_name, make) => {
    const authorization = await make()
    for (const path of ['/api', '/healthz']) {
      const answer = await get(path, { authorization })
      expect([answer.statusCode, answer.body]).toEqual([401, UNAUTHORIZED])
    }
  })
})

describe('a client certificate', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fleetglass-certificates-'))
  const read = (file: string) => readFileSync(join(folder, file))
  let port: number
  let close: () => Promise<unknown>

  beforeAll(async () => {
    await makeCertificates(folder)
    const server = Fastify({
      https: {
        ...{ key: read('server.key'), cert: read('server.crt'), ca: [] },
        ...{ requestCert: true, rejectUnauthorized: false },
      },
    })
    const clientCas = [new CertificateBundle(read('ca.crt').toString())]
    await server.register(authentication, {
      authenticate: authenticatorOf({
        trust: { clientCas: () => clientCas },
        findToken: async () => undefined,
        clock: systemClock,
      }),
      authorize: standaloneAuthorizer,
    })
    server.get('/who', (ask) => ask.identity)
    server.get('/version', (ask) => ask.identity)
    await server.listen({ port: 0, host: '127.0.0.1' })
    port = (server.server.address() as AddressInfo).port
    close = () => server.close()
  })

  afterAll(async () => {
    await close()
    rmSync(folder, { recursive: true })
  })

  function ask(path: string, certificate?: string): Promise<{ code: number; body: string }> {
    const client = certificate && {
      key: read(`${certificate}.key`),
      cert: read(`${certificate}.crt`),
    }
    return new Promise((resolve, reject) => {
      const agent = new Agent({ ca: read('ca.crt'), ...client })
      request({ agent, port, host: '127.0.0.1', path }, (answer) => {
        let body = ''
        answer.on('data', (chunk) => {
          body += chunk
        })
        answer.on('end', () => {
          agent.destroy()
          resolve({ code: answer.statusCode ?? 0, body })
        })
      })
        .on('error', reject)
        .end()
    })
  }

  test.each([
    ['admin', { user: 'admin', groups: ['system:masters', 'ops', 'system:authenticated'] }],
    ['alone', { user: 'alone', groups: ['system:authenticated'] }],
  ])('of our CA names its user: %s', async (certificate, identity) => {
    const { code, body } = await ask('/who', certificate)
    expect(code).toBe(200)
    const { fingerprint256 } = new X509Certificate(read(`${certificate}.crt`))
    const digest = fingerprint256.replaceAll(':', '').toLowerCase()
    expect(JSON.parse(body)).toEqual({
      ...identity,
      extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${digest}`] },
    })
  })

  test.each([
    ['of another CA', 'forged'],
    ['without a name', 'nameless'],
    ['that is not there', undefined],
  ])('%s names nobody', async (_name, certificate) => {
    expect((await ask('/who', certificate)).code).toBe(500)
    expect(JSON.parse((await ask('/version', certificate)).body).user).toBe('system:anonymous')
  })
})
