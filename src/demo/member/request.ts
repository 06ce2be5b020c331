/** What a request asks a member for, read from its path and query. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

export type RequestKind =
  | 'list'
  | 'watch'
  | 'get'
  | 'discovery'
  | 'openapi'
  | 'version'
  | 'health'
  | 'other'

export interface MemberRequest {
  readonly kind: RequestKind
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** Of a discovery, list, watch or get below one group version. */
  readonly group: string
  readonly version: string
  /** `''` when the request is not for a resource. */
  readonly resource: string
  /** `''` for all namespaces and for cluster-scoped resources. */
  readonly namespace: string
  /** `''` for lists. */
  readonly name: string
  readonly subresource: string
}

/** Reads a request; `basePath` is where the API starts, as behind a proxy such as Rancher's. */
export function readRequest(message: IncomingMessage, basePath: string): MemberRequest {
  const url = new URL(message.url ?? '/', 'http://member')
  const path = url.pathname.startsWith(basePath) ? url.pathname.slice(basePath.length) : '/outside'
  const parts = readPath(path)
  const query = url.searchParams
  return {
    ...parts,
    kind: kindOf({ ...parts, path, query }),
    method: message.method ?? 'GET',
    path,
    query,
    headers: message.headers,
  }
}

type PathParts = Pick<
  MemberRequest,
  'group' | 'version' | 'resource' | 'namespace' | 'name' | 'subresource'
>

const NOTHING: PathParts = {
  group: '',
  version: '',
  resource: '',
  namespace: '',
  name: '',
  subresource: '',
}

/** `/api/v1/…` or `/apis/GROUP/VERSION/…`, `namespaces/NAME/` before the resource. */
function readPath(path: string): PathParts {
  const segments = path.split('/').filter((segment) => segment !== '')
  const root = segments[0]
  if (root !== 'api' && root !== 'apis') return NOTHING
  const group = root === 'apis' ? (segments[1] ?? '') : ''
  const rest = segments.slice(root === 'apis' ? 2 : 1)
  const version = rest[0] ?? ''
  const below = rest.slice(1).map(decodeSegment)
  return { ...NOTHING, group, version, ...readResource(below) }
}

function readResource(segments: readonly string[]): Partial<PathParts> {
  const inNamespace = segments[0] === 'namespaces' && segments.length > 2
  // `namespaces/shop/status` and `…/finalize` are subresources of the namespace itself.
  const ofNamespace = inNamespace && ['status', 'finalize'].includes(segments[2]!)
  const [resource, name, subresource] = inNamespace && !ofNamespace ? segments.slice(2) : segments
  return {
    resource: resource ?? '',
    namespace: inNamespace && !ofNamespace ? segments[1]! : '',
    name: name ?? '',
    subresource: subresource ?? '',
  }
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment // a stray `%` is part of no legal name, so it leads to a plain 404
  }
}

const HEALTH = /^\/(healthz|livez|readyz)(\/|$)/

function kindOf(
  request: PathParts & { readonly path: string; readonly query: URLSearchParams },
): RequestKind {
  const { path, query } = request
  if (HEALTH.test(path)) return 'health'
  if (path === '/version' || path === '/version/') return 'version'
  if (/^\/openapi\/(v2$|v3(\/|$))/.test(path)) return 'openapi'
  if (request.resource === '') return /^\/apis?(\/|$)/.test(path) ? 'discovery' : 'other'
  if (isTrue(query.get('watch'))) return 'watch'
  return request.name === '' ? 'list' : 'get'
}

/** As Kubernetes reads query booleans: anything but `false` and `0` that is there is true. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== 'false' && value !== '0'
}
