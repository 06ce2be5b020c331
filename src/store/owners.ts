/**
 * Finds the owners that an owner search looks through: the one that is named, and the generations
 * between it and the objects that are wanted.
 *
 * One query a generation, downwards. Everything is read within what the reader may list, type by
 * type: an owner that they may not see leads nowhere, so nothing is told of it.
 */
import { type RawBuilder, sql } from 'kysely'
import { StatusError } from '../kube/status-error.ts'
import type { TypeName } from './condition-filter.ts'
import type { Store } from './connect.ts'
import type { Owner } from './list-request.ts'
import { ownerTokens } from './owner-filter.ts'
import { readRows } from './readers.ts'
import { bigintArray, isStorable } from './sql-value.ts'
import { inTypeScopes, type TypeScope, typesOf } from './type-scope.ts'
import { valuesAt } from './values-at-path.ts'

export interface OwnerSearch {
  readonly of: { readonly uid: string } | { readonly name: string }
  /** Where an owner of that name may be; not looked at when the UID is given. */
  readonly named: readonly TypeScope[]
  /** Where the generations between may be. */
  readonly between: readonly TypeScope[]
  /** How many generations lie between; of an owner given by its UID at least one. */
  readonly generations: number
}

export interface FoundOwners {
  /** The parents of the objects that are wanted. */
  readonly owners: readonly Owner[]
  /** Where the search ended when there are none: at the owner, or in the generations below it. */
  readonly lost?: 'owner' | 'between'
}

/** More would make a query of many megabytes, and an answer that nobody meant. */
const OWNERS_MOST = 10_000
/** Of one query; a generation has a token for each of its UIDs and each type. */
const TOKENS_MOST = 50_000

/** @throws StatusError 400 when there are too many, or as the database fails. */
export async function findOwners(store: Store, search: OwnerSearch): Promise<FoundOwners> {
  const { of, named, between, generations } = search
  const byUid = 'uid' in of
  let owners = byUid
    ? await childrenOfUid(store, between, of.uid)
    : await namedOwners(store, named, of.name)
  if (!byUid && owners.length === 0) return { owners, lost: 'owner' }
  for (let left = byUid ? generations - 1 : generations; left > 0 && owners.length > 0; left--) {
    owners = await childrenOf(store, between, owners)
  }
  return owners.length === 0 ? { owners, lost: 'between' } : { owners }
}

/** By the index on parts of names: the key of a row starts with its type and namespace. */
async function namedOwners(
  store: Store,
  where: readonly TypeScope[],
  name: string,
): Promise<readonly Owner[]> {
  if (!isStorable(name)) return []
  const pattern = name.replace(/[\\%_]/g, '\\$&')
  return foundBy(store, where, sql`(o.name || '') like ${pattern} and o.name = ${name}`)
}

async function childrenOfUid(
  store: Store,
  between: readonly TypeScope[],
  uid: string,
): Promise<readonly Owner[]> {
  const tokens = typesOf(between).flatMap((type) => ownerTokens([uid], type))
  return foundBy(store, between, sql`o.tokens && ${bigintArray(tokens)}`)
}

async function childrenOf(
  store: Store,
  between: readonly TypeScope[],
  owners: readonly Owner[],
): Promise<readonly Owner[]> {
  const places = new Set(owners.map(placeOf))
  const found = new Map<string, Owner>()
  for (const tokens of tokenBatches(owners, typesOf(between))) {
    const some = await foundBy(store, between, sql`o.tokens && ${bigintArray(tokens)}`)
    for (const { ownerUids, ...child } of some) {
      if (ownerUids.some((uid) => isOwnedFrom(places, child, uid))) {
        found.set(placeOf(child), child)
      }
    }
    if (found.size > OWNERS_MOST) throw tooMany()
  }
  return [...found.values()]
}

/** An owner is in the object's namespace or in none, and always in its cluster. */
function isOwnedFrom(places: ReadonlySet<string>, child: Owner, uid: string): boolean {
  return (
    places.has(placeOf({ ...child, uid })) || places.has(placeOf({ ...child, namespace: '', uid }))
  )
}

function placeOf({ clusterId, namespace, uid }: Owner): string {
  return `${clusterId}/${namespace}/${uid}`
}

function* tokenBatches(
  owners: readonly Owner[],
  types: readonly TypeName[],
): Generator<readonly bigint[]> {
  const uids = [...new Set(owners.map(({ uid }) => uid))]
  const most = Math.max(1, Math.floor(TOKENS_MOST / Math.max(1, types.length)))
  for (let at = 0; at < uids.length; at += most) {
    const some = uids.slice(at, at + most)
    yield types.flatMap((type) => ownerTokens(some, type))
  }
}

type Found = Owner & { readonly ownerUids: readonly string[] }

const OWNER_UIDS = valuesAt([
  { key: 'metadata' },
  { key: 'ownerReferences' },
  { every: true },
  { key: 'uid' },
])

async function foundBy(
  store: Store,
  where: readonly TypeScope[],
  condition: RawBuilder<unknown>,
): Promise<readonly Found[]> {
  const visible = inTypeScopes(where)
  if (!visible) return []
  const query =
    sql`select o.cluster_id as "clusterId", o.namespace, o.uid, ${OWNER_UIDS} as "ownerUids"
    from object o where ${condition} and ${visible}
    limit ${OWNERS_MOST + 1}`.compile(store.db)
  const rows = await readRows<Found>(store.readers, query)
  if (rows.length > OWNERS_MOST) throw tooMany()
  return rows
}

function tooMany(): StatusError {
  const message = `more than ${OWNERS_MOST} owners would have to be looked through: name clusters, a namespace or the owner's type, or give its UID`
  return new StatusError('BadRequest', message)
}
