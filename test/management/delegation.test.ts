/** What the management cluster says of readers: its tokens, its RBAC, whom it believes. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { delegatedAuthorizer } from '../../src/apiserver/access/authorizer.ts'
import { followTrust } from '../../src/apiserver/access/delegated/extension-authentication.ts'
import { ReviewMetrics } from '../../src/apiserver/access/delegated/review-metrics.ts'
import { reviewedAccess } from '../../src/apiserver/access/delegated/reviewed-access.ts'
import { reviewedTokens } from '../../src/apiserver/access/delegated/reviewed-tokens.ts'
import { ANONYMOUS, authenticated } from '../../src/apiserver/identity.ts'
import { type Clock, systemClock } from '../../src/clock.ts'
import { createLogger } from '../../src/log.ts'
import { Authority } from '../support/authority.ts'
import {
  apiserverInUse,
  type ManagementCluster,
  startManagementCluster,
} from '../support/management/management-cluster.ts'
import { type Reviews, reviewsStandIn } from '../support/management/reviews.ts'
import type { StandIn } from '../support/management/stand-in.ts'
import { until } from '../support/until.ts'

const RECORDED = join(import.meta.dirname, '../recorded/management')
const recorded = (file: string) => JSON.parse(readFileSync(join(RECORDED, file), 'utf8'))
const CONFIG_MAPS = { group: '', resource: 'configmaps' }
const LOG = createLogger('silent')

// A real server takes no tokens and no faults from a test.
describe.skipIf(apiserverInUse() === 'real')('with the stand-in', () => {
  let cluster: ManagementCluster
  let standIn: StandIn
  let reviews: Reviews

  beforeAll(async () => {
    cluster = await startManagementCluster()
    standIn = cluster.standIn!
  })

  beforeEach(() => {
    reviews = reviewsStandIn()
    standIn.answer(reviews.handler)
  })

  afterAll(() => cluster.stop())

  /** Time that passes when it is told to; pauses between tries take none. */
  function testClock(): Clock & { pass(seconds: number): void; readonly pauses: number[] } {
    let now = Date.now()
    const pauses: number[] = []
    return {
      pauses,
      now: () => now,
      sleep: async (milliseconds) => void pauses.push(milliseconds),
      pass: (seconds) => {
        now += seconds * 1000
      },
    }
  }

  describe('the stand-in answers as a real server was seen to', () => {
    test.each<{ request: { path: string; body: string }; response: { body: string } }>(
      recorded('reviews.json'),
    )('$request.path', async ({ request, response }) => {
      const { status, body } = await cluster.admin.request('POST', request.path, {
        body: JSON.parse(request.body),
      })
      const { metadata: _, ...expected } = JSON.parse(response.body)
      const { metadata: __, ...answered } = body as typeof expected
      expect([status, answered]).toEqual([201, expected])
    })
  })

  describe('a token of the management cluster', () => {
    function tokens(audiences: readonly string[] = []) {
      const clock = testClock()
      const find = reviewedTokens({ client: cluster.admin, clock, audiences })
      return { clock, find }
    }

    test('names its user, with all that is known of them', async () => {
      reviews.tokens.set('of-jane', {
        ...{ username: 'jane', uid: '7', groups: ['devs'], extra: { scopes: ['a', 'b'] } },
      })
      expect(await tokens().find('of-jane')).toEqual({
        ...{ user: 'jane', uid: '7', extra: { scopes: ['a', 'b'] } },
        groups: ['devs', 'system:authenticated'],
      })
    })

    test.each([
      ['good', 'of-jane'],
      ['bad', 'of-nobody'],
    ])('that is %s is asked about once in ten seconds', async (_name, token) => {
      reviews.tokens.set('of-jane', { username: 'jane' })
      const { clock, find } = tokens()
      const answers = await Promise.all([find(token), find(token)])
      expect(answers[0]).toBe(answers[1])
      clock.pass(9)
      await find(token)
      expect(reviews.asked.tokens).toHaveLength(1)
      clock.pass(2)
      await find(token)
      expect(reviews.asked.tokens).toHaveLength(2)
    })

    test('must be meant for us, where audiences are told', async () => {
      for (const token of ['of-jane', 'for-us']) reviews.tokens.set(token, { username: token })
      reviews.audiences.set('for-us', ['fleetglass', 'another'])
      const { find } = tokens(['fleetglass'])
      expect(await find('of-jane')).toBeUndefined()
      expect(await find('for-us')).toMatchObject({ user: 'for-us' })
      expect(reviews.asked.tokens).toContainEqual({ token: 'for-us', audiences: ['fleetglass'] })
    })

    test('is asked about again when that may help, and not kept when it does not', async () => {
      reviews.tokens.set('of-jane', { username: 'jane' })
      const { clock, find } = tokens()
      let failures = 2
      standIn.answer(async ({ path }) => {
        if (!path.endsWith('tokenreviews') || failures-- <= 0) return undefined
        return { code: 500, contentType: 'text/plain', body: 'no' }
      })
      expect(await find('of-jane')).toMatchObject({ user: 'jane' })
      expect(clock.pauses).toHaveLength(2)
      const [first = 0, second = 0] = clock.pauses
      expect(first).toBeGreaterThanOrEqual(500)
      expect(second).toBeGreaterThanOrEqual(750)
      failures = 5
      clock.pass(11)
      await expect(find('of-jane')).rejects.toMatchObject({
        reason: 'ServiceUnavailable',
        details: { retryAfterSeconds: 1 },
      })
      expect(await find('of-jane')).toMatchObject({ user: 'jane' })
    })

    test('is counted, as extension servers do', async () => {
      reviews.tokens.set('of-jane', { username: 'jane' })
      const registry = new Registry()
      const clock = testClock()
      const parts = { client: cluster.admin, clock, metrics: new ReviewMetrics(registry) }
      await reviewedTokens({ ...parts, audiences: [] })('of-jane')
      await reviewedAccess(parts)(authenticated('jane', []), { verb: 'get', path: '/x' })
      standIn.answer(async ({ path }) =>
        path.endsWith('tokenreviews')
          ? { code: 403, contentType: 'text/plain', body: 'no' }
          : undefined,
      )
      await reviewedTokens({ ...parts, audiences: [] })('of-jane').catch(() => undefined)
      const text = await registry.metrics()
      expect(text).toContain('apiserver_delegated_authn_request_total{code="201"} 1')
      expect(text).toContain('apiserver_delegated_authn_request_total{code="403"} 1')
      expect(text).toContain('apiserver_delegated_authz_request_total{code="201"} 1')
      expect(text).toContain('apiserver_delegated_authz_request_duration_seconds_count')
    })

    test('is in no message, when our own account may not ask', async () => {
      standIn.answer(async ({ path }) => {
        if (!path.endsWith('tokenreviews')) return undefined
        return { code: 403, contentType: 'text/plain', body: 'not you, secret-token' }
      })
      const failure = await tokens().find('secret-token').catch(String)
      expect(failure).toContain('403')
      expect(failure).toContain('system:auth-delegator')
      expect(failure).not.toContain('secret-token')
    })
  })

  describe('a right that RBAC gives', () => {
    const JANE = authenticated('jane', ['devs'], { uid: '7', extra: { scopes: ['a'] } })
    const METRICS = { verb: 'get', path: '/metrics' }

    test('is asked about with all that is known of the reader, once in ten seconds', async () => {
      reviews.allows = ({ nonResourceAttributes }) => nonResourceAttributes?.path === '/metrics'
      const clock = testClock()
      const authorize = delegatedAuthorizer(reviewedAccess({ client: cluster.admin, clock }))
      for (let i = 0; i < 3; i++) {
        expect(await authorize(JANE, METRICS)).toEqual({ allowed: true })
        expect(await authorize(JANE, { verb: 'get', path: '/x' })).toEqual({ allowed: false })
      }
      expect(reviews.asked.access).toEqual([
        {
          ...{ user: 'jane', uid: '7', groups: ['devs', 'system:authenticated'] },
          extra: { scopes: ['a'] },
          nonResourceAttributes: METRICS,
        },
        expect.objectContaining({ nonResourceAttributes: { verb: 'get', path: '/x' } }),
      ])
      clock.pass(11)
      reviews.allows = () => false
      expect(await authorize(JANE, METRICS)).toEqual({ allowed: false })
    })

    test('is not asked about for administrators and for nobody', async () => {
      const authorize = delegatedAuthorizer(
        reviewedAccess({ client: cluster.admin, clock: testClock() }),
      )
      expect(await authorize(authenticated('root', ['system:masters']), METRICS)).toEqual({
        allowed: true,
      })
      expect(await authorize(ANONYMOUS, METRICS)).toEqual({ allowed: false })
      expect(reviews.asked.access).toEqual([])
    })
  })

  test('whom it believes is followed: missing, there, changed, broken, gone', async () => {
    const told = recorded('extension-apiserver-authentication.json')
    const [proxy, users, renewed] = [
      await Authority.root('CN=proxy'),
      await Authority.root('CN=users'),
      await Authority.root('CN=renewed'),
    ]
    const put = (data: Readonly<Record<string, string>>) => {
      const { name, namespace } = told.metadata
      standIn.member.put(CONFIG_MAPS, { metadata: { name, namespace }, data })
    }
    const followed = followTrust({ client: cluster.admin, clock: systemClock, log: LOG })
    const where = 'the ConfigMap kube-system/extension-apiserver-authentication'
    await until(() => followed.trouble === `${where} is not there`)

    put({ 'client-ca-file': users.cert })
    await until(() => followed.trouble === `${where} has no requestheader-client-ca-file`)

    const data = {
      ...told.data,
      'client-ca-file': users.cert,
      'requestheader-client-ca-file': proxy.cert,
    }
    put(data)
    await until(() => followed.trouble === undefined)
    expect(followed.told.clientCa?.pem).toBe(users.cert)
    expect(followed.told.requestHeader).toEqual({
      ca: expect.objectContaining({ pem: proxy.cert }),
      allowedNames: ['front-proxy-client'],
      usernameHeaders: ['X-Remote-User'],
      uidHeaders: [],
      groupHeaders: ['X-Remote-Group'],
      extraPrefixes: ['X-Remote-Extra-'],
    })

    put({ ...data, 'requestheader-client-ca-file': `${proxy.cert}${renewed.cert}` })
    await until(() => followed.told.requestHeader?.ca.pem.includes(renewed.cert) === true)

    put({ ...data, 'requestheader-allowed-names': 'front-proxy-client' })
    put({ ...data, 'client-ca-file': renewed.cert, 'requestheader-client-ca-file': 'no PEM' })
    standIn.member.remove(CONFIG_MAPS, 'kube-system', told.metadata.name)
    put({ ...data, 'requestheader-allowed-names': '[]' })
    await until(() => followed.told.requestHeader?.allowedNames.length === 0)
    expect(followed.told.clientCa?.pem).toBe(users.cert)
    await followed.stop()
  })
})
