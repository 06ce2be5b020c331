/**
 * Which OpenAPI documents a reader may see under a prefix, without reading any of them.
 *
 * Of each group version, the newest member that has a type describes it. So one document may be
 * put together from several members', where the newest does not have all types of the group.
 */
import { groupVersionPath, parseApiVersion } from '../../kube/group-resource.ts'
import type { Store } from '../../store/connect.ts'
import { getOpenApiDocument, listOpenApiPaths } from '../../store/openapi-documents.ts'
import type { VisibleCluster } from '../access/access.ts'
import { compareNewest, versionInfo } from '../member-version.ts'
import { hashOf } from '../send-document.ts'
import type { ShownType } from './select-types.ts'

/** What is stored of the members' documents: store/openapi-documents.ts. */
export interface OpenApiSource {
  listPaths(clusterIds: readonly number[]): Promise<readonly StoredPath[]>
  /** The document of a digest, as the member sent it. */
  document(digest: string): Promise<Buffer | undefined>
}

export interface StoredPath {
  readonly clusterId: number
  /** `apis/apps/v1` */
  readonly path: string
  readonly digest: string
}

export function storedOpenApi(store: Store): OpenApiSource {
  return {
    listPaths: (clusterIds) => listOpenApiPaths(store, clusterIds),
    document: (digest) => getOpenApiDocument(store, digest),
  }
}

/** Types that the member's document of this digest is to be read for. */
export interface DocumentPart {
  readonly digest: string
  readonly types: readonly ShownType[]
}

export interface DescribedVersion {
  readonly path: string
  readonly parts: readonly DocumentPart[]
  /** SHA-512 in capital hex: changes when what is described, or its description, does. */
  readonly hash: string
}

/** Sorted by path. */
export async function describedVersions(
  source: OpenApiSource,
  clusters: readonly VisibleCluster[],
): Promise<readonly DescribedVersion[]> {
  const stored = await source.listPaths(clusters.map(({ cluster }) => cluster.id))
  const digests = new Map(stored.map((each) => [`${each.clusterId} ${each.path}`, each.digest]))
  const described = new Map<string, Map<string, string>>()
  for (const { cluster, resources } of newestFirst(clusters)) {
    for (const { resource, kind, servedVersions } of resources) {
      for (const path of servedVersions.map(parseApiVersion).map(groupVersionPath)) {
        const digest = digests.get(`${cluster.id} ${path}`)
        if (digest === undefined) continue
        const types = described.get(path) ?? new Map<string, string>()
        described.set(path, types)
        const key = JSON.stringify({ resource, kind })
        if (!types.has(key)) types.set(key, digest)
      }
    }
  }
  return [...described].map(([path, types]) => describe(path, types)).sort(byPath)
}

function newestFirst(clusters: readonly VisibleCluster[]): readonly VisibleCluster[] {
  return clusters
    .map((visible) => ({ visible, version: versionInfo(visible.cluster) }))
    .sort((a, b) => compareNewest(a.version, b.version))
    .map(({ visible }) => visible)
}

function describe(path: string, types: ReadonlyMap<string, string>): DescribedVersion {
  const byDigest = Map.groupBy(types, ([, digest]) => digest)
  const parts = [...byDigest].map(([digest, entries]) => ({
    digest,
    types: entries.map(([key]) => JSON.parse(key) as ShownType).sort(byResource),
  }))
  return { path, parts, hash: hashOf(JSON.stringify([path, parts])) }
}

function byResource(a: ShownType, b: ShownType): number {
  return a.resource < b.resource ? -1 : 1
}

function byPath(a: DescribedVersion, b: DescribedVersion): number {
  return a.path < b.path ? -1 : 1
}
