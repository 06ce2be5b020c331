/**
 * Serves `fleet.fleetglass.io` at the root: which clusters are broken, and where they differ.
 *
 * A FleetAccess rule for the group decides who may ask, about which clusters and namespaces; what
 * is worked out within these is shown to them, whatever they may list of the mirror itself.
 */
import type { FastifyPluginAsync, HTTPMethods } from 'fastify'
import { groupVersionPath } from '../../kube/group-resource.ts'
import { noSuchResource } from '../../kube/status-error.ts'
import { refuseMethods } from '../refuse-methods.ts'
import { takeBytes } from '../request-body.ts'
import { answerGet, answerList } from './answer.ts'
import { BriefCache } from './brief-cache.ts'
import { Judgements } from './judgements.ts'
import { FLEET_API } from './kind.ts'
import { FLEET_KINDS } from './kinds.ts'
import { OneAtATime } from './one-at-a-time.ts'
import type { FleetParts } from './view.ts'

/** Comparisons that are held at once: each may be of hundreds of clusters. */
const COMPARISONS_KEPT = 24
const WRITES: HTTPMethods[] = ['POST', 'PUT', 'PATCH', 'DELETE']

/** Fastify plugin, for a scope of its own. */
export function fleetRoutes(parts: FleetParts): FastifyPluginAsync {
  return async (server) => {
    takeBytes(server)
    const judgements = new Judgements(parts)
    const comparisons = new BriefCache<unknown>(parts.clock, COMPARISONS_KEPT)
    const turns = new OneAtATime()
    const root = `/${groupVersionPath(FLEET_API)}`
    for (const kind of FLEET_KINDS) {
      const serving = { ...parts, kind, judgements, comparisons, turns }
      const collection = `${root}/${kind.resource}`
      server.get(collection, (request, reply) => answerList(serving, { request, reply }))
      server.get<{ Params: { readonly name: string } }>(`${collection}/:name`, (request, reply) =>
        answerGet(serving, { request, reply }, request.params.name),
      )
      for (const url of [collection, `${collection}/:name`]) refuseMethods(server, url, WRITES)
    }
    server.all(`${root}/*`, () => {
      throw noSuchResource()
    })
  }
}
