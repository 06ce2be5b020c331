/**
 * What several clusters have in common: issues and blind spots, however often each has them.
 *
 * It changes no verdict. Clusters that could not be reached say nothing, and are not counted.
 */
import { compareBytes } from '../kube/byte-order.ts'
import type { IssueName } from './issue.ts'
import { type ClusterRow, identityOf } from './outcome.ts'
import type { SweptResource } from './swept-resources.ts'

export interface SharedSignal {
  readonly signal: IssueName | SweptResource
  readonly source: 'issue' | 'blindspot'
  /** Identities, ascending: at least two. */
  readonly clusters: readonly string[]
}

const LEAST_CLUSTERS = 2

export function sharedSignals(rows: readonly ClusterRow[]): readonly SharedSignal[] {
  return [
    ...sharedOf('issue', rows, ({ issues }) => issues),
    ...sharedOf('blindspot', rows, ({ blindSpots }) => blindSpots),
  ]
}

function sharedOf(
  source: SharedSignal['source'],
  rows: readonly ClusterRow[],
  signalsOf: (row: ClusterRow) => ReadonlySet<SharedSignal['signal']>,
): readonly SharedSignal[] {
  const clustersOf = new Map<SharedSignal['signal'], string[]>()
  for (const row of rows) {
    for (const signal of signalsOf(row)) {
      const known = clustersOf.get(signal)
      if (known) known.push(identityOf(row))
      else clustersOf.set(signal, [identityOf(row)])
    }
  }
  return [...clustersOf]
    .filter(([, clusters]) => clusters.length >= LEAST_CLUSTERS)
    .map(([signal, clusters]) => ({ signal, source, clusters: clusters.sort(compareBytes) }))
    .sort((a, b) => b.clusters.length - a.clusters.length || compareBytes(a.signal, b.signal))
}
