/**
 * What kind of work a request is, for limits and metrics.
 *
 * - `probe`: whether we are alive, and metrics. Never refused.
 * - `query`: reads the mirror, and is over soon: a get, counts, a page of a list, what is worked out
 *   from it (`fleet.fleetglass.io`).
 * - `stream`: a whole list, of whatever size.
 * - `watch`: of registrations; stays open by its nature.
 * - `other`: registrations, rights, discovery, reviews.
 */
import type { FastifyRequest } from 'fastify'
import { COLLECTIONS_PREFIX } from '../kube/collection-resource.ts'
import { groupVersionPath } from '../kube/group-resource.ts'
import { boolean } from '../kube/list-options.ts'
import { parseResourcePath } from '../kube/request-path.ts'
import { FLEET_API } from './fleet/kind.ts'
import { targetOf } from './request-target.ts'

export type RequestLane = 'probe' | 'query' | 'stream' | 'watch' | 'other'

const PROBES = /^\/(?:healthz|livez|readyz|metrics)(?:\/|$)/
const COLLECTION = new RegExp(`^${COLLECTIONS_PREFIX}/[^/]+$`)
const WORKED_OUT = `/${groupVersionPath(FLEET_API)}/`

/** @throws 400 `BadRequest` for an escape that cannot be decoded. */
export function laneOf(request: Pick<FastifyRequest, 'method' | 'url'>): RequestLane {
  const { surface, path, query } = targetOf(request)
  if (PROBES.test(path)) return 'probe'
  if (request.method !== 'GET') return 'other'
  if (surface.kind === 'root') {
    if (path.startsWith(WORKED_OUT)) return 'query'
    if (COLLECTION.test(path)) return isPage(query) ? 'query' : 'stream'
    return boolean(query, 'watch') ? 'watch' : 'other'
  }
  const object = parseResourcePath(path)
  if (!object) return 'other'
  return object.name !== undefined || isPage(query) ? 'query' : 'stream'
}

/** Whether the answer has an end that was asked for. */
function isPage(query: URLSearchParams): boolean {
  const byLabel = /clusterpedia\.io\/(?:limit|size)\b/.test(query.get('labelSelector') ?? '')
  return byLabel || /^0*[1-9]\d{0,3}$/.test(query.get('limit') ?? '')
}
