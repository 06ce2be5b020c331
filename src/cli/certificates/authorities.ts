/**
 * The CAs of an installation over time: one that signs, the next one well before its end, and those
 * that have signed before, for as long as somebody may hold what they signed.
 *
 * Whoever verifies is given all of them. So the next CA is known everywhere long before it signs.
 */
import { isValidFor, type KeyPair, newAuthority } from './issue.ts'

export interface Authorities {
  readonly current: KeyPair
  /** Verified with already, and not signing yet. */
  readonly next?: KeyPair
  /** Certificates only, PEM. */
  readonly retired: readonly string[]
}

const LASTS_DAYS = 3650
/** A year in which kubeconfigs that hold a CA can be written again. */
const NEXT_IS_MADE_DAYS = 365
/** More than a certificate lasts that it signs (certificates.ts). */
const STOPS_SIGNING_DAYS = 180

/**
 * @param stored - those there are, undefined at first.
 * @param now - milliseconds since 1970.
 * @returns the same object when nothing is due.
 */
export async function renewAuthorities(
  stored: Authorities | undefined,
  now: number,
): Promise<Authorities> {
  if (!stored) return { current: await newAuthority({ now, days: LASTS_DAYS }), retired: [] }
  const inTime = stopsSigning(stored, now) ? await successor(stored, now) : stored
  const retired = inTime.retired.filter((cert) => isValidFor({ cert, key: '' }, { now, days: 0 }))
  const kept = retired.length === inTime.retired.length ? inTime : { ...inTime, retired }
  if (kept.next || isValidFor(kept.current, { now, days: NEXT_IS_MADE_DAYS })) return kept
  return { ...kept, next: await newAuthority({ now, days: LASTS_DAYS }) }
}

function stopsSigning({ current, next }: Authorities, now: number): boolean {
  // Nobody knows a next one yet that was made a moment ago: it signs from the following time on.
  const days = next ? STOPS_SIGNING_DAYS : 0
  return !isValidFor(current, { now, days })
}

async function successor(
  { current, next, retired }: Authorities,
  now: number,
): Promise<Authorities> {
  return {
    current: next ?? (await newAuthority({ now, days: LASTS_DAYS })),
    retired: [current.cert, ...retired],
  }
}

/** PEM of all, the one that signs first. */
export function bundleOf({ current, next, retired }: Authorities): string {
  return [current.cert, ...(next ? [next.cert] : []), ...retired].join('')
}
