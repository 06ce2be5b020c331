/** From a request to its answer: health, version, discovery, OpenAPI, and objects. */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../clock.ts'
import { qualifiedResource } from '../../kube/group-resource.ts'
import { ANONYMOUS } from './authenticate.ts'
import { answerDiscovery, noSuchVersion } from './discovery.ts'
import { listObjects, type ResourceRequest } from './list.ts'
import type { ObjectHistory } from './object-history.ts'
import { answerOpenApi, type OpenApiDocuments } from './openapi.ts'
import { aggregatedDiscoveryOf, type Release, servesOpenApiV3, versionDocument } from './release.ts'
import { jsonReply, MemberError, type Output, type Reply, sendReply, textReply } from './reply.ts'
import { representationOf } from './representation.ts'
import type { MemberRequest } from './request.ts'
import { type MemberResource, type ServedResources, storageOf } from './served-resources.ts'
import { type OpenWatch, watchObjects } from './watch.ts'

/** One request on its way. A fault may replace `output`, or answer on `response` itself. */
export interface Exchange {
  readonly request: MemberRequest
  readonly response: ServerResponse
  output: Output
}

/** Answers in the server's place by returning true; false or nothing lets the server answer. */
export type Interceptor = (exchange: Exchange) => boolean | Promise<boolean>

export interface Attributes {
  readonly user: string
  readonly verb: 'get' | 'list' | 'watch'
  readonly group: string
  readonly resource: string
  readonly namespace: string
}

export interface Answering {
  readonly history: ObjectHistory
  readonly resources: ServedResources
  readonly release: Release
  readonly openApi: OpenApiDocuments
  readonly brokenGroups: ReadonlySet<string>
  readonly watches: Set<OpenWatch>
  readonly clock: Clock
  readonly bookmarkSeconds: number
  readonly open: boolean
  authorize(attributes: Attributes): boolean
}

const PUBLIC = new Set(['health', 'version'])

/** @throws {@link MemberError} for every answer that is a Status. */
export function answer(exchange: Exchange, user: string | undefined, by: Answering): void {
  const { request } = exchange
  if (user === undefined || (user === ANONYMOUS && !by.open && !PUBLIC.has(request.kind))) {
    throw new MemberError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' })
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') throw notAllowed()
  if (request.kind === 'watch') {
    startWatch(exchange, user, by)
    return
  }
  sendReply(replyTo(request, user, by), {
    output: exchange.output,
    acceptEncoding: request.headers['accept-encoding']?.toString() ?? '',
  })
}

function replyTo(request: MemberRequest, user: string, by: Answering): Reply {
  switch (request.kind) {
    case 'health':
      return textReply(200, 'ok')
    case 'version':
      return jsonReply(versionDocument(by.release))
    case 'openapi':
      return answerOpenApi(request, {
        documents: by.openApi,
        resources: by.resources,
        hasV3: servesOpenApiV3(by.release),
      })
    case 'discovery':
      return answerDiscovery(request, {
        resources: by.resources,
        aggregated: aggregatedDiscoveryOf(by.release),
        brokenGroups: by.brokenGroups,
      })
    case 'list':
    case 'get':
      return answerObjects(request, user, by)
    default:
      return request.path === '/' ? jsonReply({ paths: pathsOf(by.resources) }) : pageNotFound()
  }
}

function answerObjects(request: MemberRequest, user: string, by: Answering): Reply {
  const found = findResource(request, by)
  if (!found) return pageNotFound()
  allow(request, user, by)
  const asked = { request, resource: found, history: by.history }
  return request.kind === 'list' ? listObjects(asked) : getObject(asked)
}

function startWatch(exchange: Exchange, user: string, by: Answering): void {
  const { request, output } = exchange
  const resource = findResource(request, by)
  if (!resource) {
    sendReply(pageNotFound(), { output, acceptEncoding: '' })
    return
  }
  allow(request, user, by)
  const watch = watchObjects(
    { request, resource, history: by.history },
    { output, options: by, closed: (closed) => by.watches.delete(closed) },
  )
  if (!exchange.response.writableEnded) by.watches.add(watch)
}

/** undefined where Kubernetes answers in plain text: below groups that nobody serves. */
function findResource(request: MemberRequest, by: Answering): MemberResource | undefined {
  if (by.brokenGroups.has(request.group)) {
    const message = 'the server is currently unable to handle the request'
    throw new MemberError({ code: 503, reason: 'ServiceUnavailable', message, details: {} })
  }
  const found = by.resources.find(request)
  const wrongScope = found && !found.namespaced && request.namespace !== ''
  if (found && !wrongScope && request.subresource === '') return found
  const inGroup = by.resources.all().filter(({ group }) => group === request.group)
  // Only built-in groups have a handler that answers for paths below them.
  if (inGroup.every((resource) => resource.custom)) return undefined
  throw noSuchVersion()
}

function allow(request: MemberRequest, user: string, by: Answering): void {
  const { kind, group, resource, namespace, name } = request
  const verb = kind as Attributes['verb']
  if (by.authorize({ user, verb, group, resource, namespace })) return
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`
  const sentence = `User "${user}" cannot ${verb} resource "${resource}" in API group "${group}" ${scope}`
  const named = name === '' ? '' : ` "${name}"`
  throw new MemberError({
    code: 403,
    reason: 'Forbidden',
    message: `${qualifiedResource({ group, resource })}${named} is forbidden: ${sentence}`,
    details: { ...(name && { name }), ...(group && { group }), kind: resource },
  })
}

function getObject({ request, resource, history }: ResourceRequest): Reply {
  const { namespace, name, group } = request
  const key = namespace === '' ? name : `${namespace}/${name}`
  const object = history.get(storageOf(resource), key)
  if (!object || (resource.namespaced && namespace === '')) {
    throw new MemberError({
      code: 404,
      reason: 'NotFound',
      message: `${qualifiedResource(resource)} ${JSON.stringify(name)} not found`,
      details: { name, ...(group && { group }), kind: resource.resource },
    })
  }
  const body = representationOf(resource, request.headers.accept ?? '').single(object)
  return {
    code: 200,
    contentType: 'application/json',
    body: Buffer.concat([body, Buffer.from('\n')]),
  }
}

function pathsOf(resources: ServedResources): string[] {
  const paths = [
    '/api',
    '/apis',
    '/healthz',
    '/livez',
    '/openapi/v2',
    '/openapi/v3',
    '/readyz',
    '/version',
  ]
  for (const [group, versions] of resources.groups()) {
    const root = group === '' ? '/api' : `/apis/${group}`
    paths.push(root, ...versions.map((version) => `${root}/${version}`))
  }
  return [...new Set(paths)].sort()
}

function pageNotFound(): Reply {
  return textReply(404, '404 page not found\n')
}

function notAllowed(): MemberError {
  return new MemberError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  })
}
