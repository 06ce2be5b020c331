/**
 * `GET …/pods/counts?groupBy=cluster,status.phase`: how many objects a list would have, by groups.
 *
 * An object may be called `counts`: only with `groupBy` is it this. All conditions of a list hold;
 * an order or a page of it makes no sense here and is refused.
 */
import type { FastifyReply } from 'fastify'
import { type GroupKey, parseGroupBy } from '../../kube/group-by.ts'
import { type ListOptions, parseListOptions } from '../../kube/list-options.ts'
import { negotiateObjects } from '../../kube/media-type.ts'
import { parseSearch, type Search } from '../../kube/search.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { CountedGroup, CountRequest } from '../../store/count-groups.ts'
import { noteRows, noteServed } from '../audit.ts'
import { warn } from '../exchange.ts'
import { JsonDocument, sendDocument } from '../send-document.ts'
import { staleWarning } from '../warnings.ts'
import { absentClusters } from './absent-clusters.ts'
import { askedByNow } from './asked.ts'
import type { ObjectsCall, ResourceParts } from './call.ts'
import { type EmptyAnswer, emptyAnswerHints, fieldsAsked } from './empty-answer.ts'
import { idleFieldHints } from './field-hints.ts'
import { withOwners } from './owner-conditions.ts'
import { viewFor } from './resource-version.ts'
import { timeLimitOf, within } from './time-limit.ts'

/** Whether a path of objects asks for counts. */
export function asksForCounts({ path, query }: Pick<ObjectsCall, 'path' | 'query'>): boolean {
  return path.name === 'counts' && query.has('groupBy')
}

/** @throws every refusal of a list. */
export async function answerCounts(parts: ResourceParts, call: ObjectsCall): Promise<FastifyReply> {
  const { request, reply, surface } = call
  const limit = timeLimitOf(parts, request)
  const { name: _, ...path } = call.path
  const { options, search } = optionsOf(call.query)
  const keys = parseGroupBy(call.query.get('groupBy') ?? '')
  const asked = await askedByNow(parts, { request, surface, path, search, verb: 'list' })
  noteServed(request, asked.served)
  const { as, encoding, metaVersion } = negotiateObjects(request.headers.accept, 'list')
  const { type, scope } = asked
  const { objects, resourceVersion } = await viewFor(parts.objects, options)
  const owned = await withOwners(
    { access: parts.access, objects },
    {
      identity: request.identity,
      conditions: search.conditions,
      ...{ scope, namespace: path.namespace },
    },
  )
  const by = keys.map((key) => key.by)
  const { conditions } = owned
  const groups = await within(limit, objects.countGroups({ type, scope, conditions, by }))
  noteRows(request, groups.length)
  const document =
    as === 'Table' ? tableOf(keys, groups, `meta.k8s.io/${metaVersion}`) : listOf(keys, groups)
  const now = parts.clock.now()
  const warnings = [
    ...staleWarning(asked.served, now),
    ...absentClusters(parts.access, { ...call, conditions: search.clusters }, now),
    ...(await hintsOf({ asked, search, objects, ownerHints: owned.hints }, by, groups)),
  ]
  warn(call, warnings)
  const whole = new JsonDocument({ ...document, metadata: { resourceVersion } })
  return sendDocument({ request, reply }, whole, { contentType: `application/${encoding}` })
}

/** Of fields that are grouped by, too: without values all objects are in one group. */
async function hintsOf(
  looking: EmptyAnswer,
  by: CountRequest['by'],
  groups: readonly CountedGroup[],
): Promise<readonly string[]> {
  const order = by.flatMap((path) =>
    typeof path === 'string' ? [] : [{ by: path, descending: false }],
  )
  const { conditions } = looking.search
  const idle = await idleFieldHints(fieldsAsked(looking), { conditions, order })
  const isEmpty = groups.every(({ count }) => count === 0)
  return isEmpty ? [...idle, ...(await emptyAnswerHints(looking))] : idle
}

function optionsOf(query: URLSearchParams): {
  readonly options: ListOptions
  readonly search: Search
} {
  const conditions = new URLSearchParams(query)
  conditions.delete('groupBy')
  const options = parseListOptions(conditions)
  const search = parseSearch(conditions)
  const paged = options.limit ?? options.continue ?? search.limit ?? search.offset
  if (options.watch || paged !== undefined || search.order.length > 0) {
    throw new StatusError('BadRequest', 'counts have no order, pages or watch')
  }
  return { options, search }
}

function listOf(keys: readonly GroupKey[], groups: readonly CountedGroup[]) {
  return {
    kind: 'CountList',
    apiVersion: 'fleetglass.io/v1alpha1',
    items: groups.map(({ values, count }) => ({
      group: Object.fromEntries(keys.map(({ name }, i) => [name, values[i] ?? null])),
      count,
    })),
  }
}

function tableOf(keys: readonly GroupKey[], groups: readonly CountedGroup[], apiVersion: string) {
  const column = (name: string, type: string) => ({
    ...{ name, type, format: '', description: '', priority: 0 },
  })
  return {
    ...{ kind: 'Table', apiVersion },
    columnDefinitions: [
      ...keys.map(({ name }) => column(name, 'string')),
      column('count', 'integer'),
    ],
    rows: groups.map(({ values, count }) => ({
      cells: [...values.map((value) => value ?? '<none>'), count],
      object: null,
    })),
  }
}
