/**
 * A Kubernetes path → which object or objects it names.
 *
 * Every segment is decoded once and split before: upstream decodes first and splits then, but a
 * name with a slash in it does not exist, so nothing is lost by keeping `%2F` inside its segment.
 *
 * @see apiserver/pkg/endpoints/request/requestinfo.go
 */
import type { GroupVersionResource } from './group-resource.ts'
import { StatusError } from './status-error.ts'

export interface ResourcePath extends GroupVersionResource {
  /** Left out: every namespace, or a cluster-scoped resource. */
  readonly namespace?: string
  /** Left out: the whole collection. */
  readonly name?: string
  /** `log`, `status`, `proxy/metrics` … of the object. */
  readonly subresource?: string
  /** The deprecated form `/api/v1/watch/pods`. */
  readonly watch?: true
}

/** What may follow a namespace without being a resource in it. */
export const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(['status', 'finalize'])

/**
 * @param path - what follows the prefix of an API server, still percent-encoded: `/api/v1/pods`.
 * @returns undefined for a path that names no resource (discovery, `/healthz`, anything else).
 * @throws 400 `BadRequest` when an escape cannot be decoded.
 */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const segments = path
    .replace(/^\/|\/$/g, '')
    .split('/')
    .map(decodeSegment)
  if (segments.includes('')) return undefined
  const [root, ...rest] = segments
  if (root === 'api') return parseVersioned('', rest)
  if (root === 'apis') return parseVersioned(rest[0] ?? '', rest.slice(1))
  return undefined
}

/** @throws 400 `BadRequest`. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (error) {
    const message = `the path holds an escape that cannot be decoded: ${JSON.stringify(segment)}`
    throw new StatusError('BadRequest', message, { cause: error })
  }
}

function parseVersioned(group: string, [version, ...rest]: readonly string[]) {
  if (version === undefined || rest.length === 0) return undefined
  if (rest[0] !== 'watch' || rest.length === 1) return { group, version, ...parseRest(rest) }
  return { group, version, ...parseRest(rest.slice(1)), watch: true as const }
}

function parseRest(rest: readonly string[]) {
  const [first = '', namespace, third] = rest
  const inNamespace = first === 'namespaces' && third !== undefined && !isNamespaceSubresource(rest)
  if (!inNamespace) return named(first, rest.slice(1))
  return { namespace: namespace!, ...named(third, rest.slice(3)) }
}

function isNamespaceSubresource(rest: readonly string[]): boolean {
  return rest.length === 3 && NAMESPACE_SUBRESOURCES.has(rest[2]!)
}

function named(resource: string, [name, ...subresource]: readonly string[]) {
  return {
    resource,
    ...(name !== undefined && { name }),
    ...(subresource.length > 0 && { subresource: subresource.join('/') }),
  }
}
