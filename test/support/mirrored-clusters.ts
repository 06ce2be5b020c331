/**
 * Member clusters as the store knows them once they are synced: what they serve, their versions
 * and OpenAPI documents. For tests of what is answered about types; there are no objects.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import {
  apiVersionOf,
  type GroupVersion,
  qualifiedResource,
  type ResourceInfo,
} from '../../src/kube/group-resource.ts'
import { storedAs } from '../../src/kube/moved-resources.ts'
import { putClusterResource } from '../../src/store/cluster-resources.ts'
import { recordClusterState, registerCluster } from '../../src/store/clusters.ts'
import type { Store } from '../../src/store/connect.ts'
import { acquireLease } from '../../src/store/leases.ts'
import { putOpenApiDocument } from '../../src/store/openapi-documents.ts'
import { ensureType } from '../../src/store/resource-types.ts'

const RECORDED = join(import.meta.dirname, '../recorded')

/** A type of a member; `versions` best first, and the group of each may be a former one. */
export interface MirroredType extends Omit<ResourceInfo, 'version' | 'verbs'> {
  readonly versions: readonly string[]
}

export interface MirroredCluster {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  /** `v1.36.2`; left out, it never told. */
  readonly gitVersion?: string
  readonly types: readonly MirroredType[]
  /** By path, as in /openapi/v3: `apis/apps/v1`. */
  readonly openApi?: Readonly<Record<string, Buffer>>
}

/** Puts a cluster into the store the way a syncer does. */
export async function mirrorCluster(store: Store, cluster: MirroredCluster): Promise<number> {
  const { name, labels = {}, gitVersion, types, openApi = {} } = cluster
  const clusterId = await registerCluster(store, {
    name,
    labels,
    registrationUid: crypto.randomUUID(),
  })
  const lease = await acquireLease(store, { clusterId, holder: 'test', seconds: 600 })
  if (!lease) throw new Error(`no lease for ${name}`)
  for (const { group, resource, versions, ...type } of types) {
    await putClusterResource(store, lease, {
      ...type,
      typeId: await ensureType(store, storedAs({ group, resource })),
      listKind: `${type.kind}List`,
      apiVersion: versions[0]!,
      servedVersions: versions,
    })
  }
  const version = gitVersion && JSON.stringify(versionDocument(gitVersion))
  await recordClusterState(store, lease, {
    ...(version && { version }),
    staleReason: null,
  })
  for (const [path, body] of Object.entries(openApi)) {
    await putOpenApiDocument(store, lease, { path, body })
  }
  return clusterId
}

export function versionDocument(gitVersion: string) {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(gitVersion) ?? []
  return { major, minor, gitVersion, goVersion: 'go1.26', platform: 'linux/amd64', extra: 'kept' }
}

interface RecordedList {
  readonly groupVersion: string
  readonly resources: ReadonlyArray<{
    readonly name: string
    readonly singularName: string
    readonly namespaced: boolean
    readonly kind: string
    readonly verbs: readonly string[]
    readonly shortNames?: readonly string[]
    readonly categories?: readonly string[]
  }>
}

/** The recorded APIResourceList of a group version: `apps/v1`. */
export function recordedResources(groupVersion: string): RecordedList {
  const file = `member/discovery/resources/${groupVersion.replace('/', '_')}.json`
  return JSON.parse(readFileSync(join(RECORDED, file), 'utf8'))
}

interface AggregatedList {
  readonly items: ReadonlyArray<{
    readonly metadata: { readonly name?: string }
    readonly versions: ReadonlyArray<{
      readonly version: string
      readonly resources: readonly AggregatedResource[]
    }>
  }>
}

interface AggregatedResource {
  readonly resource: string
  readonly responseKind: { readonly kind: string }
  readonly scope: string
  readonly singularResource: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** Every type that the recorded member can list, in the versions it serves it in. */
export function recordedTypes(): readonly MirroredType[] {
  const types = new Map<string, MirroredType>()
  for (const file of ['api.aggregated.json', 'apis.aggregated.json']) {
    const text = readFileSync(join(RECORDED, 'member/discovery', file), 'utf8')
    for (const { metadata, versions } of (JSON.parse(text) as AggregatedList).items) {
      for (const { version, resources } of versions) {
        for (const each of resources.filter(({ verbs }) => verbs.includes('list'))) {
          addType(types, { group: metadata.name ?? '', version }, each)
        }
      }
    }
  }
  return [...types.values()]
}

function addType(
  types: Map<string, MirroredType>,
  of: GroupVersion,
  found: AggregatedResource,
): void {
  const { resource, responseKind, scope, singularResource: singularName } = found
  const stored = storedAs({ group: of.group, resource })
  const key = qualifiedResource(stored)
  const { shortNames = [], categories = [] } = found
  types.set(key, {
    ...{ ...stored, kind: responseKind.kind, namespaced: scope === 'Namespaced' },
    ...{ singularName, shortNames, categories },
    versions: [...(types.get(key)?.versions ?? []), apiVersionOf(of)],
  })
}

/** A recorded file of test/recorded/openapi, unpacked. */
export function recordedOpenApi(file: string): Buffer {
  return gunzipSync(readFileSync(join(RECORDED, 'openapi', `${file}.gz`)))
}

/** The recorded v3 documents that are kept for tests, by path. */
export function recordedOpenApiDocuments(): Readonly<Record<string, Buffer>> {
  const names = readdirSync(join(RECORDED, 'openapi')).filter((name) => /^apis?_/.test(name))
  return Object.fromEntries(
    names.map((name) => {
      const path = name.slice(0, -'.json.gz'.length).replaceAll('_', '/')
      return [path, recordedOpenApi(name.slice(0, -'.gz'.length))]
    }),
  )
}
