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
import { jsonListEncoder, yamlListEncoder } from '../encode/list-encoder.ts'
import { mixedVersionsWarning, staleWarning } from '../warnings.ts'
import { absentClusters } from './absent-clusters.ts'
import type { ObjectsCall, ResourceParts } from './call.ts'
import { emptyAnswerHints, fieldsAsked } from './empty-answer.ts'
import { idleFieldHints } from './field-hints.ts'
import { type Opening, openAnswer } from './opening.ts'
import { withOwners } from './owner-conditions.ts'
import { pageOf, rowsOfPage } from './page.ts'
import { viewFor } from './resource-version.ts'
import { sendList } from './send-list.ts'
import { timeLimitOf } from './time-limit.ts'

/** @throws every refusal, before anything was sent. */
export async function answerList(parts: ResourceParts, call: ObjectsCall): Promise<FastifyReply> {
  const { request, query, path } = call
  const limit = timeLimitOf(parts, request)
  const options = parseListOptions(query)
  if (options.watch) throw methodNotAllowed()
  const search = parseSearch(query)
  const opening = await openAnswer(parts, call, { search, verb: 'list' })
  const { asked, representation, form } = opening
  const checksum = checksumOf(call, search)
  const page = pageOf({ options, search, checksum, continueByDefault: parts.continueByDefault })
  const { objects, resourceVersion } = await viewFor(parts.objects, options)
  const owned = await withOwners(
    { access: parts.access, objects },
    {
      ...{ identity: request.identity, conditions: search.conditions },
      ...{ scope: asked.scope, namespace: path.namespace },
    },
  )
  const { type, scope } = asked
  const { want, row, frame } = form
  const { conditions } = owned
  const wanted = { type, scope, conditions, order: search.order, want, ...rowsOfPage(page) }
  const looking = { asked, search, objects, ownerHints: owned.hints }
  const idle = page.seen > 0 ? [] : await idleFieldHints(fieldsAsked(looking), search)
  const encoderOf = representation.encoding === 'yaml' ? yamlListEncoder : jsonListEncoder
  return sendList(parts, call, {
    ...{ page, encoder: encoderOf(frame), row, resourceVersion, checksum, limit },
    count: search.withRemainingCount ? () => objects.count(wanted) : undefined,
    rows: (signal) => objects.list(wanted, signal),
    warnings: [...warningsOf(parts.access, call, { ...opening, search }), ...idle],
    hints: async () => (page.seen > 0 ? [] : emptyAnswerHints(looking)),
  })
}

/** Of the question, whatever is found. */
function warningsOf(
  access: ResourceParts['access'],
  call: ObjectsCall,
  { asked, form, search, nowMilliseconds }: Opening & { readonly search: Search },
): readonly string[] {
  return [
    ...staleWarning(asked.served, nowMilliseconds),
    ...absentClusters(access, { ...call, conditions: search.clusters }, nowMilliseconds),
    ...(form.wholeObjects ? mixedVersionsWarning(asked.served, asked.apiVersion) : []),
  ]
}

/** What makes one query another; page size and the form of the answer may change between pages. */
function checksumOf({ surface, path }: ObjectsCall, search: Search): string {
  const { clusters, conditions, order, strictVersion } = search
  const { group, resource, namespace } = path
  const of = { surface, group, resource, namespace }
  return queryChecksum({ ...of, clusters, conditions, order, strictVersion })
}
