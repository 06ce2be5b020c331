import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decodeEnvelope, encodeEnvelope } from '../../src/apiserver/reviews/review-messages.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type DocumentServer, documentServer, grant } from '../support/document-server.ts'
import { mirrorCluster, recordedTypes } from '../support/mirrored-clusters.ts'
import { until } from '../support/until.ts'

const FLEET = '/apis/clusterpedia.io/v1beta1/resources'
const DOT_01 = `${FLEET}/clusters/dot-01`
const DOT_02 = `${FLEET}/clusters/dot-02`
const ACCESS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
const RULES = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'
const SELF = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'

/** What kubectl 1.33 sends for `auth can-i list pods`, as recorded. */
const RECORDED_BODY = Buffer.from(
  'k8s\u0000\n2\n\u0017authorization.k8s.io/v1\u0012\u0017SelfSubjectAccessReview\u0012=\n\u0010\n\u0000\u0012\u0000\u001a\u0000"\u0000*\u00002\u00008\u0000B\u0000\u0012\u001f\n\u001d\n\u0007default\u0012\u0004list\u001a\u0000"\u0000*\u0004pods2\u0000:\u0000\u001a\b\b\u0000\u0012\u0000\u001a\u0000 \u0000\u001a\u0000"\u0000',
  'latin1',
)

let database: TestDatabase
let fleet: DocumentServer
const tokens: Record<string, string> = {}

beforeAll(async () => {
  database = await testDatabase()
  for (const name of ['dot-01', 'dot-02']) {
    await mirrorCluster(database.store, { name, types: recordedTypes() })
  }
  fleet = await documentServer(database.store, {
    rootKinds: [
      {
        ...{ group: 'cluster.clusterpedia.io', version: 'v1alpha2', resource: 'pediaclusters' },
        ...{ kind: 'PediaCluster', singularName: 'pediacluster', shortNames: [], categories: [] },
        ...{ namespaced: false, verbs: ['get', 'list'], hasStatus: true },
      },
    ],
  })
  tokens.admin = await fleet.token('admin', 'system:masters')
  tokens.jane = await fleet.token('jane', 'devs')
  fleet.setAccess([
    grant('jane', { clusters: ['dot-01'], namespaces: ['shop'], apiGroups: ['', 'apps'] }),
  ])
  await until(() => fleet.access.rulesOf({ user: 'jane', groups: [] }).length > 0)
})

afterAll(async () => {
  await fleet.close()
  await database.drop()
})

interface Posting {
  readonly as?: string
  readonly accept?: string
  readonly contentType?: string
}

async function post(url: string, payload: object | string | Buffer, posting: Posting = {}) {
  const { as = 'jane', accept, contentType = 'application/json' } = posting
  return fleet.server.inject({
    method: 'POST',
    url,
    payload,
    headers: {
      authorization: `Bearer ${tokens[as]}`,
      'content-type': contentType,
      ...(accept && { accept }),
    },
  })
}

async function allowed(prefix: string, spec: object, as = 'jane'): Promise<boolean> {
  const { statusCode, json } = await post(prefix + ACCESS, { spec }, { as })
  expect(statusCode).toBe(201)
  return json().status.allowed
}

describe('may I?', () => {
  const listPods = { verb: 'list', resource: 'pods' }

  test.each<[string, string, object, boolean]>([
    ['list pods of their namespace', DOT_01, { ...listPods, namespace: 'shop' }, true],
    ['list pods of the fleet', FLEET, { ...listPods, namespace: 'shop' }, true],
    // A list over all namespaces is answered with those that they may see.
    ['list pods of all namespaces', FLEET, listPods, true],
    ['watch them', FLEET, { ...listPods, verb: 'watch' }, true],
    [
      'get a deployment by its former group',
      DOT_01,
      { verb: 'get', group: 'extensions', resource: 'deployments', namespace: 'shop', name: 'web' },
      true,
    ],
    ['list pods of another namespace', DOT_01, { ...listPods, namespace: 'web' }, false],
    ['list pods of another cluster', DOT_02, { ...listPods, namespace: 'shop' }, false],
    ['list pods of a cluster that is not there', `${FLEET}/clusters/dot-99`, listPods, false],
    ['list nodes', DOT_01, { verb: 'list', resource: 'nodes' }, false],
    [
      'list nodes "in" their namespace',
      DOT_01,
      { verb: 'list', resource: 'nodes', namespace: 'shop' },
      false,
    ],
    ['list another group', DOT_01, { verb: 'list', group: 'batch', resource: 'jobs' }, false],
    ['list everything', DOT_01, { verb: 'list', group: '*', resource: '*' }, false],
    ['delete pods', DOT_01, { ...listPods, verb: 'delete' }, false],
    ['do anything', DOT_01, { ...listPods, verb: '*' }, false],
    [
      'read logs',
      DOT_01,
      { verb: 'get', resource: 'pods', subresource: 'log', namespace: 'shop' },
      false,
    ],
    ['list pods of the root', '', listPods, false],
    [
      'list PediaClusters',
      '',
      { verb: 'list', group: 'cluster.clusterpedia.io', resource: 'pediaclusters' },
      false,
    ],
    ['find the fleet', '', { verb: 'get', group: 'clusterpedia.io', resource: 'resources' }, true],
  ])('a viewer: %s', async (...[, prefix, resourceAttributes, expected]) => {
    expect(await allowed(prefix, { resourceAttributes })).toBe(expected)
  })

  test.each<[string, string, object, boolean]>([
    ['list nodes', FLEET, { verb: 'list', resource: 'nodes' }, true],
    // kubectl sends the namespace of its context, whatever it asks about.
    [
      'list nodes "in" a namespace',
      FLEET,
      { verb: 'list', resource: 'nodes', namespace: 'shop' },
      true,
    ],
    ['list everything', FLEET, { verb: 'list', group: '*', resource: '*' }, true],
    ['delete mirrored pods', FLEET, { verb: 'delete', resource: 'pods' }, false],
    [
      'delete PediaClusters',
      '',
      { verb: 'delete', group: 'cluster.clusterpedia.io', resource: 'pediaclusters' },
      true,
    ],
  ])('an administrator: %s', async (...[, prefix, resourceAttributes, expected]) => {
    expect(await allowed(prefix, { resourceAttributes }, 'admin')).toBe(expected)
  })

  test.each<[string, object, boolean]>([
    ['/apis/apps/v1', { path: '/apis/apps/v1', verb: 'get' }, true],
    ['/version', { path: '/version', verb: 'get' }, true],
    ['/metrics', { path: '/metrics', verb: 'get' }, false],
    ['/logs', { path: '/logs', verb: 'get' }, false],
    ['post to /version', { path: '/version', verb: 'post' }, false],
  ])('a path: %s', async (_name, nonResourceAttributes, expected) => {
    expect(await allowed(FLEET, { nonResourceAttributes })).toBe(expected)
  })

  test('what nobody may do here is said with why', async () => {
    const spec = { resourceAttributes: { verb: 'delete', resource: 'pods', namespace: 'shop' } }
    const { json } = await post(
      FLEET + ACCESS,
      { kind: 'SelfSubjectAccessReview', spec },
      { as: 'admin' },
    )
    expect(json()).toEqual({
      ...{ kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', metadata: {} },
      spec,
      status: {
        allowed: false,
        reason: 'member clusters can only be read here: get, list and watch',
      },
    })
  })
})

describe('what may I?', () => {
  const rules = async (prefix: string, as: string, namespace = 'shop') =>
    (await post(prefix + RULES, { spec: { namespace } }, { as })).json()

  test('a viewer has the rules of the namespace, and may ask about themselves', async () => {
    const review = await rules(DOT_01, 'jane')
    expect(Object.keys(review)).toEqual(['kind', 'apiVersion', 'metadata', 'spec', 'status'])
    expect(review.status.resourceRules).toEqual([
      { verbs: ['get', 'list', 'watch'], apiGroups: ['', 'apps'], resources: ['*'] },
      {
        ...{ verbs: ['create'], apiGroups: ['authorization.k8s.io'] },
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      },
      {
        verbs: ['create'],
        apiGroups: ['authentication.k8s.io'],
        resources: ['selfsubjectreviews'],
      },
    ])
    expect(review.status.incomplete).toBe(false)
    expect(review.status.nonResourceRules[0].nonResourceURLs).toContain('/apis/*')
  })

  test.each([
    ['another namespace', DOT_01, 'web'],
    ['another cluster', DOT_02, 'shop'],
    ['a cluster that is not there', `${FLEET}/clusters/dot-99`, 'shop'],
  ])('of %s a viewer has none', async (_name, prefix, namespace) => {
    expect((await rules(prefix, 'jane', namespace)).status.resourceRules).toHaveLength(2)
  })

  test('an administrator reads everything of the mirror and does everything at the root', async () => {
    expect((await rules(FLEET, 'admin')).status.resourceRules[0]).toEqual({
      ...{ verbs: ['get', 'list', 'watch'], apiGroups: ['*'], resources: ['*'] },
    })
    expect((await rules('', 'admin')).status.resourceRules[0].verbs).toEqual(['*'])
  })

  test('a namespace must be named', async () => {
    const answer = await post(RULES, { spec: {} })
    expect([answer.statusCode, answer.json().message]).toEqual([400, 'no namespace on request'])
  })
})

describe('who am I?', () => {
  test.each(['v1', 'v1beta1'])('in authentication.k8s.io/%s', async (version) => {
    const { json } = await post(FLEET + SELF.replace('/v1/', `/${version}/`), {})
    expect(json()).toEqual({
      ...{
        kind: 'SelfSubjectReview',
        apiVersion: `authentication.k8s.io/${version}`,
        metadata: {},
      },
      status: { userInfo: { username: 'jane', groups: ['devs', 'system:authenticated'] } },
    })
  })
})

describe('the forms of a review', () => {
  test('protobuf, as kubectl sends it', async () => {
    const answer = await post(`${FLEET}${ACCESS}`, RECORDED_BODY, {
      ...{ contentType: PROTOBUF, accept: `${PROTOBUF},application/json`, as: 'admin' },
    })
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([201, PROTOBUF])
    expect(decodeEnvelope(answer.rawPayload, 'SelfSubjectAccessReview')).toMatchObject({
      ...{ kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1' },
      spec: { resourceAttributes: { namespace: 'default', verb: 'list', resource: 'pods' } },
      status: { allowed: true },
    })
  })

  test.each([
    ['SelfSubjectRulesReview', RULES, { spec: { namespace: 'shop' } }],
    ['SelfSubjectReview', SELF, {}],
  ])('%s in protobuf says what it says in JSON', async (kind, path, fields) => {
    const apiVersion = path.split('/').slice(2, 4).join('/')
    const body = encodeEnvelope({ kind, apiVersion, ...fields })
    const packed = await post(DOT_01 + path, body, { contentType: PROTOBUF, accept: PROTOBUF })
    const plain = (await post(DOT_01 + path, { ...fields })).json()
    expect(decodeEnvelope(packed.rawPayload, kind)).toEqual(plain)
  })

  test('YAML in and out', async () => {
    const yaml =
      'spec:\n  resourceAttributes:\n    verb: list\n    resource: pods\n    namespace: shop\n'
    const answer = await post(DOT_01 + ACCESS, yaml, {
      ...{ contentType: 'application/yaml', accept: 'application/yaml' },
    })
    expect(answer.statusCode).toBe(201)
    expect(answer.body).toContain('\nstatus:\n  allowed: true\n')
  })

  const APPS = { kind: 'Deployment', apiVersion: 'apps/v1' }

  test.each<[string, string | Buffer | object, string, number]>([
    ['broken JSON', '{"spec":', 'application/json', 400],
    ['broken YAML', 'a: [', 'application/yaml', 400],
    ['YAML that holds itself', 'spec: &a {b: *a}', 'application/yaml', 400],
    ['JSON too deep to be sent back', `{"spec":${nested(12_000)}}`, 'application/json', 400],
    ['a list', '[]', 'application/json', 400],
    ['an empty body', '', 'application/json', 400],
    ['another kind', APPS, 'application/json', 400],
    [
      'another kind in protobuf',
      Buffer.from(
        RECORDED_BODY.toString('latin1').replaceAll('AccessReview', 'OtherKindAB'),
        'latin1',
      ),
      PROTOBUF,
      400,
    ],
    ['bytes that are no protobuf', 'hello', PROTOBUF, 400],
    ['protobuf that breaks off', RECORDED_BODY.subarray(0, 20), PROTOBUF, 400],
    ['an unknown media type', '<a/>', 'application/xml', 415],
    ['neither kind of attributes', { spec: {} }, 'application/json', 422],
    [
      'both kinds of attributes',
      { spec: { resourceAttributes: {}, nonResourceAttributes: {} } },
      'application/json',
      422,
    ],
    ['far too much', { spec: 'x'.repeat(100_000) }, 'application/json', 413],
  ])('%s is refused with a Status', async (...[, payload, contentType, code]) => {
    const answer = await post(FLEET + ACCESS, payload, { contentType })
    expect(answer.json()).toMatchObject({ kind: 'Status', status: 'Failure', code })
    expect(answer.statusCode).toBe(code)
  })
})

function nested(depth: number): string {
  return `${'['.repeat(depth)}${']'.repeat(depth)}`
}
