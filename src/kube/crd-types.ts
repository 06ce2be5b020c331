/** The types of our own kinds. Made from crds/ by hack/print-types.ts: change those, not this. */

/** One value of a Secret. */
export interface SecretKey {
  /** Name of the Secret. */
  readonly name: string
  /** Key of the value in the Secret. */
  readonly key: string
}

/**
 * Credentials in Secrets of the namespace that the server runs in, instead of the fields of the
 * same meaning. Needs a management cluster.
 */
export interface AuthenticationFrom {
  /** One value of a Secret. */
  readonly kubeconfig?: SecretKey
  /** One value of a Secret. */
  readonly ca?: SecretKey
  /** One value of a Secret. */
  readonly token?: SecretKey
  /** One value of a Secret. */
  readonly cert?: SecretKey
  /** One value of a Secret. */
  readonly key?: SecretKey
}

/** Resources of one group. */
export interface SyncGroupResources {
  /**
   * API group; empty for the core group. '*' with resources ['*'] is every resource of the cluster.
   */
  readonly group: string
  /**
   * Versions to choose from. Left out, the newest version that most of the fleet serves is taken.
   */
  readonly versions?: readonly string[]
  /** Plural names such as 'deployments'; '*' is all of the group. */
  readonly resources: readonly string[]
  /** Events about these resources of the group are mirrored, even if events as such are not. */
  readonly eventsInvolvedResources?: readonly string[]
}

/** What is wanted. Everything in it can be changed at any time. */
export interface PediaClusterSpec {
  /**
   * URL of the member's API server, http or https; a path in it is kept, and 'host:port' is https.
   * Not used with a kubeconfig, which has a server of its own.
   */
  readonly apiserver?: string
  /**
   * A kubeconfig, base64. Credentials must stand in it; paths to files and exec plugins are not
   * followed. A standalone server shows a digest in its place.
   */
  readonly kubeconfig?: string
  /** PEM certificates of the authorities that the server is verified by, base64. */
  readonly caData?: string
  /** A bearer token, base64. A standalone server shows a digest in its place. */
  readonly tokenData?: string
  /** PEM client certificate, base64. Needs keyData. */
  readonly certData?: string
  /** PEM key of the client certificate, base64. A standalone server shows a digest in its place. */
  readonly keyData?: string
  /**
   * Credentials in Secrets of the namespace that the server runs in, instead of the fields of the
   * same meaning. Needs a management cluster.
   */
  readonly authenticationFrom?: AuthenticationFrom
  /**
   * Which resources to mirror. The resources of the ClusterSyncResources named in
   * syncResourcesRefName come on top.
   */
  readonly syncResources?: readonly SyncGroupResources[]
  /** Resources to leave out of what syncResources asks for. */
  readonly excludeResources?: readonly SyncGroupResources[]
  /**
   * Namespaces to mirror. Left out, all of them. Resources without a namespace are mirrored in any
   * case.
   */
  readonly namespaces?: readonly string[]
  /** Mirror every custom resource, those defined later included. */
  readonly syncAllCustomResources?: boolean
  /** Name of a ClusterSyncResources whose resources are mirrored too. */
  readonly syncResourcesRefName?: string
  /** The group of syncers that mirrors this cluster. */
  readonly shardingName?: string
}

/** One aspect of the state of the cluster. */
export interface Condition {
  /** What the condition is about. */
  readonly type: string
  /** True, False or Unknown. */
  readonly status: 'True' | 'False' | 'Unknown'
  /** Why, in one word that programs may rely on. */
  readonly reason: string
  /** Why, in a sentence. */
  readonly message: string
  /** The metadata.generation that the condition is about. */
  readonly observedGeneration?: number
  /** When status last changed. */
  readonly lastTransitionTime: string
}

/** How the mirroring of one version is doing. */
export interface SyncCondition {
  /** The version asked for. */
  readonly version: string
  /** The version that is read, when it is another. */
  readonly syncVersion?: string
  /** The resource that is read, when it is another. */
  readonly syncResource?: string
  /** The version that is stored. */
  readonly storageVersion?: string
  /** The resource that is stored, when it is another. */
  readonly storageResource?: string
  /** Pending, Syncing, Stop, Unknown or Error. */
  readonly status: string
  /** Why, in one word. */
  readonly reason?: string
  /** Why, in a sentence. */
  readonly message?: string
  /** Whether the first list is still being read. */
  readonly initialListPhase?: boolean
  /** When status last changed. */
  readonly lastTransitionTime: string
}

/** One resource. */
export interface ResourceStatus {
  /** Plural name. */
  readonly name: string
  /** Kind of the objects. */
  readonly kind: string
  /** Whether the objects stand in namespaces. */
  readonly namespaced: boolean
  /** One per version that is asked for. */
  readonly syncConditions: readonly SyncCondition[]
}

/** Resources of one group. */
export interface GroupStatus {
  /** API group; empty for the core group. */
  readonly group: string
  /** The resources of the group that are to be mirrored. */
  readonly resources: readonly ResourceStatus[]
}

/** What was found. Written by the syncer. */
export interface PediaClusterStatus {
  /** The URL under which the member's API server is reached. */
  readonly apiserver?: string
  /** The version that the member's API server reports. */
  readonly version?: string
  /** The group of syncers that mirrors this cluster. */
  readonly shardingName?: string
  /** Validated, SynchroRunning, ClusterHealthy, and Ready, which sums up the others. */
  readonly conditions?: readonly Condition[]
  /** How each resource is doing. */
  readonly syncResources?: readonly GroupStatus[]
}

/** What is wanted. A change reaches every cluster that names this object. */
export interface ClusterSyncResourcesSpec {
  /** Which resources to mirror. */
  readonly syncResources: readonly SyncGroupResources[]
}

/** A user, a group or a service account. */
export interface AccessSubject {
  /** User, Group or ServiceAccount. */
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  /** Name of the user, group or service account. */
  readonly name: string
  /** Namespace of a service account. */
  readonly namespace?: string
}

/** One condition on a label. */
export interface ClusterSelectorTerm {
  /** Key of the label. */
  readonly key: string
  /** In, NotIn, Exists or DoesNotExist. */
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  /** For In and NotIn. */
  readonly values?: readonly string[]
}

/** Labels of PediaClusters. Empty, it selects none; all are clusters ['*']. */
export interface ClusterSelector {
  /** Labels that must be there with these values. */
  readonly matchLabels?: Readonly<Record<string, string>>
  /** Conditions that must all hold. */
  readonly matchExpressions?: readonly ClusterSelectorTerm[]
}

/**
 * Clusters, namespaces and resources, of which every combination may be read. Every list must be
 * given; an empty one grants nothing.
 */
export interface AccessRule {
  /** Names of PediaClusters, or patterns such as 'prod-*'. */
  readonly clusters?: readonly string[]
  /** Labels of PediaClusters. Empty, it selects none; all are clusters ['*']. */
  readonly clusterSelector?: ClusterSelector
  /** Names of namespaces, or '*'. Resources without a namespace are covered by '*' only. */
  readonly namespaces: readonly string[]
  /** API groups; '' for the core group, '*' for all. */
  readonly apiGroups: readonly string[]
  /** Plural names of resources, or '*'. */
  readonly resources: readonly string[]
  /** get, list, watch, or '*' for these three, as leaving it out is. */
  readonly verbs?: ReadonlyArray<'get' | 'list' | 'watch' | '*'>
}

/** Who, and what. */
export interface FleetAccessSpec {
  /** Who is given the rights. */
  readonly subjects: readonly AccessSubject[]
  /** What they may read. Each rule stands for itself. */
  readonly rules: readonly AccessRule[]
}
