/** Versions as clusters and kubelets tell them: `v1.30.5+k3s1`, `v1.29.1-gke.100`, `1.31.0-rc.1`. */
import { compareBytes } from '../kube/byte-order.ts'

export interface KubernetesVersion {
  /** As told. */
  readonly text: string
  /** Major, minor, patch; undefined when it is no version. */
  readonly numbers?: readonly [number, number, number]
  /** What follows the patch. */
  readonly suffix: string
  /** An alpha, a beta or a release candidate of Kubernetes itself; not a vendor's suffix. */
  readonly preRelease: boolean
}

/** How far two versions are apart, the least first. */
export const LEVELS = ['none', 'build', 'patch', 'minor', 'major'] as const
export type Level = (typeof LEVELS)[number]

const VERSION = /^v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(.*)$/s
const PRE_RELEASE = /^-(?:alpha|beta|rc)\b/

export function parseVersion(text: string): KubernetesVersion {
  const [, major, minor, patch, suffix = ''] = VERSION.exec(text) ?? []
  if (major === undefined) return { text, suffix: text, preRelease: false }
  const numbers = [Number(major), Number(minor), Number(patch ?? 0)] as const
  return { text, numbers, suffix, preRelease: PRE_RELEASE.test(suffix) }
}

/** What is no version differs in everything from what is not the same text. */
export function levelBetween(a: KubernetesVersion, b: KubernetesVersion): Level {
  if (!a.numbers || !b.numbers) return a.text === b.text ? 'none' : 'major'
  const at = a.numbers.findIndex((number, i) => number !== b.numbers?.[i])
  if (at >= 0) return (['major', 'minor', 'patch'] as const)[at]!
  return a.suffix === b.suffix ? 'none' : 'build'
}

export function largest(levels: Iterable<Level>): Level {
  let most = 0
  for (const level of levels) most = Math.max(most, LEVELS.indexOf(level))
  return LEVELS[most]!
}

/** Oldest first, a pre-release before its release; what is no version comes first. Total. */
export function compareVersions(a: KubernetesVersion, b: KubernetesVersion): number {
  if (!a.numbers || !b.numbers) {
    return Number(Boolean(a.numbers)) - Number(Boolean(b.numbers)) || compareBytes(a.text, b.text)
  }
  const at = a.numbers.findIndex((number, i) => number !== b.numbers?.[i])
  if (at >= 0) return a.numbers[at]! - b.numbers[at]!
  return (
    Number(b.preRelease) - Number(a.preRelease) ||
    compareRuns(a.suffix, b.suffix) ||
    compareBytes(a.text, b.text)
  )
}

/** Numbers in it by size: `-rc.2` is before `-rc.10`, `-gke.999000` before `-gke.1014001`. */
function compareRuns(a: string, b: string): number {
  const [left, right] = [runsOf(a), runsOf(b)]
  for (const [i, run] of left.entries()) {
    const difference = compareRun(run, right[i] ?? '')
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

function runsOf(text: string): readonly string[] {
  return text.match(/\d+|\D+/g) ?? []
}

function compareRun(a: string, b: string): number {
  if (!/^\d/.test(a) || !/^\d/.test(b)) return compareBytes(a, b)
  // Of any length: the longer of two numbers is the larger.
  const [left, right] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')]
  return left.length - right.length || compareBytes(left, right)
}

export type Skew = 'kubelet-newer' | 'kubelet-too-old'

/** Where Kubernetes' skew policy began to allow three minor versions. */
const THREE_MINORS_SINCE = 25

/** What the version skew policy of Kubernetes says of a kubelet under a server. */
export function skewOf(server: KubernetesVersion, kubelet: KubernetesVersion): Skew | undefined {
  if (!server.numbers || !kubelet.numbers) return undefined
  const [serverMajor, serverMinor] = server.numbers
  const [major, minor] = kubelet.numbers
  if (major !== serverMajor) return major > serverMajor ? 'kubelet-newer' : 'kubelet-too-old'
  if (minor > serverMinor) return 'kubelet-newer'
  const allowed = minor < THREE_MINORS_SINCE ? 2 : 3
  return serverMinor - minor > allowed ? 'kubelet-too-old' : undefined
}
