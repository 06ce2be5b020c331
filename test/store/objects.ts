/** Objects as rows, made by a parser of its own: what the store's answers are compared with. */
import {
  childPath,
  elementPath,
  fieldToken,
  type Hash64,
  labelKeyPath,
  typeSeed,
  wordPath,
} from '../../src/kube/search-token.ts'
import { putClusterResource } from '../../src/store/cluster-resources.ts'
import { registerCluster } from '../../src/store/clusters.ts'
import type { Store } from '../../src/store/connect.ts'
import { acquireLease, type Lease } from '../../src/store/leases.ts'
import type { ObjectChange, ObjectRow } from '../../src/store/object-row.ts'
import type { WriteTarget } from '../../src/store/put-objects.ts'
import { ensureColumnSet, ensureType } from '../../src/store/resource-types.ts'
import { type TestObject, textsOf, wordsOf } from './oracle.ts'

export type { TestObject } from './oracle.ts'

export const PODS = { group: '', resource: 'pods' }

/** Not tokenised: they are columns. */
const COLUMN_PATHS = new Set([
  'apiVersion',
  'kind',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'metadata.resourceVersion',
  'metadata.creationTimestamp',
])

/** @param text - the JSON of the metadata object, when its spelling matters. */
export function rowOf(object: TestObject, type = PODS, text?: string): ObjectRow {
  const { metadata, apiVersion = 'v1', kind = 'Pod', ...rest } = object
  const full = { uid: `uid-${metadata.name}`, resourceVersion: '1', ...metadata }
  const seed = typeSeed(type)
  const { status, ...spec } = rest
  const tokens = [
    ...tokensAt({ metadata: full, ...spec }, seed, ''),
    ...Object.keys(full.labels ?? {}).map((key) => fieldToken(labelKeyPath(seed), key)),
    ...textsOf(object)
      .flatMap(wordsOf)
      .map((word) => fieldToken(wordPath(seed), word)),
  ]
  const statusTokens =
    status === undefined ? [] : tokensAt(status, childPath(seed, 'status'), 'status')
  const metadataText = text ?? JSON.stringify(full)
  const restText = JSON.stringify(rest).slice(1)
  return {
    namespace: full.namespace ?? '',
    name: full.name,
    uid: full.uid,
    resourceVersion: full.resourceVersion,
    apiVersion,
    createdAt: full.creationTimestamp ?? null,
    tokens: sortedTokens(tokens),
    statusTokens: sortedTokens(statusTokens),
    resourceVersionOffset: metadataText.indexOf('"resourceVersion":"') + 19,
    cells: Buffer.from(JSON.stringify(full.name)),
    head: Buffer.from(
      `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},"metadata":`,
    ),
    metadata: Buffer.from(metadataText),
    tail: Buffer.from(restText === '}' ? '}' : `,${restText}`),
  }
}

export function put(object: TestObject): ObjectChange {
  return { op: 'put', row: rowOf(object) }
}

function sortedTokens(tokens: readonly bigint[]): BigInt64Array {
  return BigInt64Array.from(new Set(tokens)).sort()
}

function tokensAt(value: unknown, hash: Hash64, path: string): bigint[] {
  if (Array.isArray(value)) {
    return value.flatMap((element) => tokensAt(element, elementPath(hash), `${path}[]`))
  }
  if (typeof value !== 'object' || value === null) return [fieldToken(hash, String(value))]
  return Object.entries(value).flatMap(([key, child]) => {
    const here = path === '' ? key : `${path}.${key}`
    return COLUMN_PATHS.has(here) ? [] : tokensAt(child, childPath(hash, key), here)
  })
}

export interface TestCluster {
  readonly id: number
  readonly name: string
  readonly lease: Lease
  readonly target: WriteTarget
}

/** A registered cluster with a type, ready to be written. */
export async function testCluster(store: Store, name: string, type = PODS): Promise<TestCluster> {
  const id = await registerCluster(store, { name, registrationUid: `uid-of-${name}`, labels: {} })
  const lease = await acquireLease(store, { clusterId: id, holder: 'test', seconds: 60 })
  if (!lease) throw new Error(`no lease on ${name}`)
  const typeId = await ensureType(store, type)
  const columnsId = await ensureColumnSet(store, [
    { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
  ])
  await putClusterResource(store, lease, {
    typeId,
    kind: 'Pod',
    listKind: 'PodList',
    singularName: 'pod',
    shortNames: ['po'],
    categories: ['all'],
    namespaced: true,
    apiVersion: 'v1',
    servedVersions: ['v1'],
    columnsId,
  })
  return { id, name, lease, target: { lease, typeId, columnsId } }
}
