/**
 * The documents of discovery, field by field as kube-apiserver writes them.
 *
 * @see apimachinery/pkg/apis/meta/v1/types.go, api/apidiscovery/v2/types.go
 */
import { isBuiltInGroup } from '../../kube/built-in-groups.ts'
import { apiVersionOf } from '../../kube/group-resource.ts'
import type { ApiListing, ListedGroup, ListedResource, ListedVersion } from './listing.ts'

/** `/api` */
export function apiVersions(listing: ApiListing, serverAddress: string) {
  return {
    kind: 'APIVersions',
    versions: listing.core.map(({ version }) => version),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }
}

/** `/apis` */
export function apiGroupList({ groups }: ApiListing) {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(describeGroup) }
}

/** `/apis/GROUP` */
export function apiGroup(group: ListedGroup) {
  return { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group) }
}

function describeGroup({ name, versions }: ListedGroup) {
  const described = versions.map((version) => ({
    groupVersion: apiVersionOf(version),
    version: version.version,
  }))
  return { name, versions: described, preferredVersion: described[0] }
}

/** `/apis/GROUP/VERSION` and `/api/v1`; the core group's has no apiVersion, as recorded. */
export function apiResourceList(listed: ListedVersion) {
  return {
    kind: 'APIResourceList',
    ...(listed.group !== '' && { apiVersion: 'v1' }),
    groupVersion: apiVersionOf(listed),
    resources: listed.resources.flatMap(describeResource),
  }
}

function describeResource(resource: ListedResource) {
  const { name, singularName, namespaced, kind, verbs, shortNames, categories } = resource
  return [
    {
      ...{ name, singularName, namespaced, kind, verbs },
      ...(shortNames.length > 0 && { shortNames }),
      ...(categories.length > 0 && { categories }),
    },
    ...resource.subresources.map((sub) => ({
      ...{ name: `${name}/${sub.name}`, singularName: '', namespaced, kind, verbs: sub.verbs },
    })),
  ]
}

export type AggregatedVersion = 'v2' | 'v2beta1'

/** `/api` and `/apis` in the one-request form that kubectl prefers since 1.26. */
export function aggregated(groups: readonly ListedGroup[], version: AggregatedVersion) {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map((listed) => ({
        version: listed.version,
        resources: listed.resources.map((resource) => aggregateResource(listed, resource)),
        freshness: 'Current',
      })),
    })),
  }
}

function aggregateResource({ group, version }: ListedVersion, resource: ListedResource) {
  // Built-in types leave their own group and version empty; custom resources spell them out.
  const own = isBuiltInGroup(group) ? { group: '', version: '' } : { group, version }
  const responseKind = { ...own, kind: resource.kind }
  const { name, namespaced, singularName, verbs, shortNames, categories, subresources } = resource
  return {
    resource: name,
    responseKind,
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singularName,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && {
      subresources: subresources.map((sub) => ({
        subresource: sub.name,
        responseKind,
        verbs: sub.verbs,
      })),
    }),
  }
}

/** `/`: every path that answers a GET. */
export function pathList({ core, groups }: ApiListing, others: readonly string[]) {
  const paths = [
    '/api',
    ...core.map(({ version }) => `/api/${version}`),
    '/apis',
    '/apis/',
    ...groups.flatMap(({ name, versions }) => [
      `/apis/${name}`,
      ...versions.map(({ version }) => `/apis/${name}/${version}`),
    ]),
    ...others,
  ]
  return { paths: paths.sort() }
}
