/** Whatever is typed as a selector, an order or a page: an answer or a refusal, never a failure of ours. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { type FleetServer, fleetServer, type Reader } from '../support/fleet-server.ts'
import { FilledCluster, type MemberType, metadata } from '../support/objects.ts'

let database: TestDatabase
let fleet: FleetServer
let viewer: Reader

beforeAll(async () => {
  database = await testDatabase()
  const cluster = await FilledCluster.create(database.store, 'dot-01', { env: 'prod' })
  const pods: MemberType = {
    ...{ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true },
  }
  await cluster.fill(pods, [
    {
      metadata: metadata('web-0', { namespace: 'shop', labels: { app: 'web', n: '5' } }),
      spec: { replicas: 3, containers: [{ image: 'a:1.2', cpu: '900m' }], 'a\0b': '\ud800' },
    },
    { metadata: metadata('db-0', { namespace: 'data' }), status: { phase: 'Running' } },
  ])
  fleet = await fleetServer(database.store)
  viewer = await fleet.viewer([
    { clusters: ['*'], namespaces: ['shop'], apiGroups: ['*'], resources: ['*'] },
  ])
})

afterAll(async () => {
  await fleet?.close()
  await database?.drop()
})

const S = 'search.clusterpedia.io/'
/** What the grammars are made of, and what breaks them. */
const PIECES = [
  ...['=', '==', '!=', '>', '>=', '<', '<=', ' in ', ' notin ', '(', ')', '(a,b)', ',', '!', ' '],
  ...[
    '.',
    '[',
    ']',
    '[]',
    '[*]',
    '[1]',
    '[-1]',
    "['a']",
    '"',
    "'",
    '\\',
    '\\,',
    '%',
    '_',
    '$',
    ';',
  ],
  ...['app', 'n', 'web', 'spec.replicas', 'spec', 'status.phase', 'metadata.name', '__proto__'],
  ...['spec.containers[].cpu', 'metadata.annotations', 'kind', 'constructor', 'a\0b', '\ud800'],
  ...['0', '-1', '3', '900m', '1Gi', '1e999', '9'.repeat(30), '2024-01-01', '2024-02-30', '0x1'],
  ...['😀', 'é', '\0', '\n', '\t', '\ue000', '\u202e', '', 'null', 'true', 'NaN', 'x'.repeat(300)],
  ...['clusters', 'names', 'namespaces', 'fuzzy-name', 'text', 'since', 'before', 'orderby'].map(
    (name) => S + name,
  ),
  ...['limit', 'offset', 'owner-uid', 'owner-name', 'owner-gr', 'owner-seniority'].map(
    (name) => S + name,
  ),
  ...['field-gt.spec.replicas', 'field-lte', 'cluster-label.env', 'nonsense'].map((n) => S + n),
]
const typed = fc
  .array(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...PIECES) }, fc.string()), {
    maxLength: 9,
  })
  .map((pieces) => pieces.join(''))

const KEYS = [
  ...['labelSelector', 'labelSelector', 'labelSelector', 'fieldSelector', 'fieldSelector'],
  ...['clusterSelector', 'orderby', 'continue', 'limit', 'names', 'namespaces', 'clusters', 'text'],
  ...['fuzzyName', 'since', 'before', 'ownerUID', 'ownerName', 'ownerGR', 'ownerSeniority'],
  ...[
    'withContinue',
    'withRemainingCount',
    'resourceVersion',
    'resourceVersionMatch',
    'timeoutSeconds',
  ],
]
const query = fc.array(fc.tuple(fc.constantFrom(...KEYS), typed), { minLength: 1, maxLength: 3 })

const PLACES = {
  list: '/apis/clusterpedia.io/v1beta1/resources/api/v1/pods?',
  'a list of a member': '/apis/clusterpedia.io/v1beta1/resources/clusters/dot-01/api/v1/pods?',
  collection: '/apis/clusterpedia.io/v1beta1/collectionresources/any?resources=/pods&',
  'counts by cluster':
    '/apis/clusterpedia.io/v1beta1/resources/api/v1/pods/counts?groupBy=cluster&',
} as const

/** As it may arrive: what no URL can hold is replaced, as clients do. */
const encoded = (text: string) => encodeURIComponent(text.toWellFormed())

async function isAnswered(path: string): Promise<void> {
  for (const reader of [fleet.admin, viewer]) {
    const { status, json } = await reader.askRoot(path)
    const expectedStatus = status < 500 || status === 504
    expect({ path, status, message: json?.message, expectedStatus }).toMatchObject({
      expectedStatus: true,
    })
    // Nothing of another namespace, whatever was asked.
    if (reader === viewer) expect(JSON.stringify(json ?? '')).not.toContain('db-0')
  }
}

test.each(Object.entries(PLACES))('%s', async (_place, path) => {
  await fc.assert(
    fc.asyncProperty(query, async (terms) => {
      // The name of the other pod is not among what is typed, and so not in what is answered.
      await isAnswered(path + terms.map(([key, text]) => `${key}=${encoded(text)}`).join('&'))
    }),
    { numRuns: 120 },
  )
})

test('what is grouped by, and what a page token is made of', async () => {
  const token = fc
    .oneof(
      typed,
      fc.json(),
      fc.record({ v: typed, k: fc.array(typed) }).map((o) => JSON.stringify(o)),
    )
    .map((text) => Buffer.from(text.toWellFormed()).toString('base64url'))
  await fc.assert(
    fc.asyncProperty(typed, token, async (groupBy, page) => {
      await isAnswered(`${PLACES.list.replace('?', '/counts?')}groupBy=${encoded(groupBy)}`)
      await isAnswered(`${PLACES.list}continue=${page}&limit=1`)
      await isAnswered(`${PLACES.list}continue=${page}&limit=1&orderby=spec.replicas,created_at`)
    }),
    { numRuns: 60 },
  )
})
