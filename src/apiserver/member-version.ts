/** What a member said of its version, and which of two is newer. */
import type { CatalogCluster } from './catalog.ts'

export interface VersionInfo {
  readonly major: string
  readonly minor: string
  readonly gitVersion: string
}

/** Undefined when the member never told, or told something else. */
export function versionInfo({ version }: CatalogCluster): VersionInfo | undefined {
  if (!version) return undefined
  try {
    const parsed: unknown = JSON.parse(version)
    return isVersion(parsed) ? parsed : undefined
  } catch {
    // A member may answer anything; its sync reports that, here it counts as untold.
    return undefined
  }
}

function isVersion(parsed: unknown): parsed is VersionInfo {
  if (typeof parsed !== 'object' || parsed === null) return false
  const { major, minor, gitVersion } = parsed as Partial<VersionInfo>
  return [major, minor, gitVersion].every((text) => typeof text === 'string')
}

/** Negative when `a` is newer: sorts the newest first, and those that never told last. */
export function compareNewest(a: VersionInfo | undefined, b: VersionInfo | undefined): number {
  const [left, right] = [numbersOf(a), numbersOf(b)]
  const at = left.findIndex((number, index) => number !== right[index])
  return at < 0 ? 0 : right[at]! - left[at]!
}

/** Major, minor and patch. Distributions write more after a patch: `v1.29.1-gke.100`. */
function numbersOf(version: VersionInfo | undefined): readonly number[] {
  const match = /^v(\d+)\.(\d+)(?:\.(\d+))?/.exec(version?.gitVersion ?? '') ?? []
  return [1, 2, 3].map((part) => Number(match[part] ?? 0))
}
