/**
 * Where clusters and their objects come from: the store (store-source.ts) or a server's API
 * (api-source.ts). A source only says what it saw, and of what it saw nothing; it judges nothing.
 */
import type { GroupResource } from '../kube/group-resource.ts'
import type { KubeObject } from '../kube/kube-object.ts'
import type { Why } from './comparison.ts'

/** Why something of a cluster cannot be compared. */
export interface Problem {
  readonly why: Why
  readonly message: string
}

export interface SourceCluster {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** `gitVersion`; undefined when the cluster never told. */
  readonly version: string | undefined
  readonly observedAt: Date
  /** Nothing of it can be compared. */
  readonly problem?: Problem
}

export interface ReadRequest {
  readonly of: GroupResource
  /** Names of clusters without a problem. */
  readonly clusters: readonly string[]
  /** As kubectl's `--field-selector`, `in` and `notin` included. */
  readonly fieldSelector?: string
}

/**
 * What an object ends its reader with that no program can take: torn, or nested without end. It is
 * a problem of its cluster, and of no other.
 *
 * @throws what was thrown, when it is anything else: a defect of ours.
 */
export function objectProblem(error: unknown): Problem {
  if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error
  return { why: 'stale', message: 'an object of it cannot be read' }
}

export interface DriftSource {
  /** All that the reader may see, in any order. */
  clusters(): Promise<readonly SourceCluster[]>
  /**
   * Calls `each` with every object that was asked for.
   *
   * @returns clusters of which not everything was seen; what `each` was given of them counts for nothing.
   */
  read(
    request: ReadRequest,
    each: (cluster: string, object: KubeObject) => void,
  ): Promise<ReadonlyMap<string, Problem>>
}
