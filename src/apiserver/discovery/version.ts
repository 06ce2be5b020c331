/**
 * `/version`: kubectl wrappers choose their binary by it, and people read it.
 *
 * A member's prefix answers with the member's own document. The fleet and the root are no
 * Kubernetes of any version; they answer with the version of the newest member that the reader may
 * see, because a client that is new enough for that one can read all that we serve.
 */
import type { VisibleCluster } from '../access/access.ts'
import type { CatalogCluster } from '../catalog.ts'
import { compareNewest, versionInfo } from '../member-version.ts'
import { JsonDocument } from '../send-document.ts'

/** The Kubernetes whose behaviour this server follows; said where no member is to be seen. */
const FOLLOWED = { major: '1', minor: '36', gitVersion: 'v1.36.2' }

/** A member that never told its version is answered for as the fleet is. */
export function memberVersion(cluster: CatalogCluster): JsonDocument {
  const told = versionInfo(cluster)
  return told ? new JsonDocument(told, { indented: true }) : fleetVersion([])
}

export function fleetVersion(clusters: readonly VisibleCluster[]): JsonDocument {
  const [newest = FOLLOWED] = clusters
    .flatMap(({ cluster }) => versionInfo(cluster) ?? [])
    .sort(compareNewest)
  const { major, minor, gitVersion } = newest
  const document = {
    ...{ major, minor, gitVersion },
    ...{ gitCommit: '', gitTreeState: '', buildDate: '', goVersion: '', compiler: 'fleetglass' },
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  }
  return new JsonDocument(document, { indented: true })
}
