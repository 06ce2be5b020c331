import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ACCESSES,
  CLUSTERS,
  fleetAccess,
  pediaCluster,
  type RegistrationServer,
  registrationServer,
  syncResources,
  TEMPLATES,
} from './registration-server.ts'

let api: RegistrationServer
beforeAll(async () => {
  api = await registrationServer()
})
afterAll(() => api.stop())

test('what a new object is given', async () => {
  const body = pediaCluster('new', {}, { labels: { env: 'prod' } })
  const { status, json } = await api.ask('POST', `${CLUSTERS}?fieldManager=kubectl-create`, {
    body,
  })
  expect(status).toBe(201)
  expect(json).toEqual({
    ...body,
    metadata: {
      name: 'new',
      labels: { env: 'prod' },
      creationTimestamp: '2026-12-01T03:26:59Z',
      generation: 1,
      resourceVersion: expect.stringMatching(/^\d+$/),
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      managedFields: [
        {
          apiVersion: 'cluster.clusterpedia.io/v1alpha2',
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:metadata': { 'f:labels': { '.': {}, 'f:env': {} } },
            'f:spec': { '.': {}, 'f:apiserver': {} },
          },
          manager: 'kubectl-create',
          operation: 'Update',
          time: '2026-12-01T03:26:59Z',
        },
      ],
    },
  })
  expect((await api.ask('GET', `${CLUSTERS}/new`)).json).toEqual(json)
})

test('a manifest with empty fields, as Clusterpedia documents it', async () => {
  const body = `
apiVersion: cluster.clusterpedia.io/v1alpha2
kind: PediaCluster
metadata:
  name: cluster-example
spec:
  apiserver: "https://10.30.43.43:6443"
  kubeconfig:
  caData:
  tokenData: ""
  certData:
  keyData:
  syncResources:
  - group: apps
    resources:
     - deployments
  - group: ""
    resources:
     - pods
`
  const path = `${CLUSTERS}?fieldValidation=Strict`
  const { status, json } = await api.ask('POST', path, { body, type: 'application/yaml' })
  expect([status, json.message]).toEqual([201, undefined])
  expect(json.spec).toEqual({
    apiserver: 'https://10.30.43.43:6443',
    tokenData: '',
    syncResources: [
      { group: 'apps', resources: ['deployments'] },
      { group: '', resources: ['pods'] },
    ],
  })
})

test('a status in a new object is dropped', async () => {
  const body = { ...pediaCluster('with-status'), status: { version: 'v1.30.0' } }
  const { json } = await api.ask('POST', CLUSTERS, { body })
  expect(json.status).toBeUndefined()
})

test('a made-up name keeps its start', async () => {
  const body = pediaCluster('', {}, { name: undefined, generateName: 'edge-' })
  const { json } = await api.ask('POST', CLUSTERS, { body })
  expect(json.metadata.name).toMatch(/^edge-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
})

test('a name that is taken', async () => {
  await api.ask('POST', TEMPLATES, { body: syncResources('taken') })
  const { status, json } = await api.ask('POST', TEMPLATES, { body: syncResources('taken') })
  expect(status).toBe(409)
  expect(json).toMatchObject({
    reason: 'AlreadyExists',
    message: 'clustersyncresources.cluster.clusterpedia.io "taken" already exists',
    details: { name: 'taken', group: 'cluster.clusterpedia.io', kind: 'clustersyncresources' },
  })
})

test('a dry run answers as the write would, and stores nothing', async () => {
  const body = pediaCluster('tried')
  const { status, json } = await api.ask('POST', `${CLUSTERS}?dryRun=All`, { body })
  expect([status, json.metadata.name]).toEqual([201, 'tried'])
  expect(json.metadata.uid).toBeDefined()
  expect(json.metadata.resourceVersion).toBeUndefined()
  expect((await api.ask('GET', `${CLUSTERS}/tried`)).status).toBe(404)
})

test('an integer beyond 2^53 keeps its digits', async () => {
  const body = JSON.stringify({
    ...pediaCluster('digits'),
    status: undefined,
  })
  await api.ask('POST', CLUSTERS, { body })
  const status = `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Ready","message":"","lastTransitionTime":"2026-12-01T03:26:59Z","observedGeneration":9007199254740993}]}}`
  const { text } = await api.ask('PATCH', `${CLUSTERS}/digits/status`, {
    body: status,
    type: 'application/merge-patch+json',
  })
  expect(text).toContain('"observedGeneration":9007199254740993')
  expect((await api.ask('GET', `${CLUSTERS}/digits`)).text).toContain('9007199254740993')
})

describe('a manifest that is refused', () => {
  const SUBDOMAIN =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
  const cases: ReadonlyArray<{ name: string; spec?: object; metadata?: object; want: string }> = [
    {
      name: 'a name in capitals',
      metadata: { name: 'Bad_Name' },
      want: `PediaCluster.cluster.clusterpedia.io "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name": ${SUBDOMAIN}`,
    },
    {
      name: 'a name with a NUL',
      metadata: { name: 'a\0b' },
      want: `PediaCluster.cluster.clusterpedia.io "a\\u0000b" is invalid: metadata.name: Invalid value: "a\\u0000b": ${SUBDOMAIN}`,
    },
    {
      name: 'a name with a slash',
      metadata: { name: 'a/b' },
      want: `PediaCluster.cluster.clusterpedia.io "a/b" is invalid: metadata.name: Invalid value: "a/b": ${SUBDOMAIN}`,
    },
    {
      name: 'a name with an escape',
      metadata: { name: 'a%2e' },
      want: `PediaCluster.cluster.clusterpedia.io "a%2e" is invalid: metadata.name: Invalid value: "a%2e": ${SUBDOMAIN}`,
    },
    {
      name: 'no name',
      metadata: { name: undefined },
      want: 'PediaCluster.cluster.clusterpedia.io "" is invalid: metadata.name: Required value: name or generateName is required',
    },
    {
      name: 'a server of another protocol',
      spec: { apiserver: 'ftp://10.0.0.1' },
      want: `PediaCluster.cluster.clusterpedia.io "bad" is invalid: spec.apiserver: Invalid value: "ftp://10.0.0.1": spec.apiserver in body should match '^(https?://.+|([^:]|:[^/]|:/[^/])*)$'`,
    },
    {
      name: 'a server that is no URL',
      spec: { apiserver: '10.0.0.1:port' },
      want: 'PediaCluster.cluster.clusterpedia.io "bad" is invalid: spec.apiserver: Invalid value: "10.0.0.1:port": must be a URL',
    },
    {
      name: 'a server without protocol, but with a password',
      spec: { apiserver: 'me:secret@10.0.0.1' },
      want: 'PediaCluster.cluster.clusterpedia.io "bad" is invalid: spec.apiserver: Invalid value: "hidden": must not hold a user name or password; use tokenData, or certData and keyData',
    },
    {
      name: 'a server whose URL holds a password',
      spec: { apiserver: 'https://me:secret@10.0.0.1' },
      want: 'PediaCluster.cluster.clusterpedia.io "bad" is invalid: spec.apiserver: Invalid value: "hidden": must not hold a user name or password; use tokenData, or certData and keyData',
    },
    {
      name: 'a field of another type',
      spec: { apiserver: 5 },
      want: 'PediaCluster.cluster.clusterpedia.io "bad" is invalid: spec.apiserver: Invalid value: "integer": spec.apiserver in body must be of type string: "integer"',
    },
    {
      name: 'a token that is not base64, which is not shown',
      spec: { tokenData: 'my-secret-token' },
      want: 'PediaCluster.cluster.clusterpedia.io "bad" is invalid: spec.tokenData: Invalid value: "hidden": spec.tokenData in body must be of type byte: "hidden"',
    },
    {
      name: 'no resources',
      spec: { syncResources: [{ group: 'apps', resources: [] }] },
      want: 'PediaCluster.cluster.clusterpedia.io "bad" is invalid: spec.syncResources[0].resources: Invalid value: 0: spec.syncResources[0].resources in body should have at least 1 items',
    },
    {
      name: 'two things at once',
      spec: { syncResources: [{ resources: ['pods'] }], syncAllCustomResources: 'yes' },
      want: 'PediaCluster.cluster.clusterpedia.io "bad" is invalid: [spec.syncResources[0].group: Required value, spec.syncAllCustomResources: Invalid value: "string": spec.syncAllCustomResources in body must be of type boolean: "string"]',
    },
    {
      name: 'a label value that is none',
      metadata: { labels: { env: 'a b' } },
      want: `PediaCluster.cluster.clusterpedia.io "bad" is invalid: metadata.labels: Invalid value: "a b": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
    },
    {
      name: 'annotations beyond 256 KiB',
      metadata: { annotations: { 'a.b/c': 'x'.repeat(256 * 1024) } },
      want: 'PediaCluster.cluster.clusterpedia.io "bad" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes',
    },
    {
      name: 'a finalizer without a domain',
      metadata: { finalizers: ['mine'] },
      want: 'PediaCluster.cluster.clusterpedia.io "bad" is invalid: metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    },
  ]
  for (const { name, spec, metadata, want } of cases) {
    test(name, async () => {
      const body = pediaCluster('bad', spec, metadata)
      const { status, json } = await api.ask('POST', CLUSTERS, { body })
      expect(json.message).toBe(want)
      expect([status, json.reason, json.details.kind]).toEqual([422, 'Invalid', 'PediaCluster'])
      expect(json.details.causes[0].message).toBeDefined()
    })
  }

  test('rights that name clusters twice over', async () => {
    const body = fleetAccess('bad', { clusterSelector: {} })
    const { status, json } = await api.ask('POST', ACCESSES, { body })
    expect(status).toBe(422)
    expect(json.message).toContain(
      '"spec.rules[0]" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    )
  })

  test('a service account without its namespace', async () => {
    const body = fleetAccess('bad')
    const subject = { kind: 'ServiceAccount', name: 'ci' }
    const { json } = await api.ask('POST', ACCESSES, {
      body: { ...body, spec: { ...body.spec, subjects: [subject] } },
    })
    expect(json.details.causes).toEqual([
      {
        reason: 'FieldValueRequired',
        message: 'Required value: of a ServiceAccount',
        field: 'spec.subjects[0].namespace',
      },
    ])
  })
})

describe('a body that cannot be read', () => {
  const cases: ReadonlyArray<{
    name: string
    body: string
    type?: string
    status: number
    want: string
  }> = [
    {
      name: 'another kind',
      body: '{"kind":"Service","apiVersion":"cluster.clusterpedia.io/v1alpha2"}',
      status: 400,
      want: 'Service in version "v1alpha2" cannot be handled as a PediaCluster: converting (v1alpha2.Service) to (v1alpha2.PediaCluster): unknown conversion',
    },
    {
      name: 'another version',
      body: '{"kind":"PediaCluster","apiVersion":"cluster.clusterpedia.io/v1"}',
      status: 400,
      want: 'the API version in the data (cluster.clusterpedia.io/v1) does not match the expected API version (cluster.clusterpedia.io/v1alpha2)',
    },
    {
      name: 'no kind',
      body: '{"apiVersion":"cluster.clusterpedia.io/v1alpha2","spec":{}}',
      status: 400,
      want: `the object provided is unrecognized (must be of type PediaCluster): Object 'Kind' is missing in '{"apiVersion":"cluster.cluster ...' ({"apiVersion":"cluster.cluster ...)`,
    },
    {
      name: 'broken JSON',
      body: '{bad',
      status: 400,
      want: `the object provided is unrecognized (must be of type PediaCluster): couldn't get version/kind; json parse error: invalid character 'b' looking for beginning of object key string ({bad)`,
    },
    {
      name: 'nothing',
      body: '',
      status: 400,
      want: "the object provided is unrecognized (must be of type PediaCluster): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
    },
    {
      name: 'metadata of another type',
      body: '{"kind":"PediaCluster","apiVersion":"cluster.clusterpedia.io/v1alpha2","metadata":{"name":"x","labels":{"a":1}}}',
      status: 400,
      want: 'PediaCluster in version "v1alpha2" cannot be handled as a PediaCluster: json: cannot unmarshal number 1 into Go struct field ObjectMeta.metadata.labels of type string',
    },
    {
      name: 'protobuf',
      body: 'k8s',
      type: 'application/vnd.kubernetes.protobuf',
      status: 415,
      want: 'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
    },
    {
      name: 'more than 3 MiB',
      body: `{"a":"${'x'.repeat(3 * 1024 * 1024)}"}`,
      status: 413,
      want: 'Request entity too large: limit is 3145728',
    },
    {
      name: 'a resourceVersion',
      body: JSON.stringify(pediaCluster('x', {}, { resourceVersion: '5' })),
      status: 400,
      want: 'resourceVersion should not be set on objects to be created',
    },
  ]
  for (const { name, body, type, status, want } of cases) {
    test(name, async () => {
      const answer = await api.ask('POST', CLUSTERS, { body, ...(type && { type }) })
      expect(answer.json.message).toBe(want)
      expect([answer.status, answer.json.code]).toEqual([status, status])
    })
  }
})

describe('unknown and duplicate fields', () => {
  const body = (name: string) =>
    `{"kind":"PediaCluster","apiVersion":"cluster.clusterpedia.io/v1alpha2","metadata":{"name":"${name}","color":"red"},"spec":{"apiserver":"https://a","apiserver":"https://b","syncResource":[]}}`
  const complaints =
    'unknown field "metadata.color", unknown field "spec.syncResource", duplicate field "spec.apiserver"'

  test('Strict refuses them', async () => {
    const answer = await api.ask('POST', `${CLUSTERS}?fieldValidation=Strict`, { body: body('s') })
    expect(answer.status).toBe(400)
    expect(answer.json.message).toBe(
      `PediaCluster in version "v1alpha2" cannot be handled as a PediaCluster: strict decoding error: ${complaints}`,
    )
  })
  for (const [validation, warnings] of [
    ['Warn', 3],
    ['', 3],
    ['Ignore', 0],
  ] as const) {
    test(`${validation || 'nothing said'}: they are dropped, with ${warnings} warnings`, async () => {
      const name = `w${validation.toLowerCase()}`
      const query = validation && `?fieldValidation=${validation}`
      const answer = await api.ask('POST', CLUSTERS + query, { body: body(name) })
      expect(answer.status).toBe(201)
      expect(answer.json.spec).toEqual({ apiserver: 'https://b' })
      expect([answer.headers.warning ?? []].flat()).toHaveLength(warnings)
      if (warnings > 0) {
        expect([answer.headers.warning].flat()[0]).toBe(
          String.raw`299 - "unknown field \"metadata.color\""`,
        )
      }
    })
  }
})

describe('options that are refused', () => {
  const cases: ReadonlyArray<readonly [query: string, want: string]> = [
    ['dryRun=Some', 'dryRun: Unsupported value: "Some": supported values: "All"'],
    [
      'fieldValidation=Maybe',
      'fieldValidation: Unsupported value: "Maybe": supported values: "Ignore", "Strict", "Warn"',
    ],
    [`fieldManager=${'m'.repeat(129)}`, 'fieldManager: Too long: may not be more than 128 bytes'],
  ]
  for (const [query, want] of cases) {
    test(query.slice(0, 30), async () => {
      const { status, json } = await api.ask('POST', `${CLUSTERS}?${query}`, {
        body: pediaCluster('x'),
      })
      expect(status).toBe(422)
      expect(json.message).toBe(`CreateOptions.meta.k8s.io "" is invalid: ${want}`)
    })
  }
})
