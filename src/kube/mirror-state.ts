/**
 * What is known of a mirror besides its objects: as of when it is, and how each type of it goes.
 *
 * The store's catalog is of this shape, and a server tells it to its readers as a document
 * (`…/resources/clusters?types=pods,deployments.apps`), so whoever reads a mirror through a server
 * decides by the same facts as who reads the database.
 */
import { FLEET_PREFIX } from './fleet-prefix.ts'
import { type GroupResource, qualifiedResource } from './group-resource.ts'

export interface MirroredType extends GroupResource {
  /** Of the sync: `Syncing`, `Error` … */
  readonly status: string
  readonly reason: string
  readonly message: string
  /** There when a first list was completed. */
  readonly position?: unknown
}

export interface MirrorState<Type extends MirroredType = MirroredType> {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** The member's /version document, as it sent it. */
  readonly version: string | null
  /** Null: the mirror is in step. */
  readonly staleReason: string | null
  readonly staleSince: Date | null
  /** Until when its syncer said it would be at work. Null: never synced. */
  readonly syncerSeenAt: Date | null
  readonly resources: readonly Type[]
}

/**
 * Whether a type is behind for no other reason than that its whole cluster does not answer: its rows
 * are then as good as the cluster's last news.
 */
export function isBehindWithCluster(
  { staleReason }: Pick<MirrorState, 'staleReason'>,
  { status, reason, position }: MirroredType,
): boolean {
  const isUnreachable = status === 'Error' && reason === 'NotReachable'
  return staleReason !== null && isUnreachable && position !== undefined
}

export const MIRROR_STATES_PATH = `${FLEET_PREFIX}/clusters`

/** A type as a server tells it to one reader. */
export interface ToldType extends MirroredType {
  /** The version that it is listed in. */
  readonly apiVersion: string
  /** What of it the reader can see; left out: all namespaces. */
  readonly namespaces?: readonly string[]
}

export interface ToldMirror extends MirrorState<ToldType> {
  /** Of the types that were asked for: those that the reader may not list there. */
  readonly forbidden: readonly GroupResource[]
  /** Those that are to be mirrored, and that the cluster does not serve: there are none of them. */
  readonly unserved: readonly GroupResource[]
}

export interface MirrorStates {
  /** Milliseconds since 1970, by the server's clock. */
  readonly now: number
  readonly clusters: readonly ToldMirror[]
}

/** The query of {@link MIRROR_STATES_PATH}: of which types the state is asked for. */
export function mirrorStatesQuery(types: readonly GroupResource[]): { readonly types: string } {
  return { types: types.map(qualifiedResource).join(',') }
}

/** What a server sends: times as text, and a first list that was completed as a truth value. */
export function mirrorStatesDocument({ now, clusters }: MirrorStates): object {
  return {
    kind: 'MirrorStates',
    now: new Date(now).toISOString(),
    clusters: clusters.map(({ resources, ...cluster }) => ({
      ...cluster,
      resources: resources.map(({ position, ...type }) => ({
        ...type,
        listed: position !== undefined,
      })),
    })),
  }
}

/** Undefined: it is no such document, but that of something else, or half of one. */
export function parseMirrorStates(document: unknown): MirrorStates | undefined {
  const { kind, now, clusters } = fieldsOf(document)
  const at = timeOf(now)
  if (kind !== 'MirrorStates' || !at || !Array.isArray(clusters)) return undefined
  const told = clusters.map(toldMirror)
  return told.includes(undefined)
    ? undefined
    : { now: at.getTime(), clusters: told.filter((one) => one !== undefined) }
}

function toldMirror(value: unknown): ToldMirror | undefined {
  const { name, labels, version, staleReason, staleSince, syncerSeenAt, ...types } = fieldsOf(value)
  if (typeof name !== 'string' || name === '') return undefined
  return {
    name,
    labels: Object.fromEntries(
      Object.entries(fieldsOf(labels)).map(([key, one]) => [key, text(one)]),
    ),
    version: typeof version === 'string' ? version : null,
    staleReason: typeof staleReason === 'string' ? staleReason : null,
    staleSince: timeOf(staleSince) ?? null,
    syncerSeenAt: timeOf(syncerSeenAt) ?? null,
    resources: list(types.resources).map(toldType),
    forbidden: list(types.forbidden).map(groupResource),
    unserved: list(types.unserved).map(groupResource),
  }
}

function toldType(value: unknown): ToldType {
  const { status, reason, message, listed, apiVersion, namespaces } = fieldsOf(value)
  return {
    ...groupResource(value),
    ...{ status: text(status), reason: text(reason), message: text(message) },
    apiVersion: text(apiVersion),
    ...(listed === true && { position: true }),
    ...(Array.isArray(namespaces) && { namespaces: namespaces.map(text) }),
  }
}

function groupResource(value: unknown): GroupResource {
  const { group, resource } = fieldsOf(value)
  return { group: text(group), resource: text(resource) }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function timeOf(value: unknown): Date | undefined {
  const at = new Date(text(value))
  return Number.isNaN(at.getTime()) ? undefined : at
}
