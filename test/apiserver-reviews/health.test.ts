import Fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import { Counter, Registry } from 'prom-client'
import { afterEach, describe, expect, test } from 'vitest'
import { standaloneAuthorizer } from '../../src/apiserver/access/authorizer.ts'
import { health } from '../../src/apiserver/health/plugin.ts'
import { authenticated, type Identity, identityDecoration } from '../../src/apiserver/identity.ts'
import { statusErrors } from '../../src/apiserver/plugins/status-errors.ts'
import { systemClock } from '../../src/clock.ts'
import { createLogger } from '../../src/log.ts'

const FLEET = '/apis/clusterpedia.io/v1beta1/resources'

let server: FastifyInstance

afterEach(() => server.close())

interface Situation {
  readonly pingDatabase?: () => Promise<unknown>
  readonly isStopping?: boolean
  readonly trouble?: string
  readonly identity?: Identity
}

async function start({
  pingDatabase,
  isStopping = false,
  trouble,
  identity,
}: Situation): Promise<void> {
  server = Fastify()
  const metrics = new Registry()
  new Counter({ name: 'fleetglass_tests', help: 'h', registers: [metrics] }).inc()
  await server.register(statusErrors)
  await server.register(identityDecoration)
  server.addHook('onRequest', async (request) => {
    if (identity) request.identity = identity
  })
  const plugin: FastifyPluginAsync = (inner) =>
    health(inner, {
      pingDatabase: pingDatabase ?? (async () => 1),
      isStopping: () => isStopping,
      ...(trouble && { readiness: [{ name: 'management-cluster', trouble: () => trouble }] }),
      ...{
        metrics,
        authorize: standaloneAuthorizer,
        log: createLogger('silent'),
        clock: systemClock,
      },
    })
  await server.register(plugin)
}

const refused = async () => {
  throw new Error('connection refused')
}

const ALL_WELL = '[+]ping ok\n[+]database ok\n[+]shutdown ok\nreadyz check passed\n'

describe('is it alive, is it ready', () => {
  test.each<[string, string, Situation, number, string]>([
    ['healthz', '/healthz', {}, 200, 'ok'],
    ['livez of a member', `${FLEET}/clusters/any/livez`, {}, 200, 'ok'],
    ['readyz of the fleet', `${FLEET}/readyz`, {}, 200, 'ok'],
    ['in words', '/readyz?verbose', {}, 200, ALL_WELL],
    [
      'in words, as kubectl asks',
      '/livez?verbose=true',
      {},
      200,
      '[+]ping ok\nlivez check passed\n',
    ],
    ['one check', '/readyz/database', {}, 200, 'ok'],
    ['alive without a database', '/livez', { pingDatabase: refused }, 200, 'ok'],
    [
      'not ready without a database, and not why',
      '/readyz',
      { pingDatabase: refused },
      500,
      '[+]ping ok\n[-]database failed: it does not answer\n[+]shutdown ok\nreadyz check failed\n',
    ],
    [
      'not ready, and why when it is no secret',
      '/readyz',
      { trouble: 'connection refused' },
      500,
      '[+]ping ok\n[+]database ok\n[-]management-cluster failed: connection refused\n[+]shutdown ok\nreadyz check failed\n',
    ],
    [
      'that check alone',
      '/readyz/management-cluster',
      { trouble: 'connection refused' },
      500,
      'internal server error: management-cluster: connection refused\n',
    ],
    ['alive all the same', '/livez', { trouble: 'connection refused' }, 200, 'ok'],
    [
      'a check that is left out',
      '/readyz?verbose&exclude=database',
      { pingDatabase: refused },
      200,
      '[+]ping ok\n[+]database excluded: ok\n[+]shutdown ok\nreadyz check passed\n',
    ],
    [
      'not ready while it stops',
      '/readyz/shutdown',
      { isStopping: true },
      500,
      'internal server error: shutdown: reason withheld\n',
    ],
    ['an unknown check', '/readyz/etcd', {}, 404, '404 page not found\n'],
  ])('%s', async (...[, url, situation, code, body]) => {
    await start(situation)
    const answer = await server.inject({ url })
    expect([answer.statusCode, answer.body]).toEqual([code, body])
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
  })

  test('a database that hangs is given up, and asked once for many who ask', async () => {
    let asked = 0
    await start({
      pingDatabase: () => {
        asked++
        return new Promise(() => undefined)
      },
    })
    const answers = await Promise.all([1, 2, 3].map(() => server.inject({ url: '/readyz' })))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([500, 500, 500])
    expect(asked).toBe(1)
  })
})

describe('/metrics', () => {
  test.each(['system:masters', 'system:monitoring'])('are for %s', async (group) => {
    await start({ identity: authenticated('someone', [group]) })
    const answer = await server.inject({ url: '/metrics' })
    expect(answer.headers['content-type']).toContain('text/plain; version=0.0.4')
    expect(answer.body).toContain('fleetglass_tests 1')
  })

  test('are not for a viewer, for they tell of all clusters', async () => {
    await start({ identity: authenticated('jane', ['devs']) })
    const answer = await server.inject({ url: '/metrics' })
    expect(answer.statusCode).toBe(403)
    expect(answer.json().message).toBe('forbidden: User "jane" cannot get path "/metrics"')
  })
})
