import { describe, expect, test } from 'vitest'
import { compareClusterVersions } from '../../src/drift/compare-versions.ts'
import {
  compareVersions,
  type Level,
  levelBetween,
  parseVersion,
  skewOf,
} from '../../src/drift/kubernetes-version.ts'
import { seen, unknown, versions, withKubelets } from './seen.ts'

describe('how far two versions are apart', () => {
  const cases: ReadonlyArray<[string, string, string, Level]> = [
    ['D1 the same', 'v1.30.5', 'v1.30.5', 'none'],
    ['D2 two vendors', 'v1.30.5+k3s1', 'v1.30.5-eks-ce1d5eb', 'build'],
    ['a vendor and none', 'v1.30.5', 'v1.30.5+k3s1', 'build'],
    ['two builds of a vendor', 'v1.29.1-gke.100', 'v1.29.1-gke.200', 'build'],
    ['a patch', 'v1.30.5', 'v1.30.9', 'patch'],
    ['a minor version', 'v1.30.5', 'v1.31.5', 'minor'],
    ['a major version', 'v1.30.5', 'v2.30.5', 'major'],
    ['the largest counts', 'v1.30.5+k3s1', 'v1.31.9-gke.1', 'minor'],
    ['a pre-release', 'v1.31.0-rc.1', 'v1.31.0', 'build'],
    ['without a v', '1.30.5', 'v1.30.5', 'none'],
    ['without a patch', 'v1.30', 'v1.30.0', 'none'],
    ['what is no version, twice', 'dev', 'dev', 'none'],
    ['what is no version, and one', 'dev', 'v1.30.5', 'major'],
    ['nothing', '', 'v1.30.5', 'major'],
  ]
  test.each(cases)('%s: %s, %s', (...[, a, b, level]) => {
    expect(levelBetween(parseVersion(a), parseVersion(b))).toBe(level)
    expect(levelBetween(parseVersion(b), parseVersion(a))).toBe(level)
  })
})

test('numbers behind the patch are ordered by size, oldest first', () => {
  const oldestFirst = [
    ...['v1.29.1-gke.999000', 'v1.29.1-gke.1014001'],
    ...['v1.30.5', 'v1.30.5+k3s2', 'v1.30.5+k3s10'],
    ...['v1.31.0-beta.3', 'v1.31.0-rc.2', 'v1.31.0-rc.10', 'v1.31.0'],
  ].map(parseVersion)
  for (const order of [oldestFirst, oldestFirst.toReversed()]) {
    expect(order.toSorted(compareVersions)).toEqual(oldestFirst)
  }
})

describe('the version skew policy of Kubernetes', () => {
  test.each([
    ['the same', 'v1.31.0', 'v1.31.4', undefined],
    ['a newer patch', 'v1.31.0', 'v1.31.9', undefined],
    ['a newer minor version', 'v1.31.0', 'v1.32.0', 'kubelet-newer'],
    ['a newer major version', 'v1.31.0', 'v2.0.0', 'kubelet-newer'],
    ['three minor versions older', 'v1.31.0', 'v1.28.0', undefined],
    ['four minor versions older', 'v1.31.0', 'v1.27.0', 'kubelet-too-old'],
    ['three older, and of the time when two were allowed', 'v1.27.0', 'v1.24.0', 'kubelet-too-old'],
    ['three older, the first for which three were', 'v1.28.0', 'v1.25.0', undefined],
    ['two older, of that time', 'v1.26.0', 'v1.24.0', undefined],
    ['with suffixes', 'v1.31.0+k3s1', 'v1.32.0-eks-1', 'kubelet-newer'],
    ['what is no version', 'v1.31.0', 'dev', undefined],
  ])('%s: server %s, kubelet %s', (...[, server, kubelet, expected]) => {
    expect(skewOf(parseVersion(server), parseVersion(kubelet))).toBe(expected)
  })
})

describe('clusters', () => {
  test('D1 in step', () => {
    const found = compareClusterVersions(versions({ a: 'v1.30.5', b: 'v1.30.5' }))
    expect(found).toMatchObject({ driftDetected: false, driftCount: 0, level: 'none' })
    expect(found.versions).toEqual([{ version: 'v1.30.5', clusters: ['a', 'b'] }])
  })

  test('D2 two distributions', () => {
    const found = compareClusterVersions(versions({ a: 'v1.30.5+k3s1', b: 'v1.30.5-eks-ce1d5eb' }))
    expect(found).toMatchObject({ driftDetected: true, level: 'build' })
    expect(found.versions).toHaveLength(2)
  })

  test('D3 three versions, the oldest first', () => {
    const found = compareClusterVersions(versions({ a: 'v1.30.5', b: 'v1.31.1', c: 'v1.30.9' }))
    expect(found).toMatchObject({ driftDetected: true, driftCount: 2, level: 'minor' })
    expect(found.versions.map(({ version }) => version)).toEqual(['v1.30.5', 'v1.30.9', 'v1.31.1'])
  })

  test('D4 one that can be compared', () => {
    const input = versions(
      { a: 'v1.30.5' },
      { unknown: [unknown('c', 'not collected'), unknown('b')] },
    )
    expect(compareClusterVersions(input)).toMatchObject({
      ...{ comparable: 1, driftDetected: false, driftCount: 0, level: 'none' },
      unknown: [
        { cluster: 'b', why: 'disconnected' },
        { cluster: 'c', why: 'not collected' },
      ],
    })
  })

  test('D18 a baseline: levels are against it, and only what differs counts', () => {
    const all = versions({ a: 'v1.30.5', b: 'v1.30.5', c: 'v1.31.0', d: '1.30.5' })
    const found = compareClusterVersions({ ...all, baseline: 'a' })
    expect(found.rows.map(({ cluster, level }) => [cluster, level])).toEqual([
      ['a', 'none'],
      ['b', 'none'],
      ['c', 'minor'],
      ['d', 'none'],
    ])
    expect(found).toMatchObject({ driftCount: 1, level: 'minor' })
  })

  test('a pre-release of what others run is pointed out', () => {
    const found = compareClusterVersions(versions({ a: 'v1.31.0-rc.1', b: 'v1.31.0' }))
    expect(found.level).toBe('build')
    expect(found.rows.map(({ preRelease }) => preRelease)).toEqual([true, false])
    expect(found.notes).toEqual(['v1.31.0-rc.1 is a pre-release of a version that others run'])
  })

  test('W11 nodes are counted, and skew within a cluster is no drift between clusters', () => {
    const kubelets = ['v1.30.4', 'v1.30.5', 'v1.30.5', 'v1.31.0']
    const found = compareClusterVersions({
      seen: [
        seen('a', withKubelets('v1.30.5', kubelets)),
        seen('b', withKubelets('v1.30.5', ['v1.30.5'])),
      ],
      unknown: [],
    })
    expect(found.driftDetected).toBe(false)
    expect(found.rows[0]).toMatchObject({
      nodes: {
        nodes: 4,
        kubelets: [
          { version: 'v1.30.4', nodes: 1 },
          { version: 'v1.30.5', nodes: 2 },
          { version: 'v1.31.0', nodes: 1 },
        ],
      },
      skew: [{ flag: 'kubelet-newer', version: 'v1.31.0', nodes: 1 }],
    })
  })

  test('W14 an estimated version says so', () => {
    const facts = { version: 'v1.30.5', estimated: true, nodes: undefined }
    const found = compareClusterVersions({
      seen: [seen('a', facts), seen('b', { ...facts, estimated: false })],
      unknown: [],
    })
    expect(found.rows.map(({ estimated }) => estimated)).toEqual([true, false])
    expect(found.notes).toEqual(['estimated from kubelets, because the server did not tell: a'])
  })

  test('ignored versions are left out', () => {
    const isIgnored = (version: string) => version.startsWith('v1.20.')
    const found = compareClusterVersions(versions({ a: 'v1.20.1', b: 'v1.31.0', c: 'v1.31.0' }), {
      isIgnored,
    })
    expect(found).toMatchObject({ clusters: ['b', 'c'], driftDetected: false })
  })
})
