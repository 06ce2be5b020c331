/**
 * The order of API versions: newest first, as kube-apiserver itself prefers them.
 *
 * @see apimachinery/pkg/version/helpers.go, CompareKubeAwareVersionStrings
 */

const KUBE_VERSION = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/
const STABILITY: Readonly<Record<string, number>> = { alpha: 1, beta: 2 }

/** Negative when `a` is newer: GA before beta before alpha, then the higher number, then any other name. */
export function compareVersions(a: string, b: string): number {
  const x = rankOf(a)
  const y = rankOf(b)
  for (let i = 0; i < x.length; i++) {
    const difference = y[i]! - x[i]!
    if (difference !== 0) return difference
  }
  return a < b ? -1 : a > b ? 1 : 0
}

function rankOf(version: string): readonly [number, number, number] {
  const [, major, stability, minor] = KUBE_VERSION.exec(version) ?? []
  if (major === undefined) return [0, 0, 0]
  return [stability === undefined ? 3 : STABILITY[stability]!, Number(major), Number(minor ?? 0)]
}
