/** Routes that are there three times: at the root, for the fleet, for each member cluster. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { FLEET_PREFIX } from '../kube/fleet-prefix.ts'
import type { Access, VisibleCluster } from './access/access.ts'
import { clusterNotFound, forbiddenPath } from './access/forbidden.ts'
import { MEMBER_PREFIX_PATTERN, type Surface } from './prefixes.ts'
import { splitUrl } from './request-target.ts'

/** Which surface a request of these routes was sent to. */
export type SurfaceOf = (request: FastifyRequest) => Surface

/** Declares the same routes under the root and both prefixes. */
export async function onEverySurface(
  server: FastifyInstance,
  routes: (server: FastifyInstance, surfaceOf: SurfaceOf) => void,
): Promise<void> {
  routes(server, () => ({ kind: 'root' }))
  await server.register(under(FLEET_PREFIX, () => ({ kind: 'fleet' })))
  await server.register(under(MEMBER_PREFIX_PATTERN, memberOf))

  function under(prefix: string, surfaceOf: SurfaceOf) {
    return async (outer: FastifyInstance): Promise<void> => {
      await outer.register(
        (inner, _options, done) => {
          routes(inner, surfaceOf)
          done()
        },
        { prefix },
      )
    }
  }
}

type Handler = (
  request: FastifyRequest,
  reply: FastifyReply,
) => FastifyReply | Promise<FastifyReply>

/** A GET that kube-apiserver answers with and without a slash at the end. */
export function getWithSlash(routes: FastifyInstance, path: string, handler: Handler): void {
  routes.get(path, handler)
  routes.get(`${path}/`, handler)
}

function memberOf({ params }: FastifyRequest): Surface {
  return { kind: 'member', cluster: (params as { readonly cluster: string }).cluster }
}

/**
 * The clusters that documents of a prefix speak of.
 *
 * @throws `Forbidden` for a cluster that the reader may not see, whether it exists or not, and
 *   `NotFound` when they may know that there is none.
 */
export function clustersOf(
  access: Access,
  request: FastifyRequest,
  surface: Exclude<Surface, { kind: 'root' }>,
): readonly VisibleCluster[] {
  const { identity } = request
  const visible = access.visible(identity)
  if (surface.kind === 'fleet') return visible
  const member = visible.find(({ cluster }) => cluster.name === surface.cluster)
  if (member) return [member]
  if (access.mayName(identity, surface.cluster)) throw clusterNotFound(surface.cluster)
  const { path } = splitUrl(request.url)
  throw forbiddenPath(identity, { verb: request.method.toLowerCase(), path })
}
