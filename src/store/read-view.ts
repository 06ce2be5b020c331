/**
 * Where the objects of one request are read, and the revision that is certainly in the answer.
 *
 * Without a read replica that is the primary, whatever was asked. With one, the answer has what the
 * primary had when the request came, unless the request is content with less.
 */
import type { Store } from './connect.ts'
import { currentRevision } from './fleet-revision.ts'
import { fromPostgres } from './pg-error.ts'
import { ReplicaUnusable } from './read-replica.ts'

/** `latest`: all that is committed now. `any`: whatever is at hand. */
export type Freshness = 'latest' | 'any' | { readonly atLeast: bigint }

export interface ReadView {
  /** Its `readers` show everything up to `revision`. */
  readonly store: Store
  /** A decimal integer; below what was asked for when nobody has that yet: the caller's 504. */
  readonly revision: () => Promise<string>
}

/** @throws StatusError when the database does not answer. */
export async function openReadView(store: Store, freshness: Freshness): Promise<ReadView> {
  const { replica } = store
  if (!replica) return { store, revision: () => currentRevision(store) }
  const view = (revision: bigint | string): ReadView => ({
    store: { ...store, readers: replica.readersFrom(BigInt(revision), store.readers) },
    revision: async () => String(revision),
  })
  if (freshness === 'latest') return view(await currentRevision(store))
  const wanted = freshness === 'any' ? 0n : freshness.atLeast
  const shown = await shownBy(replica)
  if (shown !== undefined && shown >= wanted) return view(shown)
  const latest = await currentRevision(store)
  if (BigInt(latest) < wanted) return { store, revision: async () => latest }
  return view(wanted > 0n ? wanted : latest)
}

/** Undefined when it is not used at the moment. */
async function shownBy(replica: NonNullable<Store['replica']>): Promise<bigint | undefined> {
  try {
    return await replica.revision()
  } catch (error) {
    if (error instanceof ReplicaUnusable) return undefined
    throw fromPostgres(error)
  }
}
