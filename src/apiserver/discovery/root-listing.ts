/** What the root serves: our own groups, and the group that the fleet is found under. */
import { FLEET_GROUP, FLEET_VERSION } from '../../kube/fleet-prefix.ts'
import type { GroupResource, ResourceInfo } from '../../kube/group-resource.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { Access } from '../access/access.ts'
import type { Identity } from '../identity.ts'
import { type ApiListing, arrange, type ListedResource } from './listing.ts'

/** A kind of one of our own groups, as the root serves it. */
export interface RootKind extends ResourceInfo {
  readonly hasStatus: boolean
}

const FLEET_VERBS: readonly string[] = ['get', 'list']
const STATUS_VERBS: readonly string[] = ['get', 'patch', 'update']

/** kube-aggregator probes this group version and reads it; everyone may know that it is here. */
const FLEET = {
  group: FLEET_GROUP,
  version: FLEET_VERSION,
  resources: [
    fleetResource('collectionresources', 'CollectionResource'),
    fleetResource('resources', 'Resources'),
  ],
}

/** Without it kubectl takes no `kind: List` of version v1, which is what its own `-o yaml` writes. */
const CORE = { group: '', version: 'v1', resources: [] }

function fleetResource(name: string, kind: string): ListedResource {
  return {
    ...{ name, kind, singularName: '', namespaced: false, verbs: FLEET_VERBS },
    ...{ shortNames: [], categories: [], subresources: [] },
  }
}

/**
 * As what kube-aggregator asks us on its own account, to tell its readers which types there are.
 *
 * @see kube-aggregator/pkg/controllers/openapi, pkg/apiserver/handler_discovery.go
 */
const AGGREGATOR_USERS: readonly string[] = ['system:aggregator', 'system:kube-aggregator']

/** Kinds that the reader may not list are not shown. */
export function listRoot(
  kinds: readonly RootKind[],
  access: Access,
  identity: Identity,
): ApiListing {
  const visible = kinds.filter((kind) => mayKnow(access, identity, kind))
  const versions = Map.groupBy(visible, ({ group, version }) => `${group}/${version}`)
  const own = [...versions.values()].map((ofVersion) => ({
    group: ofVersion[0]!.group,
    version: ofVersion[0]!.version,
    resources: ofVersion.map(listKind),
  }))
  return arrange([...own, FLEET, CORE])
}

/** May the reader be told of this kind? Who hands it on to others must know of all. */
export function mayKnow(access: Access, identity: Identity, kind: GroupResource): boolean {
  return AGGREGATOR_USERS.includes(identity.user) || mayList(access, identity, kind)
}

function mayList(access: Access, identity: Identity, { group, resource }: GroupResource): boolean {
  try {
    access.authorizeRegistration(identity, { verb: 'list', group, resource })
    return true
  } catch (error) {
    if (error instanceof StatusError) return false
    throw error
  }
}

function listKind(kind: RootKind): ListedResource {
  const { resource: name, singularName, namespaced, verbs, shortNames, categories } = kind
  return {
    ...{ name, singularName, namespaced, kind: kind.kind, verbs, shortNames, categories },
    subresources: kind.hasStatus ? [{ name: 'status', verbs: STATUS_VERBS }] : [],
  }
}
