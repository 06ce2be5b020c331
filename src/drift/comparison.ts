/**
 * What every comparison of clusters has in common: what goes in, and the envelope of what comes out.
 *
 * Missing is not different, and unknown is not missing: a cluster of which something was not seen
 * is left out of both sides, and is named under `unknown` instead.
 */
import { timestamp } from '../kube/timestamp.ts'
import { sortedBy } from './order.ts'

/** A cluster that can be compared, with what was seen of it. */
export interface Seen<Facts> {
  readonly name: string
  /** Of when what was seen is. */
  readonly observedAt: Date
  readonly facts: Facts
}

/**
 * `disconnected`: it does not answer its syncer. `stale`: nobody keeps its mirror in step.
 * `forbidden`: it refuses what was to be compared. `not collected`: nobody asked for it, or it has
 * not come yet.
 */
export type Why = 'disconnected' | 'stale' | 'forbidden' | 'not collected'

export interface Unknown {
  readonly cluster: string
  readonly why: Why
  /** A sentence for a person; may be empty. */
  readonly message: string
}

export interface ComparisonInput<Facts> {
  readonly seen: ReadonlyArray<Seen<Facts>>
  readonly unknown: readonly Unknown[]
  /** Name of the cluster that all others are compared with; left out, each with each. */
  readonly baseline?: string
}

export interface Envelope {
  readonly schemaVersion: '1.0'
  readonly comparison: 'versions' | 'images' | 'crds'
  /** Times of the oldest and the newest mirror; null when no cluster could be compared. */
  readonly observedAt: { readonly from: string; readonly to: string } | null
  /** Names of the clusters that were compared, in byte order. */
  readonly clusters: readonly string[]
  readonly comparable: number
  readonly unknown: readonly Unknown[]
  readonly baseline?: string
  readonly driftDetected: boolean
  readonly driftCount: number
  /** What a reader must know to read the rest right. */
  readonly notes: readonly string[]
}

/** By name, in byte order, with the baseline when it was seen. */
export interface Compared<Facts> {
  readonly seen: ReadonlyArray<Seen<Facts>>
  readonly baseline: Seen<Facts> | undefined
  /** False: there is nothing to compare with, so nothing is drift. */
  readonly comparable: boolean
  readonly notes: readonly string[]
}

/** Decides what is compared with what. */
export function prepare<Facts>(input: ComparisonInput<Facts>): Compared<Facts> {
  const seen = sortedBy(input.seen, ({ name }) => name)
  const baseline = seen.find(({ name }) => name === input.baseline)
  const notes: string[] = []
  if (seen.length < 2) {
    notes.push('fewer than two clusters could be compared: there is nothing to differ from')
  }
  const lacksBaseline = input.baseline !== undefined && !baseline
  if (lacksBaseline) {
    notes.push(`the baseline ${input.baseline} is unknown: nothing was compared with it`)
  }
  return { seen, baseline, comparable: seen.length >= 2 && !lacksBaseline, notes }
}

/** The envelope around the rows. */
export function envelope<Facts, Comparison extends Envelope['comparison']>(
  comparison: Comparison,
  input: ComparisonInput<Facts>,
  { seen, notes, driftCount }: Compared<Facts> & { readonly driftCount: number },
) {
  const times = seen.map(({ observedAt }) => observedAt.getTime())
  const first = times.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const last = times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  return {
    schemaVersion: '1.0' as const,
    comparison,
    observedAt: times.length === 0 ? null : { from: timestamp(first), to: timestamp(last) },
    clusters: seen.map(({ name }) => name),
    comparable: seen.length,
    unknown: sortedBy(input.unknown, ({ cluster }) => cluster),
    ...(input.baseline !== undefined && { baseline: input.baseline }),
    driftDetected: driftCount > 0,
    driftCount,
    notes,
  }
}
