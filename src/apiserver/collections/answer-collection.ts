/**
 * Answers one collection: objects of all its types that the reader may list, as one list.
 *
 * All conditions, orders and ways of paging are those of a list; `strictVersion` is not, because
 * a collection has no one version.
 */
import type { FastifyReply } from 'fastify'
import { type Collection, typesAsked } from '../../kube/collection-resource.ts'
import { queryChecksum } from '../../kube/continue-token.ts'
import { parseListOptions } from '../../kube/list-options.ts'
import { negotiateObjects } from '../../kube/media-type.ts'
import { parseSearch, type Search } from '../../kube/search.ts'
import { methodNotAllowed, StatusError } from '../../kube/status-error.ts'
import type { CollectionRequest } from '../../store/list-collection.ts'
import { noteServed } from '../audit.ts'
import type { ServedResource } from '../catalog.ts'
import type { Exchange } from '../exchange.ts'
import { absentClusters } from '../routes/absent-clusters.ts'
import type { ResourceParts } from '../routes/call.ts'
import { idleFieldHints, neededFieldHints } from '../routes/field-hints.ts'
import { withOwners } from '../routes/owner-conditions.ts'
import { type Page, pageOf, rowsOfPage } from '../routes/page.ts'
import { viewFor } from '../routes/resource-version.ts'
import { sendList } from '../routes/send-list.ts'
import { includeObjectOf } from '../routes/table-options.ts'
import { timeLimitOf } from '../routes/time-limit.ts'
import { staleWarning } from '../warnings.ts'
import { absentTypes, lackingHint } from './absent-types.ts'
import { type AskedTypes, askedTypes, clustersAsked, describeTypes } from './asked-types.ts'
import { type CollectionForm, collectionForm } from './collection-form.ts'

export interface CollectionCall extends Exchange {
  readonly query: URLSearchParams
  readonly collection: Collection
}

/** @throws every refusal, before anything was sent. */
export async function answerCollection(
  parts: ResourceParts,
  call: CollectionCall,
): Promise<FastifyReply> {
  const limit = timeLimitOf(parts, call.request)
  const { options, search, asked, checksum, page, form } = openCollection(parts, call)
  const { objects, resourceVersion } = await viewFor(parts.objects, options)
  const owned = await withOwners(
    { access: parts.access, objects },
    {
      ...{ identity: call.request.identity, conditions: search.conditions },
      ...{ scope: clustersAsked(asked), namespace: undefined },
    },
  )
  const wanted = collectionRequest(owned.conditions, { asked, search, page, form })
  noteServed(call.request, asked.served)
  const { encoder, row } = form
  const fields = { objects, scopes: asked.scopes, what: 'objects' }
  const idle = page.seen > 0 ? [] : await idleFieldHints(fields, search)
  const hints = async () => [
    ...lackingHint(asked),
    ...owned.hints,
    ...(await neededFieldHints(fields, search)),
  ]
  return sendList(parts, call, {
    ...{ page, encoder, row, resourceVersion, checksum, limit },
    count: search.withRemainingCount ? () => objects.countCollection(wanted) : undefined,
    rows: (signal) => objects.listCollection(wanted, signal),
    warnings: [...warningsOf(parts, call, { asked, search }), ...idle],
    hints: async () => (page.seen > 0 ? [] : hints()),
  })
}

/** What is asked, of whom and in which form, before anything is read. */
function openCollection(parts: ResourceParts, call: CollectionCall) {
  const { query, collection } = call
  const options = parseListOptions(query)
  if (options.watch) throw methodNotAllowed()
  const patterns = typesAsked(collection, query)
  const search = searchOf(query)
  const asked = askedTypes(parts.access, { identity: call.request.identity, patterns, search })
  const form = formOf(call, { asked, search, nowMilliseconds: parts.clock.now() })
  const { clusters, conditions, order } = search
  const checksum = queryChecksum({ of: collection.name, patterns, clusters, conditions, order })
  const page = pageOf({ options, search, checksum, continueByDefault: parts.continueByDefault })
  return { options, search, asked, checksum, page, form }
}

/** Of the question, whatever is found. */
function warningsOf(
  { access, clock }: ResourceParts,
  call: CollectionCall,
  { asked, search }: { readonly asked: AskedTypes; readonly search: Search },
): readonly string[] {
  const now = clock.now()
  return [
    ...staleClusters(asked.served, now),
    ...absentClusters(access, { ...call, conditions: search.clusters }, now),
    // What a collection of ours is made of need not be everywhere.
    ...(call.collection.types === 'as-asked' ? absentTypes(asked) : []),
  ]
}

function searchOf(query: URLSearchParams): Search {
  const conditions = new URLSearchParams(query)
  conditions.delete('groups')
  conditions.delete('resources')
  const search = parseSearch(conditions)
  if (!search.strictVersion) return search
  throw new StatusError('BadRequest', '"strictVersion" is not for collection resources')
}

interface FormParts {
  readonly asked: AskedTypes
  readonly search: Search
  readonly nowMilliseconds: number
}

function formOf(
  { request, query, collection }: CollectionCall,
  { asked, search, nowMilliseconds }: FormParts,
): CollectionForm {
  const representation = negotiateObjects(request.headers.accept, 'object')
  return collectionForm(representation, {
    ...{ name: collection.name, served: asked.served, nowMilliseconds },
    types: describeTypes(asked.served),
    onlyMetadata: search.onlyMetadata,
    include: includeObjectOf(query),
  })
}

interface RequestParts {
  readonly asked: AskedTypes
  readonly search: Search
  readonly page: Page
  readonly form: CollectionForm
}

function collectionRequest(
  conditions: CollectionRequest['conditions'],
  { asked, search, page, form }: RequestParts,
): CollectionRequest {
  return {
    scopes: asked.scopes,
    conditions,
    order: search.order,
    want: form.want,
    ...rowsOfPage(page),
  }
}

/** Each cluster once, by the first of its types that is not in step. */
function staleClusters(
  served: readonly ServedResource[],
  nowMilliseconds: number,
): readonly string[] {
  const stale = new Map<number, ServedResource>()
  for (const entry of served) {
    const { id } = entry.cluster
    if (!stale.has(id) && staleWarning([entry], nowMilliseconds).length > 0) stale.set(id, entry)
  }
  return staleWarning([...stale.values()], nowMilliseconds)
}
