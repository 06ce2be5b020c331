/** `/apis/clusterpedia.io/v1beta1/collectionresources[/NAME]`: what there are, and what is in one. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { COLLECTIONS, COLLECTIONS_PREFIX } from '../../kube/collection-resource.ts'
import { FLEET_GROUP } from '../../kube/fleet-prefix.ts'
import { negotiateObjects } from '../../kube/media-type.ts'
import { notFound } from '../../kube/status-error.ts'
import { routeGetOnly } from '../refuse-methods.ts'
import { targetOf } from '../request-target.ts'
import type { ResourceParts } from '../routes/call.ts'
import { includeObjectOf } from '../routes/table-options.ts'
import { JsonDocument, sendDocument } from '../send-document.ts'
import { answerCollection } from './answer-collection.ts'
import { collectionList, collectionListTable } from './documents.ts'

/** Fastify plugin. */
export async function collectionRoutes(
  server: FastifyInstance,
  parts: ResourceParts,
): Promise<void> {
  routeGetOnly(server, COLLECTIONS_PREFIX, sendList)
  routeGetOnly(server, `${COLLECTIONS_PREFIX}/`, sendList)
  routeGetOnly(server, `${COLLECTIONS_PREFIX}/:name`, async (request, reply) => {
    const { name } = request.params as { readonly name: string }
    const collection = COLLECTIONS.find((each) => each.name === name)
    if (!collection) throw notFound({ group: FLEET_GROUP, resource: 'collectionresources' }, name)
    const { query } = targetOf(request)
    return answerCollection(parts, { request, reply, query, collection })
  })
}

async function sendList(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { query } = targetOf(request)
  const { as, encoding, metaVersion } = negotiateObjects(request.headers.accept, 'list')
  const document =
    as === 'Table' ? collectionListTable(metaVersion, includeObjectOf(query)) : collectionList()
  const contentType = `application/${encoding}`
  return sendDocument({ request, reply }, new JsonDocument(document), { contentType })
}
