/** Get and list: the newest state, or a state of the past that is still known. */
import type { JsonObject } from '../kube/kube-object.ts'
import {
  notFound,
  resourceVersionTooLarge,
  resourceVersionTooOld,
  StatusError,
} from '../kube/status-error.ts'
import { listRegistrations, readRegistration } from '../store/registrations.ts'
import { parseJson } from './json-text.ts'
import { keyOf, type RegistrationKind } from './kinds.ts'
import type { RegistrationContext } from './write-object.ts'

/** An object as it is served, both ways. */
export interface Served {
  readonly text: string
  readonly object: JsonObject
}

export function served(text: string): Served {
  return { text, object: parseJson(text).value as JsonObject }
}

/** @throws 404, and 504 for a state that is not there yet. */
export async function getObject(
  context: RegistrationContext,
  { kind, name, notOlderThan }: GetRequest,
): Promise<Served> {
  if (notOlderThan !== undefined) await requireRevision(context, kind, notOlderThan)
  const row = await readRegistration(context.store, keyOf(kind, name))
  if (!row) throw notFound(kind, name)
  return served(row.object)
}

export interface GetRequest {
  readonly kind: RegistrationKind
  readonly name: string
  readonly notOlderThan?: bigint
}

async function requireRevision(
  { store }: RegistrationContext,
  kind: RegistrationKind,
  wanted: bigint,
): Promise<void> {
  const { latest } = await listRegistrations(store, kind, { limit: 0 })
  if (wanted > BigInt(latest)) throw resourceVersionTooLarge(wanted, latest)
}

export interface ObjectListRequest {
  readonly kind: RegistrationKind
  readonly selects: (object: JsonObject) => boolean
  /** Left out: all of them. */
  readonly limit?: number
  /** Only names after this one. */
  readonly after?: string
  /** This very state; left out, the newest. */
  readonly at?: bigint
  /** The newest state, which must be at least this one. */
  readonly notOlderThan?: bigint
}

export interface ObjectList {
  readonly resourceVersion: string
  /** Sorted by name. */
  readonly items: readonly Served[]
  /** How many selected objects follow; 0 on the last page. */
  readonly remaining: number
}

/** @throws 410 when the state is not known any more, 504 when it is not there yet. */
export async function listObjects(
  { store }: RegistrationContext,
  { kind, selects, limit, after, at, notOlderThan }: ObjectListRequest,
): Promise<ObjectList> {
  const page = await listRegistrations(store, kind, {
    ...(at !== undefined && { at: at.toString() }),
    ...(after !== undefined && { after }),
  })
  const wanted = at ?? notOlderThan ?? 0n
  if (wanted > BigInt(page.latest)) throw resourceVersionTooLarge(wanted, page.latest)
  if (at !== undefined && at < BigInt(page.floor))
    throw after === undefined ? resourceVersionTooOld() : continueTooOld()
  const found = page.objects
    .map(({ object }) => served(object))
    .filter(({ object }) => selects(object))
  const items = limit === undefined ? found : found.slice(0, limit)
  return { resourceVersion: page.resourceVersion, items, remaining: found.length - items.length }
}

function continueTooOld(): StatusError {
  return new StatusError(
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.',
  )
}
