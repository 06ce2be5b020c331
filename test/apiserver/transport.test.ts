/** HTTP itself: TLS, what is not even a request, limits, answers that are cut off, stopping. */
import { once } from 'node:events'
import {
  Agent,
  type ClientRequest,
  createServer,
  get,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import { get as getTls } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import Fastify from 'fastify'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CertificateBundle } from '../../src/apiserver/access/authentication/certificate-bundle.ts'
import { OpenStreams } from '../../src/apiserver/open-streams.ts'
import { answerClientError } from '../../src/apiserver/plugins/client-errors.ts'
import { pipelining } from '../../src/apiserver/plugins/pipelining.ts'
import { streamAnswer } from '../../src/apiserver/routes/stream-answer.ts'
import { systemClock } from '../../src/clock.ts'
import { createDemoPki } from '../../src/demo/pki.ts'
import { FLEET_PREFIX } from '../../src/kube/fleet-prefix.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer } from '../support/fleet-server.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'
import { until } from '../support/until.ts'

const PODS: MemberType = {
  ...{ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true },
}

let database: TestDatabase
let fleet: FleetServer
let url: string

beforeAll(async () => {
  database = await testDatabase()
  const cluster = await FilledCluster.create(database.store, 'dot-01')
  await cluster.fill(PODS, [{ metadata: metadata('web-0', { namespace: 'shop' }) }])
  fleet = await fleetServer(database.store)
  url = await fleet.listen()
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

async function answerOf(request: ClientRequest) {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const { statusCode, headers } = response
  return { status: statusCode, headers, text: Buffer.concat(chunks).toString('utf8') }
}

const ask = (path: string, options: RequestOptions = {}) =>
  answerOf(
    get(`${url}${FLEET_PREFIX}${path}`, {
      headers: { authorization: `Bearer ${fleet.admin.token}` },
      ...options,
    }),
  )

/** Sends bytes as they are, and reads until the other side is done. */
async function sendRaw(text: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(text)
  let answer = ''
  for await (const chunk of socket) answer += chunk
  return answer
}

/** A request with a token, after whose answer the connection is closed. */
function asked(line: string, headers: readonly string[] = []): string {
  const all = ['Host: x', 'Authorization: Bearer TOKEN', 'Connection: close', ...headers]
  return `${line} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`
}

test.each([
  ['a whole URL', `GET http://x:1${FLEET_PREFIX}/api/v1/pods?limit=1`, 200],
  ['a whole URL that anyone may ask', 'GET HTTPS://x/version', 200],
  ['a host alone', 'GET http://x', 200],
  ['no path at all', 'OPTIONS *', 404],
])('%s: %s', async (_, line, code) => {
  const answer = await sendRaw(asked(line).replace('TOKEN', fleet.admin.token))
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${code} `))
})

describe('what is no request', () => {
  const cases: ReadonlyArray<{
    readonly name: string
    readonly text: string
    readonly code: number
  }> = [
    { name: 'rubbish', text: 'GE\x01T / HTTP/1.1\r\n\r\n', code: 400 },
    {
      name: 'two lengths',
      text: 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      code: 400,
    },
    {
      name: 'headers without end',
      text: `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(600_000)}\r\n\r\n`,
      code: 431,
    },
    { name: 'no host', text: 'GET /version HTTP/1.1\r\nConnection: close\r\n\r\n', code: 400 },
    { name: 'a version to come', text: 'GET / HTTP/9.9\r\nHost: x\r\n\r\n', code: 400 },
    {
      name: 'a header that is none',
      text: 'GET / HTTP/1.1\r\nHost: x\r\na b: c\r\n\r\n',
      code: 400,
    },
    {
      name: 'a length that is no number',
      text: 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n',
      code: 400,
    },
    {
      name: 'a chunk with more beside it than in it',
      text: `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;${'a'.repeat(20_000)}\r\n`,
      code: 413,
    },
    { name: 'a tunnel', text: 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', code: 405 },
    {
      name: 'an expectation of something else',
      text: 'GET / HTTP/1.1\r\nHost: x\r\nExpect: cake\r\nConnection: close\r\n\r\n',
      code: 417,
    },
    { name: 'an escape at the root', text: asked('GET /%zz'), code: 400 },
    {
      name: 'a body that is too long',
      text: `${asked('POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews', [
        'Content-Type: application/json',
        'Content-Length: 50000000',
      ])}{`,
      code: 413,
    },
    {
      name: 'a body of no media type',
      text: `${asked('POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews', [
        'Content-Type: ;;',
        'Content-Length: 1',
      ])}{`,
      code: 415,
    },
  ]
  for (const { name, text, code } of cases) {
    test(`${code} for ${name}, as a Status`, async () => {
      const answer = await sendRaw(text.replace('TOKEN', fleet.admin.token))
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${code} `))
      const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
      expect(JSON.parse(body)).toMatchObject({ kind: 'Status', code })
      expect(answer).toMatch(/^content-type: application\/json\r$/im)
    })
  }

  test('408 for a request that does not come to its end, as a Status', async () => {
    const server = createServer({ connectionsCheckingInterval: 10, headersTimeout: 20 })
    server.on('clientError', answerClientError)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n')
    let answer = ''
    for await (const chunk of socket) answer += chunk
    server.close()
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
    expect(JSON.parse(body)).toMatchObject({ kind: 'Status', code: 408 })
  })

  test('an escape that cannot be decoded is a Status', async () => {
    const { status, text } = await ask('/api/v1/pods/%zz')
    expect([status, JSON.parse(text).kind]).toEqual([400, 'Status'])
  })
})

test('a selector of 100 KB is read, escaped as it is', async () => {
  const values = Array.from(
    { length: 4_000 },
    (_, i) => `value-${String(i).padStart(6, '0')}-abcdefg`,
  )
  const selector = encodeURIComponent(`app notin (${values.join(', ')})`)
  expect(selector.length).toBeGreaterThan(100 * 1024)
  const { status, text } = await ask(`/api/v1/pods?labelSelector=${selector}`)
  expect([status, JSON.parse(text).items?.length]).toEqual([200, 1])
})

test('every answer has an id that the log has, too, and must not be kept by caches', async () => {
  for (const path of ['/api/v1/pods', '/api/v1/namespaces/shop/pods/web-0', '/api/v1/nope']) {
    const { headers } = await ask(path)
    expect(headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(headers['cache-control']).toBe('no-cache, private')
  }
})

describe('requests that are sent without reading an answer', () => {
  test('are answered in their order', async () => {
    const line = (path: string) =>
      `GET ${FLEET_PREFIX}${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${fleet.admin.token}\r\n\r\n`
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let answers = ''
    socket.setEncoding('utf8').on('data', (text: string) => {
      answers += text
    })
    socket.write(line('/api/v1/pods') + line('/nothing') + line('/version'))
    await until(() => answers.includes('"gitVersion"'))
    socket.destroy()
    const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code)
    expect(statuses).toEqual(['200', '404', '200'])
  })

  test('are started one after another, and not at all once the client has gone', async () => {
    const server = Fastify()
    await server.register(pipelining)
    const started: Array<() => void> = []
    server.get('/', async () => new Promise((resolve) => started.push(() => resolve('done'))))
    let failed = 0
    server.addHook('onError', async () => {
      failed++
    })
    await server.listen({ port: 0, host: '127.0.0.1' })
    const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(4))
    await until(() => started.length > 0)
    started[0]!()
    await until(() => started.length > 1)
    socket.destroy()
    await until(() => failed === 2)
    expect(started).toHaveLength(2)
    started[1]!()
    await server.close()
  })
})

test('who does not say who they are is told so', async () => {
  const { status, text } = await ask('/api/v1/pods', { headers: {} })
  expect([status, JSON.parse(text).reason]).toEqual([401, 'Unauthorized'])
})

test('the log says who asked what and how it ended, and never a credential', async () => {
  const lines: string[] = []
  const log = pino({ level: 'debug' }, { write: (line) => void lines.push(line) })
  const logged = await fleetServer(database.store, { log })
  const { admin } = logged
  const base = await logged.listen()
  const headers = { authorization: `Bearer ${admin.token}`, 'user-agent': 'kubectl/v1' }
  const selector = `app!=${'x'.repeat(60)},`.repeat(20)
  for (const path of [
    `/api/v1/pods?labelSelector=${selector}y`,
    '/api/v1/namespaces/shop/pods/nope',
  ]) {
    await answerOf(get(`${base}${FLEET_PREFIX}${path}`, { headers }))
  }
  const response = await answerOf(
    get(`${base}${FLEET_PREFIX}/api`, { headers: { authorization: 'Bearer no-such.token' } }),
  )
  expect(response.status).toBe(401)
  await logged.close()
  const answered = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'answered')
  expect(answered).toMatchObject([
    { method: 'GET', user: 'admin', status: 200, userAgent: 'kubectl/v1' },
    { method: 'GET', user: 'admin', status: 404 },
    { method: 'GET', user: 'system:anonymous', status: 401 },
  ])
  expect(answered[0].url.length).toBeLessThan(600)
  expect(answered[0].reqId).toMatch(/^[0-9a-f-]{36}$/)
  expect(lines.join('')).not.toContain(admin.token)
  expect(lines.join('')).not.toContain('no-such.token')
})

describe('over TLS', () => {
  test('a token is enough; so is a certificate of our CA; another is nobody', async () => {
    const pki = (name: string) => createDemoPki({ name, clientName: 'jane', now: Date.now() })
    const [ours, others] = await Promise.all([pki('ours'), pki('others')])
    const clientCas = [new CertificateBundle(ours.ca)]
    const trust = { clientCas: () => clientCas }
    const secure = await fleetServer(database.store, { tls: ours.server, trust })
    const address = new URL(await secure.listen())
    const asking = (options: RequestOptions & { cert?: string; key?: string }) => {
      const path = `${FLEET_PREFIX}/api/v1/pods`
      const to = { host: '127.0.0.1', port: address.port, path, ca: ours.ca, agent: false }
      return answerOf(getTls({ ...to, checkServerIdentity: () => undefined, ...options }))
    }
    const authorization = `Bearer ${secure.admin.token}`
    expect((await asking({ headers: { authorization } })).status).toBe(200)
    const byCertificate = await asking(ours.client)
    expect(byCertificate.status).toBe(403)
    expect(byCertificate.text).toContain('User \\"jane\\" cannot list resource')
    expect((await asking(others.client)).status).toBe(401)
    await secure.close()
  })

  test('a connection on which TLS does not begin is closed', async () => {
    const { server } = await createDemoPki({ name: 'ours', clientName: 'jane', now: Date.now() })
    const secure = await fleetServer(database.store, { tls: { ...server, handshakeTimeout: 20 } })
    const { port } = new URL(await secure.listen())
    const socket = connect(Number(port), '127.0.0.1').resume()
    await once(socket, 'close')
    await secure.close()
  })
})

describe('an answer that fails half way', () => {
  test('breaks the connection, so that it never looks complete', async () => {
    const server = Fastify()
    const open = new OpenStreams()
    server.get('/', (request, reply) =>
      streamAnswer(
        { request, reply },
        {
          contentType: 'application/json',
          warnings: [],
          async *rows() {
            yield []
            await delay(50)
            throw new Error('the database is gone')
          },
          async write(sink, batches) {
            await sink.write(Buffer.from('{"items":['.padEnd(200_000, ' ')))
            for await (const _ of batches);
            await sink.write(Buffer.from(']}'))
          },
        },
        open,
      ),
    )
    const address = await server.listen({ host: '127.0.0.1', port: 0 })
    const [response] = (await once(get(address), 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(200)
    const read = async () => {
      for await (const _ of response);
    }
    await expect(read()).rejects.toThrow('aborted')
    await server.close()
  })
})

describe('a server that stops', () => {
  test('refuses what comes on a connection that is open, and says when to come back', async () => {
    const stopping = await fleetServer(database.store)
    const { hostname, port } = new URL(await stopping.listen())
    const socket = connect(Number(port), hostname)
    const first = `GET /version HTTP/1.1\r\nHost: x\r\n\r\n`
    // What follows in the same packet has begun to arrive once the first is answered.
    socket.write(`${first}GET /version HTTP/1.1\r\nHost: x\r\n`)
    let answer = ''
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text
    })
    await until(() => answer.endsWith('}'))
    answer = ''
    const closed = stopping.close()
    await until(() => !stopping.server.server.listening)
    socket.write('\r\n')
    await once(socket, 'close')
    await closed
    expect(answer).toMatch(/^HTTP\/1\.1 503 /)
    expect(answer).toMatch(/^retry-after: 1\r$/im)
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
      ...{ kind: 'Status', code: 503, reason: 'ServiceUnavailable' },
      details: { retryAfterSeconds: 1 },
    })
  })

  test('lets a list end that is under way, and cuts off one that does not', async () => {
    const server = Fastify({ forceCloseConnections: 'idle' })
    const open = new OpenStreams()
    server.addHook('preClose', () => open.close(systemClock, 2_000))
    const finish = Promise.withResolvers<void>()
    const begun: Readonly<Record<string, PromiseWithResolvers<void>>> = {
      short: Promise.withResolvers(),
      long: Promise.withResolvers(),
    }
    server.get<{ Params: { wait: string } }>('/:wait', (request, reply) =>
      streamAnswer(
        { request, reply },
        {
          contentType: 'application/json',
          warnings: [],
          async *rows() {
            yield []
          },
          async write(sink) {
            await sink.write(Buffer.from('['.padEnd(200_000, ' ')))
            begun[request.params.wait]!.resolve()
            await (request.params.wait === 'short' ? finish.promise : new Promise(() => undefined))
            await sink.write(Buffer.from(']'))
          },
        },
        open,
      ),
    )
    const address = await server.listen({ host: '127.0.0.1', port: 0 })
    const short = answerOf(get(`${address}/short`))
    const long = answerOf(get(`${address}/long`))
    const longFails = expect(long).rejects.toThrow('aborted')
    await Promise.all(Object.values(begun).map(({ promise }) => promise))
    const closed = server.close()
    finish.resolve()
    expect((await short).text.trimEnd().endsWith(']')).toBe(true)
    await longFails
    await closed
  })
})

test('a connection is kept for longer than kube-aggregator keeps it', async () => {
  const agent = new Agent({ keepAlive: true })
  try {
    const { headers } = await answerOf(get(`${url}/livez`, { agent }))
    const [, seconds] = /timeout=(\d+)/.exec(String(headers['keep-alive'])) ?? []
    expect(Number(seconds)).toBeGreaterThan(90)
  } finally {
    agent.destroy()
  }
})
