/** What an API server says it serves, before it is written as one of the five kinds of document. */
import { compareBytes } from '../../kube/byte-order.ts'
import { type GroupVersion, parseApiVersion } from '../../kube/group-resource.ts'
import { compareVersions } from '../../kube/version-order.ts'
import type { VisibleCluster } from '../access/access.ts'
import type { ClusterResource } from '../catalog.ts'
import { compareGroups } from './priority.ts'

export interface ListedResource {
  /** `pods` */
  readonly name: string
  readonly singularName: string
  readonly namespaced: boolean
  readonly kind: string
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly subresources: ReadonlyArray<{ readonly name: string; readonly verbs: readonly string[] }>
}

export interface ListedVersion extends GroupVersion {
  /** Sorted by name. */
  readonly resources: readonly ListedResource[]
}

export interface ListedGroup {
  readonly name: string
  /** The preferred one first; never empty. */
  readonly versions: readonly ListedVersion[]
}

export interface ApiListing {
  /** Versions of the core group. */
  readonly core: readonly ListedVersion[]
  readonly groups: readonly ListedGroup[]
}

/** What can be done with an object of the mirror. */
const MIRROR_VERBS: readonly string[] = ['get', 'list']

/**
 * The union over clusters. A type stands under every group and version that a member serves it in;
 * where members disagree about one, the first by name is believed, and short names and categories
 * are put together.
 */
export function listMirrored(clusters: readonly VisibleCluster[]): ApiListing {
  const versions = new Map<string, Map<string, ListedResource>>()
  for (const { resources } of clusters) {
    for (const resource of resources) {
      for (const version of resource.servedVersions) {
        const listed = versions.get(version) ?? new Map<string, ListedResource>()
        versions.set(version, listed)
        listed.set(resource.resource, unite(listed.get(resource.resource), resource))
      }
    }
  }
  return arrange(
    [...versions].map(([version, listed]) => ({
      ...parseApiVersion(version),
      resources: [...listed.values()],
    })),
  )
}

function unite(known: ListedResource | undefined, found: ClusterResource): ListedResource {
  if (known) {
    return {
      ...known,
      shortNames: union(known.shortNames, found.shortNames),
      categories: union(known.categories, found.categories),
    }
  }
  const { resource: name, singularName, namespaced, kind, shortNames, categories } = found
  return {
    ...{ name, singularName, namespaced, kind, shortNames, categories },
    verbs: MIRROR_VERBS,
    subresources: [],
  }
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return b.every((text) => a.includes(text)) ? a : [...new Set([...a, ...b])]
}

/** Puts groups, versions and resources in the order that clients rely on. */
export function arrange(versions: readonly ListedVersion[]): ApiListing {
  const groups = Map.groupBy(versions, ({ group }) => group)
  const arranged = [...groups]
    .map(([name, ofGroup]) => ({
      name,
      versions: ofGroup
        .map((version) => ({
          ...version,
          resources: version.resources.toSorted((a, b) => compareBytes(a.name, b.name)),
        }))
        .sort((a, b) => compareVersions(a.version, b.version)),
    }))
    .sort((a, b) => compareGroups(a.name, b.name))
  return {
    core: arranged.find(({ name }) => name === '')?.versions ?? [],
    groups: arranged.filter(({ name }) => name !== ''),
  }
}
