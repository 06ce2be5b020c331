/** Which of several tags is newer: known only when all are semantic versions. */
import { compareBytes } from '../kube/byte-order.ts'
import type { ImageUse } from './image-use.ts'

interface Semver {
  readonly numbers: readonly number[]
  /** Empty: a release. */
  readonly preRelease: readonly string[]
}

const SEMVER = /^v?(\d{1,15})\.(\d{1,15})\.(\d{1,15})(?:-([0-9A-Za-z.-]+))?$/

/** Undefined when the tag is no semantic version. A leading `v` is allowed. */
export function parseSemver(tag: string): Semver | undefined {
  const [, major, minor, patch, preRelease] = SEMVER.exec(tag) ?? []
  if (major === undefined) return undefined
  return {
    numbers: [major, minor, patch].map(Number),
    preRelease: preRelease?.split('.') ?? [],
  }
}

/** By semver.org, 11. */
export function compareSemver(a: Semver, b: Semver): number {
  const at = a.numbers.findIndex((number, i) => number !== b.numbers[i])
  if (at >= 0) return a.numbers[at]! - b.numbers[at]!
  if (a.preRelease.length === 0 || b.preRelease.length === 0) {
    return b.preRelease.length - a.preRelease.length
  }
  for (const [i, part] of a.preRelease.entries()) {
    const other = b.preRelease[i]
    if (other === undefined) return 1
    const order = compareIdentifiers(part, other)
    if (order !== 0) return order
  }
  return a.preRelease.length - b.preRelease.length
}

function compareIdentifiers(a: string, b: string): number {
  const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (left && right) return Number(a) - Number(b)
  return left === right ? compareBytes(a, b) : left ? -1 : 1
}

/** The clusters whose newest tag is older than the newest of all; none when a tag is no version. */
export function behindIn(clusters: readonly ImageUse[]): readonly string[] {
  const newest = clusters.map(({ tags }) => {
    const versions = tags.map(parseSemver)
    return versions.some((version) => !version)
      ? undefined
      : (versions as Semver[]).toSorted(compareSemver).at(-1)
  })
  if (newest.some((version) => !version)) return []
  const most = (newest as Semver[]).toSorted(compareSemver).at(-1)!
  return clusters
    .filter((_, i) => compareSemver(newest[i]!, most) < 0)
    .map(({ cluster }) => cluster)
}

/** Tags that are there with and without a leading `v`. */
export function sameButForV(tags: readonly string[]): readonly string[] {
  const all = new Set(tags)
  return [...all].filter((tag) => all.has(`v${tag}`)).sort(compareBytes)
}
