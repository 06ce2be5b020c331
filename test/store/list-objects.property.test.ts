/** Any conditions × scope × order × paging: the answer is what plain code over all objects says. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FieldPath } from '../../src/kube/field-selector.ts'
import { countObjects, listObjects } from '../../src/store/list-objects.ts'
import type {
  ListRequest,
  ObjectCondition,
  OrderKey,
  RawRow,
} from '../../src/store/list-request.ts'
import { READ_LIMITS } from '../../src/store/portal-reader.ts'
import { applyChanges } from '../../src/store/put-objects.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { PODS, put, type TestCluster, type TestObject, testCluster } from './objects.ts'
import { expected, type StoredObject } from './oracle.ts'

// Byte order is neither UTF-16 order (the last two) nor a dictionary's.
const CLUSTERS = ['B', 'a', 'a-1', 'é', '\uffee', '😀']
const NAMESPACES = ['', 'Z', 'a', 'a-b', 'ab', '\uffee', '😀']
const NAMES = [
  'web',
  'web-0',
  'web_0',
  'w%b',
  'W',
  'a\\b',
  'x-1',
  '\uffee',
  '😀',
  '"quoted"',
  '{a,b}',
]
const TIMES = ['2024-01-01T00:00:00Z', '2024-01-01T00:00:01Z', '2025-06-30T12:00:00Z', null]
const VERSIONS = [
  '1',
  '2',
  '10',
  '9',
  '9007199254740993',
  '9007199254740992',
  '123456789012345678901234567890',
]
const TEXTS = [
  '',
  'a',
  'b',
  '10',
  '-3',
  '+7',
  '1.0',
  '9223372036854775808',
  'null',
  'true',
  '900m',
  '1Ki',
  '-1.5k',
  '2024-01-01T00:00:00Z',
  'a\0b',
  'ab',
  '\ue000',
  '\ue0000000',
  '😀',
  'x"y\\z',
  'ghcr.io/a/Web:1.4.2',
  'É e\u0301 v1.4',
]

const OWNERS = ['owner-1', 'owner-2', '']

const oneOf = <T>(values: readonly T[]) => fc.constantFrom(...values)
const scalar = fc.oneof(
  oneOf(TEXTS),
  fc.boolean(),
  fc.constant(null),
  fc.integer({ min: -2, max: 12 }),
  oneOf(['\ud800', 'x\udfffy']),
)

const objectShape = fc.record({
  labels: fc.dictionary(
    oneOf(['app', 'tier', 'x/y']),
    oneOf(TEXTS.filter((text) => !text.includes('\0'))),
    { maxKeys: 3 },
  ),
  annotations: fc.dictionary(
    oneOf(['note', 'a.b/C-d']),
    oneOf(TEXTS.filter((text) => !text.includes('\0'))),
    { maxKeys: 2 },
  ),
  ownerReferences: fc.array(fc.record({ uid: oneOf(OWNERS) }), { maxLength: 2 }),
  creationTimestamp: oneOf(TIMES),
  resourceVersion: oneOf(VERSIONS),
  spec: fc.record(
    {
      nodeName: scalar,
      containers: fc.array(fc.record({ name: scalar, image: scalar }, { requiredKeys: [] }), {
        maxLength: 3,
      }),
      nested: fc.oneof(scalar, fc.record({ deep: scalar })),
    },
    { requiredKeys: [] },
  ),
  status: fc.option(
    fc.record(
      { phase: scalar, conditions: fc.array(fc.record({ type: scalar }), { maxLength: 2 }) },
      { requiredKeys: [] },
    ),
    { nil: undefined },
  ),
})

const path = (...steps: Array<string | number | null>): FieldPath =>
  steps.map((step) =>
    typeof step === 'string'
      ? { key: step }
      : step === null
        ? { every: true as const }
        : { index: step },
  )
const PATHS = [
  path('spec', 'nodeName'),
  path('spec', 'containers', null, 'name'),
  path('spec', 'containers', 1, 'name'),
  path('spec', 'containers', 0),
  path('spec', 'nested'),
  path('spec', 'nested', 'deep'),
  path('status', 'phase'),
  path('status', 'conditions', null, 'type'),
  path('status', 'conditions', 0, 'type'),
  path('metadata', 'labels', 'app'),
  path('metadata', 'name'),
  path('metadata', 'uid'),
  path('metadata', 'resourceVersion'),
  path('metadata', 'creationTimestamp'),
  path('kind'),
  path('apiVersion'),
]
const fieldValues = fc.array(
  oneOf([
    ...TEXTS,
    'false',
    '3',
    '11',
    'Pod',
    'v1',
    'web',
    'uid-web',
    ...VERSIONS,
    '2024-01-01T00:00:00Z',
    '2024-01-01',
  ]),
  { maxLength: 3 },
)
const membership = fc.constantFrom('In' as const, 'NotIn' as const)

const condition: fc.Arbitrary<ObjectCondition> = fc.oneof(
  fc.record({
    on: fc.constant('namespace' as const),
    operator: membership,
    values: fc.array(oneOf([...NAMESPACES, 'n\0']), { maxLength: 3 }),
  }),
  fc.record({
    on: fc.constant('name' as const),
    operator: membership,
    values: fc.array(oneOf([...NAMES, 'n\0']), { maxLength: 3 }),
  }),
  fc.record({
    on: fc.constant('fuzzy-name' as const),
    contains: fc.array(oneOf(['w', 'web', '_', '%', '-', '\\', '"', '😀', '\0', '']), {
      maxLength: 2,
    }),
  }),
  fc.record({
    on: fc.constant('owner' as const),
    owners: fc.array(
      fc.record({
        // Clusters are numbered as they are made.
        clusterId: fc.integer({ min: 1, max: CLUSTERS.length + 1 }),
        namespace: oneOf(['', 'a', 'ab']),
        uid: oneOf(OWNERS),
      }),
      { maxLength: 3 },
    ),
  }),
  fc.record({
    on: fc.constant('text' as const),
    words: fc.array(
      oneOf(['web', '0', 'a', 'b', 'é', '1.4.2', '1', '1.4', 'v1.4', 'ghcr', 'app', 'null', '😀']),
      { minLength: 1, maxLength: 3 },
    ),
  }),
  fc.record(
    {
      on: fc.constant('created' as const),
      since: oneOf(TIMES.filter((time) => time !== null)).map((time) => new Date(time)),
      before: oneOf(TIMES.filter((time) => time !== null)).map((time) => new Date(time)),
    },
    { requiredKeys: ['on'] },
  ),
  fc.record({
    on: fc.constant('label' as const),
    requirement: fc.oneof(
      fc.record({
        key: oneOf(['app', 'tier', 'x/y', 'none']),
        operator: membership,
        values: fc.array(oneOf(TEXTS), { maxLength: 3 }),
      }),
      fc.record({
        key: oneOf(['app', 'tier', 'none']),
        operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const),
      }),
      fc.record({
        key: oneOf(['app', 'tier']),
        operator: fc.constantFrom('Gt' as const, 'Lt' as const),
        value: fc.bigInt(-5n, 12n),
      }),
    ),
  }),
  fc.record({
    on: fc.constant('field' as const),
    requirement: fc.oneof(
      fc.record({ path: oneOf(PATHS), operator: membership, values: fieldValues }),
      fc.record({
        path: oneOf(PATHS),
        operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const),
      }),
      fc.record({
        path: oneOf(PATHS),
        operator: fc.constantFrom('Gt' as const, 'Gte' as const, 'Lt' as const, 'Lte' as const),
        value: oneOf(['0', '-3', '3', '10.0', '900m', '1Ki', '0.9', '2024-01-01', ...VERSIONS]),
      }),
    ),
  }),
)

const order: fc.Arbitrary<readonly OrderKey[]> = fc.uniqueArray(
  fc.record({
    by: fc.constantFrom<OrderKey['by'][]>(
      ...(['cluster', 'namespace', 'name', 'created_at', 'resource_version'] as const),
      ...[PATHS[0]!, PATHS[1]!, PATHS[6]!, PATHS[9]!],
    ),
    descending: fc.boolean(),
  }),
  { selector: ({ by }) => JSON.stringify(by), maxLength: 3 },
)

let database: TestDatabase
let clusters: readonly TestCluster[]
const objects: StoredObject[] = []

beforeAll(async () => {
  database = await testDatabase()
  const made: TestCluster[] = []
  const shapes = fc.sample(objectShape, { numRuns: 240, seed: 7 })
  for (const name of CLUSTERS) {
    const cluster = await testCluster(database.store, name)
    const mine = shapes.splice(0, 40).flatMap((shape, i): TestObject[] => {
      const namespace = NAMESPACES[(i * 3) % NAMESPACES.length]!
      const { status, spec, ...metadata } = shape
      const object = {
        metadata: { name: NAMES[i % NAMES.length]!, ...(namespace && { namespace }), ...metadata },
        spec,
        ...(status && { status }),
      }
      return [object]
    })
    const distinct = [
      ...new Map(
        mine.map((object) => [`${object.metadata.namespace}/${object.metadata.name}`, object]),
      ).values(),
    ]
    const { refused } = await applyChanges(database.store, cluster.target, {
      changes: distinct.map(put),
    })
    expect(refused).toEqual([])
    // What the store must be compared with is what JSON says, after one round through its text.
    objects.push(
      ...distinct.map((object) => ({
        ...{ cluster: name, clusterId: cluster.id },
        object: withColumns(object),
      })),
    )
    made.push(cluster)
  }
  clusters = made
})
afterAll(() => database.drop())

function withColumns(object: TestObject): TestObject {
  const metadata = { uid: `uid-${object.metadata.name}`, ...object.metadata }
  return { apiVersion: 'v1', kind: 'Pod', ...object, metadata }
}

const scope = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant('every-namespace' as const) },
      fc.subarray(NAMESPACES),
    ),
    {
      minLength: CLUSTERS.length,
      maxLength: CLUSTERS.length,
    },
  )
  .chain((namespaces) =>
    fc
      .subarray(CLUSTERS.map((_, i) => i))
      .map((picked) => picked.map((i) => ({ i, namespaces: namespaces[i]! }))),
  )

async function keys(
  request: ListRequest,
  interrupted: boolean,
): Promise<{ keys: string[]; last: RawRow | undefined }> {
  const found: string[] = []
  let last: RawRow | undefined
  // Interrupted after every seven rows: the list is resumed by key each time.
  const limits = interrupted
    ? { ...READ_LIMITS, firstRows: 7, bytesAhead: 1, openMilliseconds: -1 }
    : READ_LIMITS
  for await (const rows of listObjects(database.store, request, { limits })) {
    for (const row of rows) {
      const { cluster, namespace, name } = row.position()
      found.push(`${cluster}/${namespace}/${name}`)
      last = row
    }
  }
  return { keys: found, last }
}

async function paged(request: ListRequest, limit: number): Promise<string[]> {
  const all: string[] = []
  let after: Partial<Pick<ListRequest, 'after'>> = {}
  for (;;) {
    const page = await keys({ ...request, ...after, limit }, false)
    all.push(...page.keys)
    if (page.keys.length < limit) return all
    after = { after: page.last!.position() }
  }
}

test('pages, interrupted streams, offsets and counts agree with the oracle', async () => {
  const runs = fc.record({
    scope,
    conditions: fc.array(condition, { maxLength: 3 }),
    order,
    limit: fc.integer({ min: 1, max: 60 }),
    offset: fc.integer({ min: 0, max: 50 }),
  })
  await fc.assert(
    fc.asyncProperty(runs, async ({ limit, offset, ...asked }) => {
      const visible = asked.scope.map(({ i, namespaces }) => ({
        id: clusters[i]!.id,
        name: CLUSTERS[i]!,
        namespaces,
      }))
      const request: ListRequest = {
        type: { ...PODS, id: clusters[0]!.target.typeId },
        scope: visible,
        conditions: asked.conditions,
        order: asked.order,
        want: { cells: true, metadata: false, body: false },
      }
      const want = expected(objects, request)
      expect((await keys(request, false)).keys).toEqual(want)
      expect((await keys(request, true)).keys).toEqual(want)
      expect((await keys({ ...request, offset, limit }, true)).keys).toEqual(
        want.slice(offset, offset + limit),
      )
      expect(await paged(request, limit)).toEqual(want)
      expect(await countObjects(database.store, request)).toBe(want.length)
    }),
    { numRuns: 60 },
  )
})
