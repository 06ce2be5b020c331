/**
 * Answers a get by name: one cluster has it, several have it, or none.
 *
 * Under the fleet prefix a name can stand for many objects; then the reader is told how to choose.
 */
import type { FastifyReply } from 'fastify'
import { qualifiedResource } from '../../kube/group-resource.ts'
import { boolean, parseResourceVersion } from '../../kube/list-options.ts'
import type { Representation } from '../../kube/media-type.ts'
import { parseSearch, type Search } from '../../kube/search.ts'
import { methodNotAllowed, notFound, StatusError } from '../../kube/status-error.ts'
import type { RawRow } from '../../store/list-request.ts'
import { noteRows } from '../audit.ts'
import { jsonListEncoder } from '../encode/list-encoder.ts'
import { indentJson } from '../encode/pretty-json.ts'
import { jsonToYaml } from '../encode/yaml.ts'
import { isForPeople, warn } from '../exchange.ts'
import { namedClusters } from '../named-clusters.ts'
import { mixedVersionsWarning, staleWarning } from '../warnings.ts'
import { absentClusters } from './absent-clusters.ts'
import type { Asked } from './asked.ts'
import type { ObjectsCall, ResourceParts } from './call.ts'
import { openAnswer } from './opening.ts'
import { checkResourceVersion, freshnessOf } from './resource-version.ts'
import type { RowForm } from './row-form.ts'

/** @throws 404 when no cluster has it, 409 `Conflict` when several do. */
export async function answerGet(parts: ResourceParts, call: ObjectsCall): Promise<FastifyReply> {
  const { query, path } = call
  const name = path.name!
  if (boolean(query, 'watch')) throw methodNotAllowed()
  const search = parseSearch(query)
  refuseSearch(search)
  const opening = await openAnswer(parts, call, { search, verb: 'get' })
  const { asked, representation, form, nowMilliseconds } = opening
  const { type, scope } = asked
  // The metadata holds the resourceVersion that a Table of one object carries.
  const want = { ...form.want, metadata: true }
  const namespace = path.namespace ?? ''
  const resourceVersion = parseResourceVersion(query.get('resourceVersion') ?? '')
  const version = { ...(resourceVersion !== undefined && { resourceVersion }) }
  const objects = await parts.objects.view(freshnessOf(version))
  if (resourceVersion) checkResourceVersion(version, await objects.revision())
  const rows = await objects.get({ type, scope, namespace, name, want })
  const [row, second] = rows
  const warnings = [
    ...warningsOf(asked, { form, rows, now: nowMilliseconds }),
    ...absentClusters(parts.access, { ...call, conditions: search.clusters }, nowMilliseconds),
  ]
  warn(call, warnings)
  if (!row) throw notFound({ group: path.group, resource: path.resource }, name)
  if (second) throw ambiguous(call, asked, rows)
  noteRows(call.request, 1)
  return send(call, representation, answerJson(form, representation, row))
}

/** Conditions choose among many; only those on clusters make sense with a name. */
function refuseSearch({ conditions, order }: Search): void {
  if (conditions.length === 0 && order.length === 0) return
  const message = 'an object that is asked for by name can be narrowed down by clusters only'
  throw new StatusError('BadRequest', message)
}

/** Of the cluster that answers; of all that were asked when the answer is not one object. */
function warningsOf(
  { served, apiVersion }: Asked,
  answer: { readonly form: RowForm; readonly rows: readonly RawRow[]; readonly now: number },
): readonly string[] {
  const [row, second] = answer.rows
  if (!row || second) return staleWarning(served, answer.now)
  const answering = served.filter(({ cluster }) => cluster.id === row.clusterId)
  return [
    ...staleWarning(answering, answer.now),
    ...(answer.form.wholeObjects ? mixedVersionsWarning(answering, apiVersion) : []),
  ]
}

function ambiguous({ path }: ObjectsCall, asked: Asked, rows: readonly RawRow[]): StatusError {
  const names = new Map(asked.served.map(({ cluster }) => [cluster.id, cluster.name]))
  const clusters = rows.map(({ clusterId }) => names.get(clusterId) ?? '')
  const { group, resource, name = '' } = path
  return new StatusError(
    'Conflict',
    `${qualifiedResource(path)} ${JSON.stringify(name)} is in ${clusters.length} clusters: ${namedClusters(clusters)}; ` +
      `choose one by its own path (kubectl --cluster ${clusters[0]}) or by the query clusters=${clusters[0]}`,
    { details: { name, ...(group && { group }), kind: resource } },
  )
}

function answerJson(form: RowForm, { as }: Representation, row: RawRow): readonly Buffer[] {
  if (as !== 'Table') return [...form.row(row), NEWLINE]
  const { metadata } = row
  const { resourceVersion } = JSON.parse(metadata!.toString('utf8')) as { resourceVersion: string }
  const encoder = jsonListEncoder(form.frame)
  const entry = encoder.first(form.row(row))
  return [encoder.open(), ...entry, encoder.close({ resourceVersion })]
}

const NEWLINE = Buffer.from('\n')

function send(
  { request, reply }: ObjectsCall,
  { encoding }: Representation,
  json: readonly Buffer[],
): FastifyReply {
  const body = Buffer.concat(json)
  reply.header('Content-Type', `application/${encoding}`)
  reply.header('Cache-Control', 'no-cache, private')
  if (encoding === 'yaml') return reply.send(Buffer.from(jsonToYaml(body.toString('utf8'))))
  return reply.send(isForPeople(request) ? indentJson(body) : body)
}
