/**
 * `/version`: kubectl wrappers choose their binary by it, and people read it.
 *
 * A member's prefix answers with the member's own document. The fleet and the root are no
 * Kubernetes of any version; they answer with the version of the newest member that the reader may
 * see, because a client that is new enough for that one can read all that we serve.
 */
import type { VisibleCluster } from '../access/access.ts'
import type { CatalogCluster } from '../catalog.ts'
import { JsonDocument } from '../send-document.ts'

/** The Kubernetes whose behaviour this server follows; said where no member is to be seen. */
const FOLLOWED = { major: '1', minor: '36', gitVersion: 'v1.36.2' }

interface VersionInfo {
  readonly major: string
  readonly minor: string
  readonly gitVersion: string
}

/** A member that never told its version is answered for as the fleet is. */
export function memberVersion({ version }: CatalogCluster): JsonDocument {
  const told = parseVersion(version)
  return told ? new JsonDocument(told) : fleetVersion([])
}

export function fleetVersion(clusters: readonly VisibleCluster[]): JsonDocument {
  const told = clusters.flatMap(({ cluster }) => parseVersion(cluster.version) ?? [])
  const { major, minor, gitVersion } =
    told.reduce<VersionInfo | undefined>(newer, undefined) ?? FOLLOWED
  return new JsonDocument({
    ...{ major, minor, gitVersion },
    ...{ gitCommit: '', gitTreeState: '', buildDate: '', goVersion: '', compiler: 'fleetglass' },
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  })
}

function newer(a: VersionInfo | undefined, b: VersionInfo): VersionInfo {
  if (!a) return b
  const [left, right] = [numbersOf(a), numbersOf(b)]
  const at = left.findIndex((number, index) => number !== right[index])
  return at < 0 || left[at]! > right[at]! ? a : b
}

/** Major, minor and patch. Distributions write `29+` for a minor version, and more after a patch. */
function numbersOf({ gitVersion }: VersionInfo): readonly number[] {
  const match = /^v(\d+)\.(\d+)(?:\.(\d+))?/.exec(gitVersion) ?? []
  return [1, 2, 3].map((part) => Number(match[part] ?? 0))
}

/** Parsed once per catalog: clusters of one catalog are the same objects. */
function parseVersion(document: string | undefined): VersionInfo | undefined {
  if (document === undefined) return undefined
  try {
    const parsed: unknown = JSON.parse(document)
    return isVersion(parsed) ? parsed : undefined
  } catch {
    // A member may answer anything; its sync reports that, here it counts as untold.
    return undefined
  }
}

function isVersion(parsed: unknown): parsed is VersionInfo {
  return (
    typeof parsed === 'object' &&
    parsed !== null &&
    typeof (parsed as VersionInfo).gitVersion === 'string' &&
    typeof (parsed as VersionInfo).major === 'string' &&
    typeof (parsed as VersionInfo).minor === 'string'
  )
}
