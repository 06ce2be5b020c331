/**
 * Who may read what: the union of the rules of all FleetAccess objects that name the reader.
 *
 * Everything that is answered goes through {@link Access.scope} (objects), {@link Access.visible}
 * (documents about types) or {@link Access.authorizeRegistration} (our own groups). A reader whom
 * no rule names sees nothing; the group system:masters sees everything.
 */
import type { AccessRule } from '../../kube/fleet-access.ts'
import type { GroupResource } from '../../kube/group-resource.ts'
import type { ReadScope } from '../../store/read-scope.ts'
import type { CatalogCluster, ClusterResource } from '../catalog.ts'
import type { Identity } from '../identity.ts'

export type ReadVerb = 'get' | 'list' | 'watch'

export interface ScopeRequest extends GroupResource {
  readonly verb: ReadVerb
  /** Names as the reader gave them; they need not exist. */
  readonly clusters: 'every-cluster' | readonly string[]
  /** Left out: all namespaces, or a cluster-scoped resource. */
  readonly namespace?: string
  /** Only for the words of a refusal. */
  readonly name?: string
}

/** A cluster of which the reader may see something, and the types that they may see there. */
export interface VisibleCluster {
  readonly cluster: CatalogCluster
  readonly resources: readonly ClusterResource[]
}

export interface RegistrationRequest extends GroupResource {
  /** `create`, `get`, `list`, `watch`, `update`, `patch`, `delete` … */
  readonly verb: string
  readonly name?: string
}

/** What is asked of {@link Access.allows}: one cell of the table of rights. */
export interface AccessQuestion extends GroupResource {
  readonly verb: string
  /** Left out: any cluster. */
  readonly cluster?: string
  /** `''` or left out: every namespace, or a cluster-scoped resource. */
  readonly namespace?: string
}

export interface Access {
  /**
   * The clusters and namespaces of what was asked that the reader may see. It may be empty: a rule
   * grants what was asked, but no such cluster is there now.
   *
   * @throws {@link StatusError} `Forbidden`, in Kubernetes' words, when no rule grants any of it;
   *   a cluster that does not exist and one that the reader may not see are refused alike.
   */
  scope(identity: Identity, request: ScopeRequest): ReadScope
  /** What documents about types (discovery, OpenAPI) may show to the reader. Sorted by name. */
  visible(identity: Identity): readonly VisibleCluster[]
  /** May they be told that a cluster of this name does not exist? */
  mayName(identity: Identity, cluster: string): boolean
  /**
   * May they do this to objects of our own groups?
   *
   * @returns which names they may see; `() => true` unless it is about PediaClusters.
   * @throws {@link StatusError} `Forbidden`.
   */
  authorizeRegistration(identity: Identity, request: RegistrationRequest): (name: string) => boolean
  allows(identity: Identity, question: AccessQuestion): boolean
  /** The rules that speak of the reader, as written; those that cover one cluster, if it is named. */
  rulesOf(identity: Identity, cluster?: string): readonly AccessRule[]
  close(): Promise<void>
}
