/**
 * What was seen of one cluster: the only input of the rules, whatever source it comes from.
 *
 * A resource that was not read is absent, which is not the same as a list without objects: a check
 * that needs it is skipped (rules/), and the cluster has a blind spot.
 */
import type { Fields } from '../printers/read-field.ts'
import type { Cause } from './cause.ts'
import type { SweptResource } from './swept-resources.ts'

export interface Observation {
  /** Milliseconds since 1970: the moment that was observed. One for the whole evaluation. */
  readonly now: number
  readonly lists: { readonly [K in SweptResource]?: readonly Fields[] }
  /** What was asked for and not seen, or not wholly. */
  readonly blindSpots: ReadonlySet<SweptResource>
  /** Why, of each of these; no rule and no row looks at it. */
  readonly causes?: ReadonlyMap<SweptResource, Cause>
}

export interface RuleOptions {
  /** Node conditions are found only when asked for. */
  readonly nodes?: boolean
  /** Left out, an OOM kill counts for as long as the pod's status shows it. */
  readonly oomKilledWithinMilliseconds?: number
}

export const SECOND = 1000
export const MINUTE = 60 * SECOND
