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
import type { Lease } from '../store/leases.ts'

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
   * Writes the status of a registration, and nothing when it is stored like that already.
   * A PediaCluster that was deleted, or created again since, is left alone.
   *
   * @throws LeaseLost when another process speaks for the cluster now. Whoever cannot compare the
   * lease in the transaction that writes reads the object first, then the lease, and writes only
   * over what it has read: the next holder's status is then never overwritten.
   */
  writeStatus(write: StatusWrite): Promise<void>
  /** How long a status that was written is taken to stand. Left out: nobody else writes it. */
  readonly statusStandsMilliseconds?: number
}

export interface StatusWrite {
  readonly name: string
  /** metadata.uid of the PediaCluster. */
  readonly uid: string
  readonly lease: Lease
  readonly status: PediaClusterStatus
}
