/**
 * Serves registrations and rights at the root, as a real API server serves custom resources.
 *
 * What each verb does is in src/registration; this is its HTTP. Discovery and OpenAPI of the kinds
 * are served elsewhere (discovery/, openapi/).
 */
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { groupVersionPath } from '../../kube/group-resource.ts'
import { noSuchResource } from '../../kube/status-error.ts'
import { REGISTRATION_KINDS } from '../../registration/kinds.ts'
import { refuseMethods } from '../refuse-methods.ts'
import { takeBytes } from '../request-body.ts'
import type { KindRoutes, RegistrationRoutesOptions } from './kind-routes.ts'
import { answerGet, answerList } from './read-routes.ts'
import {
  answerCreate,
  answerDelete,
  answerDeleteCollection,
  answerPatch,
  answerReplace,
} from './write-routes.ts'

/** Fastify plugin, for a scope of its own; `request.identity` must be set before its routes run. */
export function registrationRoutes(options: RegistrationRoutesOptions): FastifyPluginAsync {
  return async (server) => {
    takeBytes(server)
    const stopping = new AbortController()
    server.addHook('preClose', async () => stopping.abort())
    for (const kind of REGISTRATION_KINDS) {
      serveKind(server, { ...options, kind, stopping: stopping.signal })
    }
    for (const path of new Set(REGISTRATION_KINDS.map(groupVersionPath))) {
      server.all(`/${path}/*`, () => {
        throw noSuchResource()
      })
    }
  }
}

interface Named {
  readonly Params: { readonly name: string }
}

function serveKind(server: FastifyInstance, parts: KindRoutes): void {
  const { kind } = parts
  const collection = `/${groupVersionPath(kind)}/${kind.resource}`
  const item = `${collection}/:name`
  const at = (name: string, subresource: '' | 'status' = '') => ({ name, subresource })

  server.get(collection, (request, reply) => answerList(parts, { request, reply }))
  server.post(collection, (request, reply) => answerCreate(parts, { request, reply }))
  server.delete(collection, (request, reply) => answerDeleteCollection(parts, { request, reply }))
  refuseMethods(server, collection, ['PUT', 'PATCH'])

  server.get<Named>(item, (request, reply) =>
    answerGet(parts, { request, reply }, at(request.params.name)),
  )
  server.put<Named>(item, (request, reply) =>
    answerReplace(parts, { request, reply }, at(request.params.name)),
  )
  server.patch<Named>(item, (request, reply) =>
    answerPatch(parts, { request, reply }, at(request.params.name)),
  )
  server.delete<Named>(item, (request, reply) =>
    answerDelete(parts, { request, reply }, at(request.params.name)),
  )
  refuseMethods(server, item, ['POST'])
  if (kind.hasStatus) serveStatus(server, `${item}/status`, parts)
}

function serveStatus(server: FastifyInstance, path: string, parts: KindRoutes): void {
  const status = (name: string) => ({ name, subresource: 'status' as const })
  server.get<Named>(path, (request, reply) =>
    answerGet(parts, { request, reply }, status(request.params.name)),
  )
  server.put<Named>(path, (request, reply) =>
    answerReplace(parts, { request, reply }, status(request.params.name)),
  )
  server.patch<Named>(path, (request, reply) =>
    answerPatch(parts, { request, reply }, status(request.params.name)),
  )
  refuseMethods(server, path, ['POST', 'DELETE'])
}
