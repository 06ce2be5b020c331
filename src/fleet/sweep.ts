/**
 * Goes over all selected clusters with a bounded number of workers: one outcome each, whatever
 * happens to any of them.
 */
import { type Cause, causeOf } from './cause.ts'
import { findingsIn } from './findings.ts'
import type { Finding, Severity } from './issue.ts'
import type { Observation, RuleOptions } from './observation.ts'
import {
  type Identity,
  type JudgedCluster,
  type Outcome,
  rowOf,
  type UnreachableReason,
} from './outcome.ts'
import type { SweptResource } from './swept-resources.ts'

/** Where observations come from. */
export interface Target extends Identity {
  /** @throws Unreachable when nothing could be seen of the cluster. */
  observe(signal: AbortSignal): Promise<Observation>
}

/** Nothing is known of a cluster. Why in detail stays with whoever threw: it is never reported. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
  readonly reason: UnreachableReason

  constructor(reason: UnreachableReason, options: { cause?: unknown } = {}) {
    super(reason, options)
    this.reason = reason
  }
}

export interface SweepOptions {
  readonly failOn: Severity
  readonly workers: number
  readonly rules?: RuleOptions
  /** Ends everything: what is not judged by then has timed out. */
  readonly signal?: AbortSignal
  /** Called after each cluster. */
  readonly progress?: (done: number) => void
  /** Called with what was not seen of a cluster, and why. */
  readonly unseen?: (unseen: UnseenOf) => void
}

export interface UnseenOf extends Identity {
  /** Of the whole cluster. */
  readonly cause?: Cause
  readonly causes: ReadonlyMap<SweptResource, Cause>
}

const MOST_WORKERS = 64

/** @returns outcomes in the order of the targets. */
export async function sweep(
  targets: readonly Target[],
  options: SweepOptions,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  let next = 0
  let done = 0
  const worker = async () => {
    for (let i = next++; i < targets.length; i = next++) {
      outcomes[i] = await outcomeOf(targets[i]!, options)
      options.progress?.(++done)
    }
  }
  const workers = Math.min(clampWorkers(options.workers), targets.length)
  await Promise.all(Array.from({ length: workers }, worker))
  return outcomes
}

export function clampWorkers(workers: number): number {
  return Math.max(1, Math.min(MOST_WORKERS, workers))
}

async function outcomeOf(target: Target, options: SweepOptions): Promise<Outcome> {
  const { context, name } = target
  const identity: Identity =
    name === undefined || name === context ? { context } : { context, name }
  try {
    const observation = await target.observe(options.signal ?? new AbortController().signal)
    const row = rowOf(identity, judge(observation, options.rules), options.failOn)
    const { causes } = observation
    if (causes?.size) options.unseen?.({ ...identity, causes })
    return row
  } catch (error) {
    options.unseen?.({ ...identity, cause: causeOfUnreachable(error), causes: new Map() })
    return { ...identity, reason: reasonOf(error, options.signal) }
  }
}

/** Why there is no observation, and what was thrown. */
function causeOfUnreachable(error: unknown): Cause {
  if (!(error instanceof Unreachable)) return causeOf(error)
  if (error.cause !== undefined) return causeOf(error.cause)
  return { word: error.reason === 'timed out' ? 'timeout' : 'unreachable' }
}

/** Why there is no observation, in one of the two words that there are for it. */
export function reasonOf(error: unknown, signal?: AbortSignal): UnreachableReason {
  if (error instanceof Unreachable) return error.reason
  return signal?.aborted ? 'timed out' : 'connecting to the cluster'
}

/** One cluster, whatever happens: what was found, or why nothing was. */
export async function judgedAlone(
  target: Target,
  rules: RuleOptions = {},
): Promise<{ readonly judged: Judgement | UnreachableReason } & Omit<UnseenOf, keyof Identity>> {
  try {
    const observation = await target.observe(new AbortController().signal)
    return { judged: judge(observation, rules), causes: observation.causes ?? new Map() }
  } catch (error) {
    return { judged: reasonOf(error), cause: causeOfUnreachable(error), causes: new Map() }
  }
}

/** What a gate shows of one cluster. */
export interface Judgement extends JudgedCluster {
  readonly findings: readonly Finding[]
}

export function judge(observation: Observation, rules: RuleOptions = {}): Judgement {
  return { findings: findingsIn(observation, rules), blindSpots: observation.blindSpots }
}
