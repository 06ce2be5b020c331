/** Refusals, in the words kube-apiserver has for them. */
import { type GroupResource, qualifiedResource } from '../../kube/group-resource.ts'
import { CLUSTER_GROUP } from '../../kube/pedia-cluster.ts'
import type { PathAttributes, RequestAttributes } from '../../kube/request-attributes.ts'
import { notFound, StatusError } from '../../kube/status-error.ts'
import type { Identity } from '../identity.ts'
import { namedClusters } from '../named-clusters.ts'

export interface RefusedRequest extends GroupResource {
  readonly verb: string
  readonly namespace?: string
  readonly name?: string
  /** The clusters that were asked for by name; left out, all or none. */
  readonly clusters?: readonly string[]
  /** What the authoriser says. */
  readonly reason?: string
}

/**
 * `pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace
 * "shop" of cluster "dot-01"`.
 *
 * @see apiserver/pkg/endpoints/handlers/responsewriters/errors.go, apimachinery NewForbidden
 */
export function forbidden(identity: Identity, refused: RefusedRequest): StatusError {
  const { verb, group, resource, namespace, name, reason } = refused
  const where = namespace ? `in the namespace ${quote(namespace)}` : 'at the cluster scope'
  // Of a subresource, too, it is the object that is named.
  const kind = resource.split('/', 1)[0]!
  const qualified = qualifiedResource({ group, resource: kind })
  const subject = name ? `${qualified} ${quote(name)}` : qualified
  return new StatusError(
    'Forbidden',
    `${subject} is forbidden: User ${quote(identity.user)} cannot ${verb} resource ` +
      `${quote(resource)} in API group ${quote(group)} ${where}${ofClusters(refused.clusters)}${because(reason)}`,
    { details: { ...(name && { name }), ...(group && { group }), kind } },
  )
}

function ofClusters(clusters: readonly string[] | undefined): string {
  if (clusters === undefined || clusters.length === 0) return ''
  const noun = clusters.length === 1 ? 'cluster' : 'clusters'
  return ` of ${noun} ${namedClusters(clusters.map(quote))}`
}

/** `forbidden: User "jane" cannot get path "/metrics"`: for paths that are no resource. */
export function forbiddenPath(
  { user }: Identity,
  { verb, path }: PathAttributes,
  reason?: string,
): StatusError {
  return new StatusError(
    'Forbidden',
    `forbidden: User ${quote(user)} cannot ${verb} path ${quote(path)}${because(reason)}`,
    { details: {} },
  )
}

/** What an authoriser refused, with what it says. */
export function refusal(
  identity: Identity,
  attributes: RequestAttributes,
  reason?: string,
): StatusError {
  if ('path' in attributes) return forbiddenPath(identity, attributes, reason)
  const { subresource, ...asked } = attributes
  const resource = subresource === undefined ? asked.resource : `${asked.resource}/${subresource}`
  return forbidden(identity, { ...asked, resource, ...(reason && { reason }) })
}

function because(reason: string | undefined): string {
  return reason ? `: ${reason}` : ''
}

/** Only for a reader who may know: one who may not see a cluster is refused, whether it exists or not. */
export function clusterNotFound(name: string): StatusError {
  return notFound({ group: CLUSTER_GROUP, resource: 'pediaclusters' }, name)
}

function quote(text: string): string {
  return JSON.stringify(text)
}
