/**
 * What a request is to an authoriser: a verb on a resource, or on a path that is none.
 *
 * kube-apiserver sees `…/clusterpedia.io/v1beta1/resources/clusters/C/api/v1/pods` as verb `get` of
 * the resource `resources/C` called `clusters`.
 *
 * @see apiserver/pkg/endpoints/request/requestinfo.go, RequestInfoFactory.NewRequestInfo
 */
import { boolean } from './list-options.ts'
import { NAMESPACE_SUBRESOURCES } from './request-path.ts'

export interface ResourceAttributes {
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
}

export interface PathAttributes {
  readonly verb: string
  readonly path: string
}

export type RequestAttributes = ResourceAttributes | PathAttributes

export interface RequestLine {
  readonly method: string
  /** Decoded, or not: names are not looked at. */
  readonly path: string
  readonly query: URLSearchParams
}

const VERB_OF: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

export function attributesOf({ method, path, query }: RequestLine): RequestAttributes {
  const parts = path.split('/').filter((part) => part !== '')
  const [prefix, ...rest] = parts
  const isCore = prefix === 'api'
  if ((!isCore && prefix !== 'apis') || parts.length < (isCore ? 3 : 4)) {
    return { verb: method.toLowerCase(), path }
  }
  const group = isCore ? '' : rest.shift()!
  const version = rest.shift()!
  const { namespace, named } = withinNamespace(rest)
  const [resource = '', name, subresource] = named
  const verb = verbOf(VERB_OF[method] ?? '', name, query)
  return {
    ...{ verb, group, version, resource },
    ...(subresource !== undefined && { subresource }),
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
  }
}

function withinNamespace(parts: readonly string[]): {
  readonly namespace?: string
  readonly named: readonly string[]
} {
  const [first, namespace, next] = parts
  if (first !== 'namespaces' || namespace === undefined) return { named: parts }
  const isOther = next !== undefined && !NAMESPACE_SUBRESOURCES.has(next)
  return { namespace, named: isOther ? parts.slice(2) : parts }
}

function verbOf(verb: string, name: string | undefined, query: URLSearchParams): string {
  if (name !== undefined) return verb
  if (verb === 'delete') return 'deletecollection'
  if (verb !== 'get') return verb
  return boolean(query, 'watch') ? 'watch' : 'list'
}
