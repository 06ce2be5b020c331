/**
 * What the syncers know of registrations: which member clusters there are, and what to mirror.
 *
 * Standalone, the states come from our own store (database-source.ts).
 */
import type {
  ClusterSyncResources,
  PediaCluster,
  PediaClusterStatus,
} from '../kube/pedia-cluster.ts'

/** Everything that is registered at one moment, never a difference to an earlier state. */
export interface RegistrationState {
  /** Credentials are opened in these: they must not be logged or sent to anyone. */
  readonly pediaClusters: readonly PediaCluster[]
  readonly syncResources: readonly ClusterSyncResources[]
}

export interface RegistrationSource {
  /**
   * The whole state at once, and again after every change; changes that come while the consumer is
   * busy make one state. Status writes alone make no new state. Ends when `signal` is aborted.
   */
  states(signal: AbortSignal): AsyncIterable<RegistrationState>
  /**
   * Writes the status of the registration `uid`, and nothing when it is stored like that already.
   * A PediaCluster that was deleted, or created again since, is left alone.
   */
  writeStatus(name: string, uid: string, status: PediaClusterStatus): Promise<void>
}
