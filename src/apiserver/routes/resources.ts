/**
 * Every Kubernetes path of objects under the fleet prefix and under that of one member.
 *
 * The path decides: a name means get, none means list, another method means 405. What is no path of
 * objects (discovery, OpenAPI, health) has routes of its own, which come before this one.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { FLEET_PREFIX } from '../../kube/fleet-prefix.ts'
import { parseResourcePath } from '../../kube/request-path.ts'
import { subresourceNotMirrored } from '../../kube/status-error.ts'
import { MEMBER_PREFIX_PATTERN } from '../prefixes.ts'
import { routeGetOnly } from '../refuse-methods.ts'
import { targetOf } from '../request-target.ts'
import { sendPageNotFound } from '../send-document.ts'
import { UnknownGroup } from './asked.ts'
import type { ResourceParts } from './call.ts'
import { answerCounts, asksForCounts } from './counts.ts'
import { answerGet } from './get.ts'
import { answerList } from './list.ts'

/** Fastify plugin. */
export async function resourceRoutes(server: FastifyInstance, parts: ResourceParts): Promise<void> {
  for (const url of [`${FLEET_PREFIX}/*`, `${MEMBER_PREFIX_PATTERN}/*`]) {
    routeGetOnly(server, url, (request, reply) => answer(parts, request, reply))
  }
}

async function answer(
  parts: ResourceParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { surface, path: text, query } = targetOf(request)
  const path = surface.kind === 'root' ? undefined : parseResourcePath(text)
  if (!path) return sendPageNotFound(reply)
  // Discovery lists no subresource either.
  if (path.subresource !== undefined) throw subresourceNotMirrored(path, path.subresource)
  const call = { request, reply, query, surface, path }
  try {
    if (asksForCounts(call)) return await answerCounts(parts, call)
    return await (path.name === undefined ? answerList(parts, call) : answerGet(parts, call))
  } catch (error) {
    if (error instanceof UnknownGroup) return sendPageNotFound(reply)
    throw error
  }
}
