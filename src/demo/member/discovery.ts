/** What a member says it serves: plain and aggregated discovery, and the list of paths at `/`. */
import { createHash } from 'node:crypto'
import { apiVersionOf, type GroupVersion } from '../../kube/group-resource.ts'
import { jsonReply, MemberError, type Reply, taggedReply, textReply } from './reply.ts'
import type { MemberRequest } from './request.ts'
import type { MemberResource, ServedResources, Subresource } from './served-resources.ts'

export interface DiscoveryOptions {
  readonly resources: ServedResources
  /** Versions of apidiscovery.k8s.io that this Kubernetes release offers. */
  readonly aggregated: readonly string[]
  /** Groups whose API server is down: aggregated says stale, plain cannot be asked. */
  readonly brokenGroups: ReadonlySet<string>
}

export function answerDiscovery(request: MemberRequest, options: DiscoveryOptions): Reply {
  const { path, group, version } = request
  const root = path.replace(/\/$/, '')
  if (root === '/api' || root === '/apis') return answerRoot(request, root, options)
  const { resources, brokenGroups } = options
  if (brokenGroups.has(group) && version !== '') throw groupIsDown()
  const versions = resources.groups().get(group)
  if (!versions) return textReply(404, '404 page not found\n')
  if (version === '')
    return jsonReply({ kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group, versions) })
  if (!versions.includes(version)) throw noSuchVersion()
  return jsonReply(resourceList({ group, version }, resources))
}

function answerRoot(request: MemberRequest, root: string, options: DiscoveryOptions): Reply {
  const version = acceptedAggregate(request.headers.accept ?? '', options.aggregated)
  if (version) {
    const reply = {
      ...jsonReply(aggregated(root, version, options)),
      contentType: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
    }
    return taggedReply(reply, request.headers['if-none-match'])
  }
  const groups = options.resources.groups()
  if (root === '/api') {
    const host = request.headers.host ?? ''
    return jsonReply({
      kind: 'APIVersions',
      versions: groups.get('') ?? [],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: host }],
    })
  }
  return jsonReply({
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: [...groups].filter(([name]) => name !== '').map(([name, vs]) => groupOf(name, vs)),
  })
}

/** The first aggregated form in `accept` that is offered, unless plain JSON stands before it. */
function acceptedAggregate(accept: string, offered: readonly string[]): string | undefined {
  for (const clause of accept.split(',')) {
    if (/^\s*(application\/json|\*\/\*)\s*(;q=[\d.]+)?$/.test(clause)) return undefined
    if (!clause.includes('as=APIGroupDiscoveryList')) continue
    const version = /v=(\w+)/.exec(clause)?.[1]
    if (version !== undefined && offered.includes(version)) return version
  }
  return undefined
}

function groupOf(name: string, versions: readonly string[]) {
  const entries = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions: entries, preferredVersion: entries[0] }
}

function resourceList(of: GroupVersion, resources: ServedResources) {
  return {
    kind: 'APIResourceList',
    ...(of.group !== '' && { apiVersion: 'v1' }),
    groupVersion: apiVersionOf(of),
    resources: resources.in(of).flatMap((resource) => [
      {
        name: resource.resource,
        singularName: resource.singularName,
        namespaced: resource.namespaced,
        kind: resource.kind,
        verbs: resource.verbs,
        ...(resource.shortNames.length > 0 && { shortNames: resource.shortNames }),
        ...(resource.categories.length > 0 && { categories: resource.categories }),
        storageVersionHash: storageVersionHash(resource),
      },
      ...(resource.subresources ?? []).map((subresource) =>
        plainSubresource(resource, subresource),
      ),
    ]),
  }
}

function plainSubresource(resource: MemberResource, { name, ...subresource }: Subresource) {
  return {
    name: `${resource.resource}/${name}`,
    singularName: '',
    namespaced: resource.namespaced,
    ...(subresource.group !== undefined && { group: subresource.group }),
    ...(subresource.version !== undefined && { version: subresource.version }),
    kind: subresource.kind,
    verbs: subresource.verbs,
  }
}

function storageVersionHash({ group, version, kind }: MemberResource): string {
  const hash = createHash('sha256').update(`${group}/${version}/${kind}`).digest()
  return hash.subarray(0, 8).toString('base64')
}

function aggregated(root: string, version: string, options: DiscoveryOptions) {
  const { resources, brokenGroups } = options
  const wanted = [...resources.groups()].filter(([name]) => (name === '') === (root === '/api'))
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: wanted.map(([group, versions]) => ({
      metadata: group === '' ? {} : { name: group },
      versions: versions.map((v) =>
        brokenGroups.has(group)
          ? { version: v, freshness: 'Stale' }
          : {
              version: v,
              resources: resources.in({ group, version: v }).map(aggregatedResource),
              freshness: 'Current',
            },
      ),
    })),
  }
}

function aggregatedResource(resource: MemberResource) {
  // Built-in kinds leave group and version empty here, custom ones do not: as recorded.
  const ofKind = (kind: string, group?: string, version?: string) => ({
    group: group ?? (resource.custom ? resource.group : ''),
    version: version ?? (resource.custom ? resource.version : ''),
    kind,
  })
  return {
    resource: resource.resource,
    responseKind: ofKind(resource.kind),
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singularName,
    verbs: resource.verbs,
    ...(resource.shortNames.length > 0 && { shortNames: resource.shortNames }),
    ...(resource.categories.length > 0 && { categories: resource.categories }),
    ...(resource.subresources?.length && {
      subresources: resource.subresources.map(({ name, kind, verbs, group, version }) => ({
        subresource: name,
        responseKind: ofKind(kind, group, version),
        verbs,
      })),
    }),
  }
}

function groupIsDown(): MemberError {
  return new MemberError({
    code: 503,
    reason: 'ServiceUnavailable',
    message: 'the server is currently unable to handle the request',
    details: {},
  })
}

/** What Kubernetes answers below a group that it knows. */
export function noSuchVersion(): MemberError {
  return new MemberError({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  })
}
