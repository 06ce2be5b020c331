import { describe, expect, test } from 'vitest'
import { compareCrds } from '../../src/drift/compare-crds.ts'
import { crdShape } from '../../src/drift/crd-shape.ts'
import { ignoring } from '../../src/drift/ignore.ts'
import { schemasDigest } from '../../src/drift/schemas-digest.ts'
import type { KubeObject } from '../../src/kube/kube-object.ts'
import { type CrdWish, crds, seen, unknown } from './seen.ts'

test('D15 missing is said of clusters that were seen only', () => {
  const found = compareCrds(
    crds(
      { a: [{ name: 'x.io' }, { name: 'y.io' }], b: [{ name: 'x.io' }] },
      {
        unknown: [unknown('c', 'forbidden')],
      },
    ),
  )
  expect(found).toMatchObject({ total: 2, driftCount: 1, driftDetected: true })
  expect(found.rows).toMatchObject([
    { key: 'x.io', drift: false, class: 'none', presentIn: ['a', 'b'], unknownIn: ['c'] },
    {
      ...{ key: 'y.io', drift: true, class: 'missing' },
      ...{ presentIn: ['a'], missingFrom: ['b'], unknownIn: ['c'] },
    },
  ])
})

describe('definitions of one name that are not the same', () => {
  type Case = { name: string; a: Partial<CrdWish>; b: Partial<CrdWish>; fields: readonly string[] }
  const cases: readonly Case[] = [
    { name: 'nothing', a: {}, b: {}, fields: [] },
    {
      name: 'served versions',
      a: { served: ['v1'] },
      b: { served: ['v1', 'v1beta1'] },
      fields: ['served versions'],
    },
    {
      name: 'the order of versions is none',
      a: { served: ['v1', 'v2'], storage: 'v1' },
      b: { served: ['v2', 'v1'], storage: 'v1' },
      fields: [],
    },
    {
      name: 'the storage version',
      a: { served: ['v1', 'v2'], storage: 'v1' },
      b: { served: ['v1', 'v2'], storage: 'v2' },
      fields: ['storage version'],
    },
    {
      name: 'scope',
      a: { scope: 'Cluster' },
      b: { scope: 'Namespaced' },
      fields: ['scope'],
    },
    { name: 'Established', a: {}, b: { established: false }, fields: ['established'] },
  ]
  test.each(cases)('$name', ({ a, b, fields }) => {
    const wishes = { a: [{ name: 'x.io', ...a }], b: [{ name: 'x.io', ...b }], c: [] }
    const { rows } = compareCrds(crds(wishes))
    expect(rows[0]?.differences.map(({ field }) => field)).toEqual(fields)
    // It is missing from c in any case, which is another thing.
    expect(rows[0]?.class).toBe(fields.length > 0 ? 'different' : 'missing')
  })
})

test('each value is named with the clusters that have it', () => {
  const { rows } = compareCrds(
    crds({
      a: [{ name: 'x.io', served: ['v1'] }],
      b: [{ name: 'x.io', served: ['v1', 'v1beta1'], storage: 'v1' }],
      c: [{ name: 'x.io', served: ['v1'] }],
    }),
  )
  expect(rows[0]?.differences).toEqual([
    {
      field: 'served versions',
      values: [
        { value: 'v1', clusters: ['a', 'c'] },
        { value: 'v1, v1beta1', clusters: ['b'] },
      ],
    },
  ])
})

test('what is being deleted or not established is there, and flagged', () => {
  const gone = { name: 'x.io', deletionTimestamp: '2026-09-01T11:00:00Z' }
  const { rows } = compareCrds(
    crds({ a: [gone], b: [{ name: 'x.io' }], c: [{ name: 'x.io', established: false }] }),
  )
  expect(rows[0]).toMatchObject({
    ...{ presentIn: ['a', 'b', 'c'], terminatingIn: ['a'], notEstablishedIn: ['c'] },
  })
})

test('D18 a baseline: what it lacks, what others lack, what differs', () => {
  const found = compareCrds(
    crds(
      {
        a: [{ name: 'x.io' }, { name: 'y.io' }],
        b: [{ name: 'x.io', served: ['v2'] }, { name: 'y.io' }, { name: 'z.io' }],
        c: [{ name: 'x.io' }, { name: 'y.io' }],
      },
      { baseline: 'a', unknown: [unknown('d')] },
    ),
  )
  expect(found.rows.map(({ key, class: kind, differsIn }) => [key, kind, differsIn])).toEqual([
    ['x.io', 'different', ['b']],
    ['y.io', 'none', []],
    ['z.io', 'missing', ['b']],
  ])
  expect(found.driftCount).toBe(2)
})

test('definitions of a distribution can be ignored', () => {
  const wishes = {
    a: [{ name: 'helmcharts.helm.cattle.io' }, { name: 'x.io' }],
    b: [{ name: 'x.io' }],
  }
  const found = compareCrds(crds(wishes), { isIgnored: ignoring(['*.cattle.io']) })
  expect(found).toMatchObject({ total: 1, driftDetected: false })
})

test('one comparable cluster has nothing to differ from', () => {
  const found = compareCrds(crds({ a: [{ name: 'x.io' }] }, { unknown: [unknown('b')] }))
  expect(found).toMatchObject({ driftDetected: false, rows: [{ class: 'none', missingFrom: [] }] })
})

describe('what is read of a definition', () => {
  test('v1beta1 with one version beside the list', () => {
    const crd = { metadata: { name: 'x.io' }, spec: { version: 'v1', scope: 'Cluster' } }
    expect(crdShape(crd)).toMatchObject({ served: ['v1'], storage: 'v1', established: false })
  })

  test.each([
    ['nothing', {}],
    ['no name', { metadata: {}, spec: { versions: [] } }],
    ['metadata that is a list', { metadata: [] }],
  ])('%s is no definition', (_, crd) => {
    expect(crdShape(crd as KubeObject)).toBeUndefined()
  })

  test('fields of another type are as if they were not there', () => {
    const crd = {
      metadata: { name: 'x.io' },
      spec: { versions: [null, 7, {}], scope: 3 },
      status: 1,
    }
    expect(crdShape(crd as KubeObject)).toMatchObject({ served: [], scope: '', established: false })
  })
})

describe('E14 schemas that say the same are the same', () => {
  const crd = (schema: object) => ({
    metadata: { name: 'x.io' },
    spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] },
  })
  const one = crd({ type: 'object', required: ['a', 'b'], properties: { a: {}, b: {} } })

  test('in another order of keys', () => {
    const other = crd({ properties: { b: {}, a: {} }, required: ['a', 'b'], type: 'object' })
    expect(schemasDigest(other)).toBe(schemasDigest(one))
  })

  test('not in another order of a list', () => {
    const other = crd({ type: 'object', required: ['b', 'a'], properties: { a: {}, b: {} } })
    expect(schemasDigest(other)).not.toBe(schemasDigest(one))
  })

  test('v1beta1 has one for all versions', () => {
    const schema = { type: 'object', required: ['a', 'b'], properties: { a: {}, b: {} } }
    const shared = {
      metadata: { name: 'x.io' },
      spec: { versions: [{ name: 'v1' }], validation: { openAPIV3Schema: schema } },
    }
    expect(schemasDigest(shared)).toBe(schemasDigest(one))
  })

  test('when asked for, they are compared', () => {
    const facts = (schemas: string) => ({ crds: [{ ...crdShape(one)!, schemas }] })
    const { rows } = compareCrds({
      seen: [seen('a', facts('1')), seen('b', facts('2'))],
      unknown: [],
    })
    expect(rows[0]?.differences.map(({ field }) => field)).toEqual(['schemas'])
  })
})
