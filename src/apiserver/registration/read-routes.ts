/** Get, list and watch. */
import type { FastifyReply } from 'fastify'
import { formatContinue, parseContinue, queryChecksum } from '../../kube/continue-token.ts'
import type { JsonObject } from '../../kube/kube-object.ts'
import { boolean, type ListOptions, parseListOptions } from '../../kube/list-options.ts'
import { StatusError } from '../../kube/status-error.ts'
import { nameOf } from '../../registration/lifecycle.ts'
import type { ObjectList } from '../../registration/list.ts'
import type { WatchEvent } from '../../registration/watch.ts'
import { type Exchange, queryOf, sendText } from '../exchange.ts'
import { formOf } from './form.ts'
import { authorized, type KindRoutes, type ObjectPath } from './kind-routes.ts'
import type { ListMeta } from './represent.ts'
import { rightsChange } from './rights-change.ts'
import { type Selection, selection } from './selection.ts'
import { sendWatch } from './watch-stream.ts'

export async function answerGet(
  parts: KindRoutes,
  exchange: Exchange,
  path: ObjectPath,
): Promise<FastifyReply> {
  authorized(parts, exchange, { verb: 'get', path })
  const form = formOf(parts, exchange, 'object')
  const { resourceVersion } = parseListOptions(queryOf(exchange))
  const object = await parts.registrations.get({
    kind: parts.kind,
    name: path.name,
    ...(resourceVersion !== undefined && { notOlderThan: resourceVersion }),
  })
  await beforeSending(parts, [object.object])
  return sendText(exchange, form.object(object), { encoding: form.encoding })
}

export async function answerList(
  parts: KindRoutes,
  exchange: Exchange,
): Promise<FastifyReply | undefined> {
  const options = parseListOptions(queryOf(exchange))
  const verb = options.watch ? 'watch' : 'list'
  const mayRead = authorized(parts, exchange, { verb })
  const selected = selection(options, mayRead)
  if (options.watch) return answerWatch(parts, exchange, { options, selected })
  const form = formOf(parts, exchange, 'list')
  const checksum = queryChecksum([
    parts.kind.resource,
    options.labelSelector,
    options.fieldSelector,
  ])
  const list = await parts.registrations.list({
    kind: parts.kind,
    selects: selected.selects,
    ...(options.limit !== undefined && { limit: options.limit }),
    ...stateOf(options, checksum),
  })
  await beforeSending(
    parts,
    list.items.map(({ object }) => object),
  )
  const metadata = listMeta(list, selected, checksum)
  return sendText(exchange, form.list(list.items, metadata), { encoding: form.encoding })
}

async function beforeSending(
  { kind, untilKnown }: KindRoutes,
  objects: readonly JsonObject[],
): Promise<void> {
  if (kind.resource === 'pediaclusters') await untilKnown(objects)
}

async function* settled(
  parts: KindRoutes,
  events: AsyncIterable<WatchEvent>,
): AsyncGenerator<WatchEvent> {
  for await (const event of events) {
    if ('object' in event && event.type !== 'DELETED') await beforeSending(parts, [event.object])
    yield event
  }
}

/**
 * Which state is listed: that of the first page, an exact one, or the newest.
 *
 * A page of a resourceVersion is one of exactly that, unless the request says how it is meant.
 *
 * @see kubernetes.io/docs/reference/using-api/api-concepts, "Semantics for get and list"
 */
function stateOf(options: ListOptions, checksum: string) {
  const { resourceVersion, resourceVersionMatch, limit } = options
  if (options.continue !== undefined) {
    const from = parseContinue(options.continue, checksum)
    const [revision] = from.kind === 'key' ? from.after.values : []
    const isMade = /^\d+$/.test(revision ?? '')
    if (from.kind === 'offset' || !isMade || from.after.name.includes('\0')) {
      throw new StatusError('BadRequest', 'invalid continue token: continue key is not valid')
    }
    return { after: from.after.name, at: BigInt(revision!) }
  }
  if (resourceVersion === undefined || resourceVersion === 0n) return {}
  const isExact =
    resourceVersionMatch === 'Exact' || (resourceVersionMatch === undefined && limit !== undefined)
  return isExact ? { at: resourceVersion } : { notOlderThan: resourceVersion }
}

function listMeta(list: ObjectList, { isEverything }: Selection, checksum: string): ListMeta {
  const { resourceVersion, remaining, items } = list
  const last = items.at(-1)
  if (remaining === 0 || !last) return { resourceVersion }
  const after = { values: [resourceVersion], cluster: '', namespace: '', name: nameOf(last.object) }
  return {
    resourceVersion,
    continue: formatContinue({ after, seen: 0 }, checksum),
    ...(isEverything && { remainingItemCount: remaining }),
  }
}

/** Watches without a time limit end at a random time between these, so that not all come back at once. */
const WATCH_LEAST_SECONDS = 1800
const WATCH_MOST_SECONDS = 3600

async function answerWatch(
  parts: KindRoutes,
  exchange: Exchange,
  asked: { readonly options: ListOptions; readonly selected: Selection },
): Promise<undefined> {
  const query = queryOf(exchange)
  const form = formOf(parts, exchange, 'object')
  if (form.encoding === 'yaml') throw onlyJson()
  const { resourceVersion, timeoutSeconds } = asked.options
  const request = {
    kind: parts.kind,
    selects: asked.selected.selects,
    bookmarks: boolean(query, 'allowWatchBookmarks'),
    initialEvents: boolean(query, 'sendInitialEvents'),
    ...(resourceVersion !== undefined && { after: resourceVersion }),
  }
  const spread = WATCH_MOST_SECONDS - WATCH_LEAST_SECONDS
  await sendWatch(exchange.reply, {
    kind: parts.kind,
    representer: form,
    events: (signal) => settled(parts, parts.registrations.watch(request, signal)),
    timeoutSeconds: timeoutSeconds ?? WATCH_LEAST_SECONDS + Math.random() * spread,
    stopping: parts.stopping,
    rightsChange: (signal) => rightsChange(parts, exchange.request, signal),
  })
}

function onlyJson(): StatusError {
  return new StatusError(
    'NotAcceptable',
    '406: Not Acceptable\n\nAvailable representations: application/json, application/json;stream=watch',
    { details: {} },
  )
}
