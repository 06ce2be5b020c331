/** What all comparisons of clusters say in the same way. */
import type { Envelope } from '../../drift/comparison.ts'
import type { Gathering } from '../../drift/gather.ts'
import type { DriftSource } from '../../drift/source.ts'
import { namedClusters } from '../named-clusters.ts'
import { staleClusters } from '../warnings.ts'
import { FLEET_API, text, texts } from './kind.ts'
import type { FleetView } from './view.ts'

/** By which what differs is selected: `-l fleet.fleetglass.io/drift=true`. */
export function driftLabels(drift: boolean, kindOfDrift: string): Readonly<Record<string, string>> {
  return {
    [`${FLEET_API.group}/drift`]: String(drift),
    [`${FLEET_API.group}/class`]: kindOfDrift,
  }
}

/** Of the status of what is compared. */
export const BASELINE_FIELDS = {
  baseline: text('The cluster that all others were compared with, if one was chosen.'),
  differsIn: texts('With a baseline: the clusters that are not as it is.'),
}

export function againstBaseline(
  { baseline }: Pick<FleetView, 'baseline'>,
  differsIn: readonly string[] = [],
) {
  return baseline === undefined ? {} : { baseline, differsIn }
}

/** What a comparison takes besides what was gathered. */
export function baselineOf({ baseline }: Pick<FleetView, 'baseline'>) {
  return baseline === undefined ? {} : { baseline }
}

export async function gatheringOf(source: DriftSource): Promise<Gathering> {
  return { source, clusters: await source.clusters() }
}

/** When the oldest of the mirrors was in step. */
export function observedIn({ observedAt }: Envelope): { readonly observedAt?: string } {
  return observedAt ? { observedAt: observedAt.from } : {}
}

/** Clusters that could not be compared, and what a reader must know to read the rest right. */
export function comparisonWarnings(found: Envelope, view: FleetView): readonly string[] {
  const named = found.unknown.map(({ cluster, why }) => `${cluster} (${why})`)
  return [
    ...staleClusters(view.clusters, view.now),
    ...(named.length > 0 ? [`not compared: ${namedClusters(named)}`] : []),
    ...found.notes,
  ]
}
