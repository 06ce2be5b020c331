/** What holds whatever clusters run: the answer depends on what is there, not on who comes first. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareCrds } from '../../src/drift/compare-crds.ts'
import { compareImages } from '../../src/drift/compare-images.ts'
import { compareClusterVersions } from '../../src/drift/compare-versions.ts'
import { parseImageReference } from '../../src/drift/image-reference.ts'
import {
  compareVersions,
  LEVELS,
  largest,
  levelBetween,
  parseVersion,
} from '../../src/drift/kubernetes-version.ts'
import { matchesGlob } from '../../src/kube/glob.ts'
import { crds, digest, running, unknown, versions } from './seen.ts'

const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1 })
const version = fc.constantFrom(
  ...['v1.30.5', '1.30.5', 'v1.30.5+k3s1', 'v1.30.9', 'v1.31.0-rc.1', 'v1.31.0', 'v2.0.0', 'dev'],
)
const image = fc.constantFrom(
  ...['app:1', 'app:2', 'app', `app@${digest('a')}`, `app:1@${digest('b')}`, 'tool:v1', 'tool:1'],
)
const container = fc.record({
  image,
  pulled: fc.constantFrom('a', 'b', 'bare:c'),
  architecture: fc.constantFrom('', 'amd64', 'arm64'),
})
const crd = fc.record({
  name: fc.constantFrom('x.io', 'y.io'),
  served: fc.subarray(['v1', 'v1beta1'], { minLength: 1 }),
  established: fc.boolean(),
})

const perCluster = <T>(facts: fc.Arbitrary<T>) =>
  names.chain((list) => fc.tuple(...list.map((name) => facts.map((one) => [name, one] as const))))

const COMPARISONS = {
  versions: perCluster(version).map((clusters) => ({
    input: versions(Object.fromEntries(clusters)),
    compare: compareClusterVersions,
  })),
  images: perCluster(fc.array(container, { maxLength: 4 })).map((clusters) => ({
    input: running(Object.fromEntries(clusters)),
    compare: compareImages,
  })),
  crds: perCluster(fc.uniqueArray(crd, { selector: ({ name }) => name })).map((clusters) => ({
    input: crds(Object.fromEntries(clusters)),
    compare: compareCrds,
  })),
} as const

/** The three are compared alike, so their types matter not here. */
type Any = fc.Arbitrary<{
  input: ReturnType<typeof versions>
  compare: (input: ReturnType<typeof versions>) => ReturnType<typeof compareClusterVersions>
}>

describe.each(Object.entries(COMPARISONS))('%s', (_, comparison) => {
  const any = comparison as unknown as Any

  test('the order in which clusters come does not matter', () => {
    const shuffled = any.chain(({ input, compare }) =>
      fc.shuffledSubarray([...input.seen], { minLength: input.seen.length }).map((seen) => ({
        ...{ input, compare, other: { ...input, seen } },
      })),
    )
    fc.assert(
      fc.property(shuffled, ({ input, other, compare }) => {
        expect(compare(other)).toEqual(compare(input))
      }),
    )
  })

  test('an unknown cluster changes nothing about those that are known', () => {
    fc.assert(
      fc.property(any, ({ input, compare }) => {
        const without = compare(input)
        const withOne = compare({ ...input, unknown: [unknown('z')] })
        const { unknown: named, rows, ...rest } = withOne
        const { unknown: none, rows: before, ...same } = without
        expect(rest).toEqual(same)
        expect([none.length, named.length]).toEqual([0, 1])
        expect(rows).toHaveLength(before.length)
      }),
    )
  })

  test('a copy of a cluster is no drift, and drift is counted', () => {
    fc.assert(
      fc.property(any, ({ input, compare }) => {
        const first = input.seen[0]!
        const copies = ['a', 'b', 'c'].map((name) => ({ ...first, name }))
        expect(compare({ ...input, seen: copies })).toMatchObject({ driftDetected: false })
        const found = compare(input)
        expect(found.driftDetected).toBe(found.driftCount > 0)
        expect(found.comparable).toBe(input.seen.length)
      }),
    )
  })

  test('a baseline finds no drift where there is none without it', () => {
    fc.assert(
      fc.property(any, ({ input, compare }) => {
        if (compare(input).driftDetected) return
        for (const { name } of input.seen) {
          expect(compare({ ...input, baseline: name }).driftDetected).toBe(false)
        }
      }),
    )
  })
})

describe('versions', () => {
  const parsed = version.map(parseVersion)

  test('the order is total, and equal only for what is equal', () => {
    fc.assert(
      fc.property(parsed, parsed, parsed, (a, b, c) => {
        expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)) || 0)
        if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0) {
          expect(compareVersions(a, c)).toBeLessThanOrEqual(0)
        }
        if (compareVersions(a, b) === 0) expect(levelBetween(a, b)).toBe('none')
      }),
    )
  })

  test('the level is the largest between any two', () => {
    fc.assert(
      fc.property(perCluster(version), (clusters) => {
        const all = clusters.map(([, text]) => parseVersion(text))
        const pairs = all.flatMap((a) => all.map((b) => levelBetween(a, b)))
        const { level } = compareClusterVersions(versions(Object.fromEntries(clusters)))
        expect(level).toBe(clusters.length < 2 ? LEVELS[0] : largest(pairs))
      }),
    )
  })
})

describe('image references', () => {
  const odd = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('a', 'A', '1', ':', '/', '@', '.', '-', '_', '[', ']') }),
  )

  test('no text is too odd, and none is lost', () => {
    fc.assert(
      fc.property(odd, (text) => {
        const parsed = parseImageReference(text)
        if (parsed.kind !== 'reference') expect(parsed.raw).toBe(text.trim())
        else expect(parsed.key).toBe(`${parsed.registry}/${parsed.path}`)
      }),
      { numRuns: 2000 },
    )
  })

  test('the key of a reference is a reference of that key', () => {
    fc.assert(
      fc.property(odd, (text) => {
        const parsed = parseImageReference(text)
        if (parsed.kind !== 'reference') return
        expect(parseImageReference(parsed.key)).toMatchObject({ key: parsed.key })
      }),
      { numRuns: 2000 },
    )
  })
})

describe('globs', () => {
  const piece = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?', '[', '.', '𝒳') })

  test('match as the regular expression that says the same', () => {
    fc.assert(
      fc.property(piece, piece, (pattern, text) => {
        const source = [...pattern]
          .map((one) =>
            one === '*' ? '.*' : one === '?' ? '.' : `\\u{${one.codePointAt(0)!.toString(16)}}`,
          )
          .join('')
        expect(matchesGlob(pattern, text)).toBe(new RegExp(`^${source}$`, 'su').test(text))
      }),
      { numRuns: 2000 },
    )
  })

  test('many stars and a long text take no time', () => {
    const start = process.cpuUsage()
    expect(matchesGlob(`${'a*'.repeat(200)}b`, 'a'.repeat(5000))).toBe(false)
    expect(process.cpuUsage(start).user).toBeLessThan(2_000_000)
  })
})
