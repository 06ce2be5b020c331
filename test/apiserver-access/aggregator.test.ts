/** Who is asking, over TLS: the front proxy's word, client certificates, tokens, impersonation. */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CertificateBundle } from '../../src/apiserver/access/authentication/certificate-bundle.ts'
import type { RequestHeaderTrust } from '../../src/apiserver/access/authentication/request-header.ts'
import { createLogger } from '../../src/log.ts'
import { Authority, FOR_THIS_MACHINE } from '../support/authority.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer } from '../support/fleet-server.ts'
import { FilledCluster, metadata } from '../support/objects.ts'

interface Recorded {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
}

const RECORDED: readonly Recorded[] = JSON.parse(
  readFileSync(join(import.meta.dirname, '../recorded/management/aggregator.json'), 'utf8'),
).filter((one: Recorded) => one.headers)

const WHO = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

let database: TestDatabase
let fleet: FleetServer
let url: URL
let ca: string
const lines: string[] = []
const clients = new Map<string, Authority>()
const trusted: { requestHeader?: RequestHeaderTrust; clientCa?: CertificateBundle } = {}

beforeAll(async () => {
  database = await testDatabase()
  const pods = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }
  for (const name of ['dot-01', 'dot-02']) {
    const cluster = await FilledCluster.create(database.store, name)
    await cluster.fill(pods, [{ metadata: metadata('x', { namespace: 'a-team' }) }])
  }
  const [proxyCa, clientCa] = [await Authority.root('CN=proxy'), await Authority.root('CN=users')]
  const server = await clientCa.issue({
    ...{ subject: 'CN=localhost', usage: 'serverAuth' },
    extensions: [FOR_THIS_MACHINE],
  })
  const client = (name: string, issuer: Authority) =>
    issuer.issue({ subject: `CN=${name}`, usage: 'clientAuth' })
  clients.set('proxy', await client('front-proxy-client', proxyCa))
  clients.set('another of the proxy’s CA', await client('someone', proxyCa))
  clients.set('namesake', await client('front-proxy-client', clientCa))
  clients.set('jane', await client('jane', clientCa))
  ca = clientCa.cert
  trusted.clientCa = new CertificateBundle(clientCa.cert)
  trusted.requestHeader = {
    ca: new CertificateBundle(proxyCa.cert),
    allowedNames: ['front-proxy-client'],
    usernameHeaders: ['X-Remote-User'],
    uidHeaders: ['X-Remote-Uid'],
    groupHeaders: ['X-Remote-Group'],
    extraPrefixes: ['X-Remote-Extra-'],
  }
  const log = createLogger('info')
  log.info = ((...given: unknown[]) => void lines.push(JSON.stringify(given))) as typeof log.info
  fleet = await fleetServer(database.store, {
    tls: { cert: server.cert, key: server.key },
    trust: {
      requestHeader: () => trusted.requestHeader,
      clientCas: () => (trusted.clientCa ? [trusted.clientCa] : []),
    },
    log,
    wishes: async () => () => ({ wants: () => true, namespaces: undefined }),
  })
  url = new URL(await fleet.listen())
})

afterAll(async () => {
  await fleet.close()
  await database.drop()
})

interface Asking {
  readonly as?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string
}

interface Answer {
  readonly status: number
  readonly contentType: string
  readonly text: string
}

function ask(path: string, { as, method = 'GET', headers = {}, body }: Asking): Promise<Answer> {
  const client = as === undefined ? undefined : clients.get(as)!
  const agent = new Agent({ ca, ...(client && { cert: client.cert, key: client.key }) })
  return new Promise((resolve, reject) => {
    const { hostname, port } = url
    const sent = Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, v as string]))
    request({ agent, hostname, port, path, method, headers: sent }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part) => {
        text += part
      })
      answer.on('end', () => {
        agent.destroy()
        const contentType = String(answer.headers['content-type'])
        resolve({ status: answer.statusCode ?? 0, contentType, text })
      })
    })
      .on('error', reject)
      .end(body)
  })
}

async function whoIs(asking: Asking): Promise<unknown> {
  const { status, text } = await ask(WHO, { ...asking, method: 'POST', body: '{}' })
  return status === 201 ? JSON.parse(text).status.userInfo : status
}

const REMOTE = { 'X-Remote-User': 'bob', 'X-Remote-Group': ['ops', 'a, b'] }

describe('the front proxy', () => {
  test('is believed: user, groups line by line, UID, and what else is known', async () => {
    const headers = {
      ...REMOTE,
      'X-Remote-Uid': '17',
      'X-Remote-Extra-Scopes': ['read', 'write'],
      'X-Remote-Extra-authentication.kubernetes.io%2fcredential-id': 'X509SHA256=cb38',
    }
    expect(await whoIs({ as: 'proxy', headers })).toEqual({
      username: 'bob',
      uid: '17',
      groups: ['ops', 'a, b', 'system:authenticated'],
      extra: {
        scopes: ['read', 'write'],
        'authentication.kubernetes.io/credential-id': ['X509SHA256=cb38'],
      },
    })
  })

  test('may say that it does not know who is asking: that one gets what anybody gets', async () => {
    const headers = {
      'X-Remote-User': 'system:anonymous',
      'X-Remote-Group': 'system:unauthenticated',
    }
    expect(await whoIs({ as: 'proxy', headers })).toBe(401)
    expect((await ask('/version', { as: 'proxy', headers })).status).toBe(200)
    expect((await ask('/apis', { as: 'proxy', headers })).status).toBe(401)
  })

  test('without the header of a user says nothing', async () => {
    expect(await whoIs({ as: 'proxy', headers: { 'X-Remote-Group': 'system:masters' } })).toBe(401)
  })

  test('of a name that is not allowed is not believed, unless any name is', async () => {
    const as = 'another of the proxy’s CA'
    expect(await whoIs({ as, headers: REMOTE })).toBe(401)
    const { requestHeader } = trusted
    trusted.requestHeader = { ...requestHeader!, allowedNames: [] }
    expect(await whoIs({ as, headers: REMOTE })).toMatchObject({ username: 'bob' })
    trusted.requestHeader = requestHeader!
  })

  test('is not believed any more once its CA is another', async () => {
    const { requestHeader } = trusted
    const renewed = await Authority.root('CN=proxy')
    trusted.requestHeader = { ...requestHeader!, ca: new CertificateBundle(renewed.cert) }
    expect(await whoIs({ as: 'proxy', headers: REMOTE })).toBe(401)
    clients.set('renewed', await renewed.issue({ subject: 'CN=front-proxy-client' }))
    expect(await whoIs({ as: 'renewed', headers: REMOTE })).toMatchObject({ username: 'bob' })
    trusted.requestHeader = requestHeader!
  })
})

describe('its headers without its certificate are not looked at', () => {
  test('with the same name by a CA of users, they are the user of that certificate', async () => {
    const found = await whoIs({ as: 'namesake', headers: REMOTE })
    expect(found).toMatchObject({
      username: 'front-proxy-client',
      groups: ['system:authenticated'],
    })
  })

  test('with the certificate of a user, they are that user', async () => {
    expect(await whoIs({ as: 'jane', headers: REMOTE })).toMatchObject({ username: 'jane' })
  })

  test('with a token, they are whom it was made for', async () => {
    const headers = { ...REMOTE, authorization: `Bearer ${fleet.admin.token}` }
    expect(await whoIs({ headers })).toMatchObject({ username: 'admin' })
  })

  test('with nothing, they are nobody', async () => {
    const headers = { ...REMOTE, 'X-Remote-Group': 'system:masters' }
    expect(await whoIs({ headers })).toBe(401)
  })
})

test('a certificate counts before a token, as with kube-apiserver', async () => {
  const headers = { authorization: `Bearer ${fleet.admin.token}` }
  expect(await whoIs({ as: 'jane', headers })).toMatchObject({ username: 'jane' })
})

describe('acting as someone else, without a management cluster', () => {
  const as = { 'Impersonate-User': 'eve', 'Impersonate-Group': ['devs', 'ops'] }

  test('an administrator may', async () => {
    const headers = {
      ...as,
      authorization: `Bearer ${fleet.admin.token}`,
      'Impersonate-Uid': '9',
      'Impersonate-Extra-Scopes': 'read',
    }
    expect(await whoIs({ headers })).toEqual({
      username: 'eve',
      uid: '9',
      groups: ['devs', 'ops', 'system:authenticated'],
      extra: { scopes: ['read'] },
    })
    expect(lines.some((line) => line.includes('"impersonatedBy":"admin"'))).toBe(true)
  })

  test('and is that one then, with no right of their own', async () => {
    const path = '/apis/clusterpedia.io/v1beta1/resources/api/v1/pods'
    const headers = { ...as, authorization: `Bearer ${fleet.admin.token}` }
    const { status, text } = await ask(path, { headers })
    expect(status).toBe(403)
    expect(JSON.parse(text).message).toBe(
      'pods is forbidden: User "eve" cannot list resource "pods" in API group "" at the cluster scope',
    )
  })

  test('a service account has the groups that it always has', async () => {
    const headers = {
      'Impersonate-User': 'system:serviceaccount:build:ci',
      authorization: `Bearer ${fleet.admin.token}`,
    }
    expect(await whoIs({ headers })).toMatchObject({
      groups: ['system:serviceaccounts', 'system:serviceaccounts:build', 'system:authenticated'],
    })
  })

  test('as nobody is as nobody', async () => {
    const headers = {
      'Impersonate-User': 'system:anonymous',
      authorization: `Bearer ${fleet.admin.token}`,
    }
    expect(await whoIs({ headers })).toBe(401)
  })

  test('nobody else may, in Kubernetes’ words', async () => {
    const { status, text } = await ask('/apis', { as: 'jane', headers: as })
    expect(status).toBe(403)
    expect(JSON.parse(text)).toMatchObject({
      message:
        'users "eve" is forbidden: User "jane" cannot impersonate resource "users" in API group "" at the cluster scope',
      details: { name: 'eve', kind: 'users' },
    })
  })

  test.each([
    ['groups without a user', { 'Impersonate-Group': 'system:masters' }],
    ['a header that is not known', { 'Impersonate-User': 'eve', 'Impersonate-Role': 'x' }],
  ])('%s is refused, never ignored', async (_name, given) => {
    const headers = { ...given, authorization: `Bearer ${fleet.admin.token}` }
    expect((await ask('/apis', { headers })).status).toBe(400)
  })
})

describe('what an aggregator asks is answered', () => {
  const once = new Map(RECORDED.map((one) => [`${one.method} ${one.path}`, one]))
  const expected: Readonly<Record<string, number>> = { DELETE: 405, POST: 201, GET: 200 }

  test.each([...once.keys()])('%s', async (key) => {
    const { method, path, headers } = once.get(key)!
    const { 'x-remote-group': groups, 'accept-encoding': _, ...others } = headers!
    const answer = await ask(path, {
      ...{ as: 'proxy', method },
      // The recorder joined lines of one name.
      headers: { ...others, ...(groups && { 'x-remote-group': groups.split(', ') }) },
      ...(method === 'POST' && {
        body: '{"spec":{"resourceAttributes":{"verb":"list","resource":"pods"}}}',
      }),
    })
    expect(answer.status).toBe(path.includes('watch=true') ? 405 : expected[method])
    if (answer.status === 200) check(path, answer)
  })

  function check(path: string, { text, contentType }: Answer): void {
    const document = JSON.parse(text)
    if (path === '/apis') {
      expect(contentType).toContain('as=APIGroupDiscoveryList')
      expect(
        document.items.map((item: { metadata: { name: string } }) => item.metadata.name),
      ).toEqual(['clusterpedia.io', 'fleet.fleetglass.io'])
    }
    if (path === '/apis/clusterpedia.io/v1beta1') {
      const verbs = document.resources.map((one: { verbs: string[] }) => one.verbs)
      expect(verbs).toEqual([
        ['get', 'list'],
        ['get', 'list'],
      ])
    }
    if (path.includes('/pods?limit')) expect(document.rows.length).toBeGreaterThan(0)
    if (path === '/openapi/v2') expect(document.swagger).toBe('2.0')
  }
})

describe('kube-aggregator itself, to tell its readers of our types', () => {
  // As recorded: in no group.
  const asking = (user: string) => ({ as: 'proxy', headers: { 'X-Remote-User': user } })
  const GROUP = '/apis/fleet.fleetglass.io/v1alpha1'

  test('is shown all of our own kinds', async () => {
    const { text } = await ask(GROUP, asking('system:kube-aggregator'))
    const names = JSON.parse(text).resources.map((one: { name: string }) => one.name)
    expect(names).toContain('clusterhealths')
  })

  test('is given their OpenAPI', async () => {
    const index = await ask('/openapi/v3', asking('system:aggregator'))
    expect(JSON.parse(index.text).paths).toHaveProperty(['apis/fleet.fleetglass.io/v1alpha1'])
    const v2 = await ask('/openapi/v2', asking('system:aggregator'))
    expect(JSON.parse(v2.text).paths).toHaveProperty([`${GROUP}/clusterhealths`])
  })

  test('sees no object and no member by that', async () => {
    const pods = '/apis/clusterpedia.io/v1beta1/resources/api/v1/pods'
    for (const path of [`${GROUP}/clusterhealths`, pods]) {
      expect((await ask(path, asking('system:aggregator'))).status).toBe(403)
    }
  })

  test('others are not shown what they may not list', async () => {
    expect((await ask(GROUP, { as: 'jane' })).status).toBe(404)
  })
})

test('no line of log holds a credential', () => {
  expect(lines.length).toBeGreaterThan(10)
  expect(lines.join('\n')).not.toContain(fleet.admin.token)
  expect(lines.join('\n')).not.toContain('BEGIN')
})
