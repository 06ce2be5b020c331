/** Get and list. */
import type { FastifyReply } from 'fastify'
import { compareBytes } from '../../kube/byte-order.ts'
import { formatContinue, parseContinue, queryChecksum } from '../../kube/continue-token.ts'
import { apiVersionOf } from '../../kube/group-resource.ts'
import type { JsonObject } from '../../kube/kube-object.ts'
import { type ListOptions, parseListOptions } from '../../kube/list-options.ts'
import { methodNotAllowed, notFound, StatusError } from '../../kube/status-error.ts'
import { formatJson } from '../../registration/json-text.ts'
import type { Served } from '../../registration/list.ts'
import type { ReadScope } from '../../store/read-scope.ts'
import { openReadView } from '../../store/read-view.ts'
import { noteClusters, noteRows } from '../audit.ts'
import { type Exchange, queryOf, sendText, warn } from '../exchange.ts'
import { formOf } from '../registration/form.ts'
import type { ListMeta } from '../registration/represent.ts'
import { timeLimitOf, within } from '../routes/time-limit.ts'
import { unknownClusters } from '../warnings.ts'
import type { FleetAnswer, FleetKind, FleetObject } from './kind.ts'
import { type Manner, mannerIn, withBaseline } from './manner.ts'
import { type Selection, selectionOf } from './selection.ts'
import { type ViewParts, viewOf } from './view.ts'

export interface Serving extends ViewParts {
  readonly kind: FleetKind
}

export async function answerGet(
  serving: Serving,
  exchange: Exchange,
  name: string,
): Promise<FastifyReply> {
  const { kind } = serving
  const limit = timeLimitOf(serving, exchange.request)
  const scope = scopeOf(serving, exchange, { verb: 'get', name })
  const form = formOf(serving, exchange, 'object')
  const narrowed = kind.namedAfterClusters ? scope.filter((each) => each.name === name) : scope
  const { manner } = mannerIn(kind, { query: queryOf(exchange), requirements: [] })
  const { store } = await openReadView(serving.store, 'latest')
  const asked = { all: scope, chosen: narrowed, manner, limit }
  const { objects, warnings } = await answered({ ...serving, store }, asked)
  const found = objects.find((object) => object.name === name)
  if (!found) throw notFound(kind, name)
  note(exchange, narrowed, 1)
  warn(exchange, warnings)
  return sendText(exchange, form.object(served(kind, found)), { encoding: form.encoding })
}

export async function answerList(serving: Serving, exchange: Exchange): Promise<FastifyReply> {
  const query = queryOf(exchange)
  const limit = timeLimitOf(serving, exchange.request)
  const options = parseListOptions(query)
  const { kind, store, catalog } = serving
  const scope = scopeOf(serving, exchange, { verb: options.watch ? 'watch' : 'list' })
  if (options.watch) throw methodNotAllowed()
  const selected = selectionOf(kind, query, options)
  const form = formOf(serving, exchange, 'list')
  const clusters = new Map(catalog.current().clusters.map((cluster) => [cluster.id, cluster]))
  const narrowed = scope.filter(({ id }) => {
    const cluster = clusters.get(id)
    return cluster !== undefined && selected.selectsCluster(cluster)
  })
  const view = await openReadView(store, 'latest')
  const resourceVersion = await view.revision()
  const { manner } = selected
  const asked = { all: scope, chosen: narrowed, manner, limit }
  const { objects, warnings } = await answered({ ...serving, store: view.store }, asked)
  const items = shown(kind, objects, selected)
  const page = pageOf(items, [kind.resource, manner], options)
  note(exchange, narrowed, page.items.length)
  warn(exchange, [...warnings, ...unknownClusters(selected.clustersNamed, scope)])
  const metadata = { resourceVersion, ...page.metadata }
  return sendText(exchange, form.list(page.items, metadata), { encoding: form.encoding })
}

interface AskedOfKind {
  /** All that the reader may see, and what of it was asked for. */
  readonly all: ReadScope
  readonly chosen: ReadScope
  readonly manner: Manner
  readonly limit: AbortSignal | undefined
}

/** @throws 400 for a baseline that is not seen, 504 when it takes too long. */
async function answered(
  serving: Serving,
  { all, chosen, manner, limit }: AskedOfKind,
): Promise<FleetAnswer> {
  const seen = withBaseline({ all, chosen }, manner)
  return within(limit, serving.kind.answer(viewOf(serving, seen, manner)))
}

function note(
  { request }: Exchange,
  clusters: ReadonlyArray<{ readonly name: string }>,
  rows: number,
): void {
  noteClusters(request, clusters)
  noteRows(request, rows)
}

/** @throws 403 when no rule lets the reader ask about any cluster. */
function scopeOf(
  { access, kind }: Serving,
  { request }: Exchange,
  asked: { readonly verb: 'get' | 'list' | 'watch'; readonly name?: string },
) {
  const { group, resource } = kind
  return access.scope(request.identity, { group, resource, ...asked, clusters: 'every-cluster' })
}

function shown(
  kind: FleetKind,
  objects: readonly FleetObject[],
  { selects }: Selection,
): readonly Named[] {
  return objects
    .map((object) => ({ name: object.name, labels: object.labels, ...served(kind, object) }))
    .filter(({ object, labels }) => selects(object, labels))
    .sort((a, b) => compareBytes(a.name, b.name))
}

function served(kind: FleetKind, { name, labels, status }: FleetObject): Served {
  const object: JsonObject = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { name, ...(Object.keys(labels).length > 0 && { labels }) },
    status,
  }
  return { object, text: formatJson(object) }
}

interface Named extends Served {
  readonly name: string
}

interface Page {
  readonly items: readonly Served[]
  readonly metadata: Omit<ListMeta, 'resourceVersion'>
}

/** @throws 400 for a token that is not of this query. */
function pageOf(
  items: readonly Named[],
  of: readonly [resource: string, manner: Manner],
  options: ListOptions,
): Page {
  const { labelSelector, fieldSelector, limit } = options
  const checksum = queryChecksum([of, labelSelector, fieldSelector])
  const after = options.continue === undefined ? undefined : keyIn(options.continue, checksum)
  const rest =
    after === undefined ? items : items.filter(({ name }) => compareBytes(name, after) > 0)
  const page = limit === undefined ? rest : rest.slice(0, limit)
  const last = page.at(-1)
  if (page.length === rest.length || !last) return { items: page, metadata: {} }
  const position = { values: [], cluster: '', namespace: '', name: last.name }
  return {
    items: page,
    metadata: { continue: formatContinue({ after: position, seen: 0 }, checksum) },
  }
}

function keyIn(token: string, checksum: string): string {
  const from = parseContinue(token, checksum)
  if (from.kind === 'key') return from.after.name
  throw new StatusError('BadRequest', 'invalid continue token: continue key is not valid')
}
