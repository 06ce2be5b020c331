/** Create, replace, patch and delete. */
import type { FastifyReply } from 'fastify'
import { boolean, parseListOptions } from '../../kube/list-options.ts'
import { StatusError } from '../../kube/status-error.ts'
import { served } from '../../registration/list.ts'
import { type Exchange, queryOf, sendText, warn } from '../exchange.ts'
import { formOf, sendObject } from './form.ts'
import { authorized, type KindRoutes, type ObjectPath } from './kind-routes.ts'
import { objectBody, patchBody } from './request-body.ts'
import { selection } from './selection.ts'
import { checkPatchOptions, deleteOptions, writeOptions } from './write-options.ts'

function userAgentOf({ request }: Exchange): string | undefined {
  return request.headers['user-agent']
}

export async function answerCreate(parts: KindRoutes, exchange: Exchange): Promise<FastifyReply> {
  authorized(parts, exchange, { verb: 'create' })
  const form = formOf(parts, exchange, 'object')
  const options = writeOptions(queryOf(exchange), userAgentOf(exchange), 'CreateOptions')
  const { kind, registrations } = parts
  const body = objectBody(exchange.request)
  const { object, warnings } = await registrations.create({ kind, body, options })
  warn(exchange, warnings)
  return sendObject(exchange, form, { text: object, code: 201 })
}

export async function answerReplace(
  parts: KindRoutes,
  exchange: Exchange,
  path: ObjectPath,
): Promise<FastifyReply> {
  authorized(parts, exchange, { verb: 'update', path })
  const form = formOf(parts, exchange, 'object')
  const options = writeOptions(queryOf(exchange), userAgentOf(exchange), 'UpdateOptions')
  const { kind, registrations } = parts
  const body = objectBody(exchange.request)
  const { object, warnings } = await registrations.replace({ ...path, kind, body, options })
  warn(exchange, warnings)
  return sendObject(exchange, form, { text: object })
}

export async function answerPatch(
  parts: KindRoutes,
  exchange: Exchange,
  path: ObjectPath,
): Promise<FastifyReply> {
  authorized(parts, exchange, { verb: 'patch', path })
  const form = formOf(parts, exchange, 'object')
  const query = queryOf(exchange)
  const { type, body } = patchBody(exchange.request)
  const options = writeOptions(query, userAgentOf(exchange), 'PatchOptions')
  checkPatchOptions(query, type)
  const { kind, registrations } = parts
  const request = { ...path, kind, body, options }
  const { object, warnings, created } = await (type === 'apply'
    ? registrations.apply({ ...request, force: boolean(query, 'force') })
    : registrations.patch({ ...request, type }))
  warn(exchange, warnings)
  return sendObject(exchange, form, { text: object, code: created ? 201 : 200 })
}

export async function answerDelete(
  parts: KindRoutes,
  exchange: Exchange,
  path: ObjectPath,
): Promise<FastifyReply> {
  authorized(parts, exchange, { verb: 'delete', path })
  const form = formOf(parts, exchange, 'object')
  const options = deleteOptions(queryOf(exchange), objectBody(exchange.request))
  const { kind, registrations } = parts
  const { uid, object, gone } = await registrations.delete({ kind, name: path.name, options })
  if (!gone) {
    return sendObject(exchange, form, {
      text: object,
      code: options.waitsForDependents ? 202 : 200,
    })
  }
  const { group, resource } = kind
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: path.name, group, kind: resource, uid },
  }
  return sendText(exchange, JSON.stringify(status), { encoding: form.encoding })
}

export async function answerDeleteCollection(
  parts: KindRoutes,
  exchange: Exchange,
): Promise<FastifyReply> {
  const mayRead = authorized(parts, exchange, { verb: 'deletecollection' })
  const form = formOf(parts, exchange, 'list')
  const query = queryOf(exchange)
  const listOptions = parseListOptions(query)
  if (listOptions.watch)
    throw new StatusError('BadRequest', 'a collection is deleted without watch')
  const { selects } = selection(listOptions, mayRead)
  const options = deleteOptions(query, objectBody(exchange.request))
  const { registrations, kind } = parts
  const { objects, resourceVersion } = await registrations.deleteCollection({
    kind,
    selects,
    options,
  })
  const list = form.list(objects.map(served), { resourceVersion })
  return sendText(exchange, list, { encoding: form.encoding })
}
