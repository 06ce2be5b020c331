/** Where a request was sent: which of our API servers, and what follows its prefix. */
import type { FastifyRequest } from 'fastify'
import { FLEET_PREFIX } from '../kube/fleet-prefix.ts'
import { decodeSegment } from '../kube/request-path.ts'
import type { Surface } from './prefixes.ts'

export interface RequestTarget {
  readonly surface: Surface
  /** Still percent-encoded; it is decoded once, segment by segment (kube/request-path.ts). */
  readonly path: string
  readonly query: URLSearchParams
}

const MEMBER = /^\/clusters\/([^/]+)(.*)$/s

/** The path as it is, still percent-encoded, and the query. */
export function splitUrl(url: string): Pick<RequestTarget, 'path' | 'query'> {
  const mark = url.indexOf('?')
  if (mark < 0) return { path: url, query: new URLSearchParams() }
  return { path: url.slice(0, mark), query: new URLSearchParams(url.slice(mark + 1)) }
}

/** @throws 400 `BadRequest` when the cluster's name cannot be decoded. */
export function targetOf({ url }: Pick<FastifyRequest, 'url'>): RequestTarget {
  const { path, query } = splitUrl(url)
  if (!path.startsWith(`${FLEET_PREFIX}/`)) return { surface: { kind: 'root' }, path, query }
  const rest = path.slice(FLEET_PREFIX.length)
  const member = MEMBER.exec(rest)
  if (!member) return { surface: { kind: 'fleet' }, path: rest, query }
  const [, cluster = '', inMember = ''] = member
  return { surface: { kind: 'member', cluster: decodeSegment(cluster) }, path: inMember, query }
}
