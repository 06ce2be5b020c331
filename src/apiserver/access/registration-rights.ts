/**
 * Who may do what to the objects of our own groups: registrations and rights.
 *
 * Only system:masters writes. Others read what a rule grants; of PediaClusters, those of their
 * clusters. `*` in apiGroups stands for what is mirrored and for the registrations, never for the
 * rights themselves: those are read by whom a rule grants `fleetglass.io` by name.
 */
import { ACCESS_GROUP, type AccessRule } from '../../kube/fleet-access.ts'
import { CLUSTER_GROUP } from '../../kube/pedia-cluster.ts'
import type { CatalogCluster } from '../catalog.ts'
import { type Identity, MASTERS_GROUP } from '../identity.ts'
import type { RegistrationRequest } from './access.ts'
import { forbidden } from './forbidden.ts'
import { coversCluster, coversClusterName, verbsOf } from './rule.ts'

export interface RegistrationRights {
  readonly identity: Identity
  readonly rules: readonly AccessRule[]
  /** Asked each time: a watch may outlive the clusters it started with. */
  readonly clusters: () => readonly CatalogCluster[]
}

/**
 * @returns which names the reader may see.
 * @throws {@link StatusError} `Forbidden`; a name that is not theirs and one that does not exist alike.
 */
export function authorizeRegistration(
  { identity, rules, clusters }: RegistrationRights,
  request: RegistrationRequest,
): (name: string) => boolean {
  if (identity.groups.includes(MASTERS_GROUP)) return () => true
  const granting = rules.filter((rule) => grants(rule, request))
  if (granting.length === 0) throw forbidden(identity, request)
  const visible = isOfOneCluster(request) ? seesCluster(granting, clusters) : () => true
  if (request.name !== undefined && !visible(request.name)) throw forbidden(identity, request)
  return visible
}

function grants(rule: AccessRule, { verb, group, resource }: RegistrationRequest): boolean {
  const groups = rule.apiGroups
  return (
    verbsOf(rule).includes(verb) &&
    (groups.includes(group) || (groups.includes('*') && group !== ACCESS_GROUP)) &&
    (rule.resources.includes('*') || rule.resources.includes(resource))
  )
}

/** Its subresources show the same object. */
function isOfOneCluster({ group, resource }: RegistrationRequest): boolean {
  return group === CLUSTER_GROUP && resource.split('/', 1)[0] === 'pediaclusters'
}

function seesCluster(
  rules: readonly AccessRule[],
  clusters: () => readonly CatalogCluster[],
): (name: string) => boolean {
  return (name) => {
    const cluster = clusters().find((candidate) => candidate.name === name)
    return rules.some(
      (rule) =>
        coversClusterName(rule, name) || (cluster !== undefined && coversCluster(rule, cluster)),
    )
  }
}
