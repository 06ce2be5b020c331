/**
 * Answers a list: what is asked, by whom, in which form; then its rows are streamed.
 *
 * Not here: the rows on their way out (write-list.ts, stream-answer.ts).
 */
import type { FastifyReply } from 'fastify'
import { queryChecksum } from '../../kube/continue-token.ts'
import { parseListOptions } from '../../kube/list-options.ts'
import { parseSearch, type Search } from '../../kube/search.ts'
import { methodNotAllowed } from '../../kube/status-error.ts'
import type { ListRequest } from '../../store/list-request.ts'
import { countingRows } from '../audit.ts'
import { jsonListEncoder, yamlListEncoder } from '../encode/list-encoder.ts'
import { mixedVersionsWarning, staleWarning } from '../warnings.ts'
import { absentClusters } from './absent-clusters.ts'
import type { Asked } from './asked.ts'
import { notSyncedHint } from './not-synced-hint.ts'
import { type ObjectsCall, openAnswer } from './opening.ts'
import { withOwners } from './owner-conditions.ts'
import { type Page, pageOf } from './page.ts'
import { checkResourceVersion, freshnessOf } from './resource-version.ts'
import type { ResourceParts } from './resources.ts'
import type { RowForm } from './row-form.ts'
import { type StreamedAnswer, streamAnswer } from './stream-answer.ts'
import { timeLimitOf, within } from './time-limit.ts'
import { writeList } from './write-list.ts'

/** @throws every refusal, before anything was sent. */
export async function answerList(parts: ResourceParts, call: ObjectsCall): Promise<FastifyReply> {
  const { request, query, path } = call
  const limit = timeLimitOf(parts, request)
  const options = parseListOptions(query)
  if (options.watch) throw methodNotAllowed()
  const search = parseSearch(query)
  const opening = await openAnswer(parts, call, { search, verb: 'list' })
  const { asked, representation, form, nowMilliseconds } = opening
  const checksum = checksumOf(call, search)
  const page = pageOf({ options, search, checksum, continueByDefault: parts.continueByDefault })
  const objects = await parts.objects.view(freshnessOf(options))
  const resourceVersion = await objects.revision()
  checkResourceVersion(options, resourceVersion)
  const conditions = await withOwners(
    { access: parts.access, objects },
    {
      identity: request.identity,
      conditions: search.conditions,
      scope: asked.scope,
      namespace: path.namespace,
    },
  )
  const wanted = listRequest({ asked, conditions, order: search.order, page, form })
  const totalCount = search.withRemainingCount
    ? await within(limit, objects.count(wanted))
    : undefined
  const encoder = (representation.encoding === 'yaml' ? yamlListEncoder : jsonListEncoder)(
    form.frame,
  )
  const row = countingRows(request, form.row)
  const answer = { page, encoder, row, resourceVersion, checksum, totalCount, limit }
  const streamed = {
    limit,
    contentType: encoder.contentType,
    warnings: [
      ...staleWarning(asked.served, nowMilliseconds),
      ...absentClusters(parts.access, { ...call, conditions: search.clusters }, nowMilliseconds),
      ...(form.wholeObjects ? mixedVersionsWarning(asked.served, asked.apiVersion) : []),
    ],
    hints: page.seen > 0 ? [] : notSyncedHint(asked.type, asked.lacking),
    rows: (signal) => objects.list(wanted, signal),
    write: (sink, batches) => writeList(sink, batches, answer),
  } satisfies StreamedAnswer
  return streamAnswer(call, streamed, parts.openStreams)
}

interface ListParts {
  readonly asked: Asked
  readonly conditions: ListRequest['conditions']
  readonly order: ListRequest['order']
  readonly page: Page
  readonly form: RowForm
}

/** One row more than the page holds tells whether another page follows. */
function listRequest({ asked, conditions, order, page, form }: ListParts): ListRequest {
  const { limit, offset, after } = page
  return {
    type: asked.type,
    scope: asked.scope,
    conditions,
    order,
    want: form.want,
    ...(limit !== undefined && { limit: page.mayContinue ? limit + 1 : limit }),
    ...(offset !== undefined && { offset }),
    ...(after && { after }),
  }
}

/** What makes one query another; page size and the form of the answer may change between pages. */
function checksumOf({ surface, path }: ObjectsCall, search: Search): string {
  const { clusters, conditions, order, strictVersion } = search
  const { group, resource, namespace } = path
  const of = { surface, group, resource, namespace }
  return queryChecksum({ ...of, clusters, conditions, order, strictVersion })
}
