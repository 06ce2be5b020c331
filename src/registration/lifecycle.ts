/**
 * What the server itself writes into an object: identity, generation, times, and who may write what.
 *
 * @see apiserver/pkg/registry/rest/{create,update,delete}.go
 */
import { randomInt, randomUUID } from 'node:crypto'
import { qualifiedResource } from '../kube/group-resource.ts'
import type { Json, JsonObject } from '../kube/kube-object.ts'
import { StatusError } from '../kube/status-error.ts'
import { timestamp } from '../kube/timestamp.ts'
import { field, isObject, quote, sameJson, withField } from './json-text.ts'
import type { RegistrationKind } from './kinds.ts'
import { finalizersOf } from './validate-metadata.ts'
import { invalid, invalidField } from './validation.ts'

/** `''` is the object itself. */
export type Subresource = '' | 'status'

export function metadataOf(object: JsonObject): JsonObject {
  const metadata = field(object, 'metadata')
  return isObject(metadata) ? metadata : {}
}

export function nameOf(object: JsonObject): string {
  return String(metadataOf(object).name ?? '')
}

/** Undefined values remove their field. */
export function withMetadata(
  object: JsonObject,
  changes: Readonly<Record<string, Json | undefined>>,
): JsonObject {
  const metadata = Object.entries(changes).reduce(
    (current, [key, value]) => withField(current, key, value),
    metadataOf(object),
  )
  return withField(object, 'metadata', metadata)
}

/** A new object: what a client may not decide is decided here. */
export function prepareCreate(object: JsonObject, kind: RegistrationKind, now: number): JsonObject {
  if (metadataOf(object).resourceVersion) {
    throw new StatusError(
      'BadRequest',
      'resourceVersion should not be set on objects to be created',
    )
  }
  return withMetadata(kind.hasStatus ? withField(object, 'status', undefined) : object, {
    uid: randomUUID(),
    creationTimestamp: timestamp(now),
    generation: 1,
    namespace: undefined,
    selfLink: undefined,
    resourceVersion: undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
  })
}

const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5
const BASE_MOST = 58

/** Letters that cannot spell a word by accident. */
export function generateName(base: string): string {
  const suffix = Array.from(
    { length: SUFFIX_LENGTH },
    () => SUFFIX_LETTERS[randomInt(SUFFIX_LETTERS.length)],
  )
  return base.slice(0, BASE_MOST) + suffix.join('')
}

export interface Update {
  readonly current: JsonObject
  /** As written, managedFields included. */
  readonly next: JsonObject
  readonly kind: RegistrationKind
  readonly subresource: Subresource
}

/**
 * An object as it is to be stored, after the checks that make a write meet the state it was meant
 * for.
 *
 * @throws 409 when it was meant for another state or another object of the name.
 */
export function prepareUpdate({ current, next, kind, subresource }: Update): JsonObject {
  checkPreconditions(current, metadataOf(next), kind)
  const written = subresource === 'status' ? onlyStatus(current, next) : next
  const kept = subresource === '' && kind.hasStatus ? withStatusOf(current, written) : written
  const old = metadataOf(current)
  const metadata = metadataOf(kept)
  const identified = withMetadata(kept, {
    uid: metadata.uid ?? old.uid,
    creationTimestamp: old.creationTimestamp,
    generation: old.generation,
    resourceVersion: old.resourceVersion,
    namespace: undefined,
    selfLink: undefined,
    ...(old.deletionTimestamp !== undefined && {
      deletionTimestamp: old.deletionTimestamp,
      deletionGracePeriodSeconds: old.deletionGracePeriodSeconds,
    }),
  })
  return sameJson(specOf(current), specOf(identified)) ? identified : nextGeneration(identified)
}

function withStatusOf(current: JsonObject, next: JsonObject): JsonObject {
  return withField(next, 'status', field(current, 'status'))
}

function onlyStatus(current: JsonObject, next: JsonObject): JsonObject {
  const managedFields = metadataOf(next).managedFields
  return withMetadata(withStatusOf(next, current), { managedFields })
}

/** Everything that is wanted: what a controller acts on. */
function specOf(object: JsonObject): JsonObject {
  return withField(withField(object, 'metadata', undefined), 'status', undefined)
}

export function nextGeneration(object: JsonObject): JsonObject {
  return withMetadata(object, { generation: Number(metadataOf(object).generation ?? 0) + 1 })
}

function checkPreconditions(
  current: JsonObject,
  { uid, resourceVersion }: JsonObject,
  kind: RegistrationKind,
): void {
  const old = metadataOf(current)
  if (resourceVersion && resourceVersion !== old.resourceVersion) {
    const sentence =
      'the object has been modified; please apply your changes to the latest version and try again'
    throw conflict(kind, nameOf(current), sentence)
  }
  if (uid && uid !== old.uid) {
    const sentence = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.uid}`
    throw conflict(kind, nameOf(current), sentence)
  }
}

export function conflict(kind: RegistrationKind, name: string, sentence: string): StatusError {
  return new StatusError(
    'Conflict',
    `Operation cannot be fulfilled on ${qualifiedResource(kind)} ${quote(name)}: ${sentence}`,
    { details: { name, group: kind.group, kind: kind.resource } },
  )
}

export function alreadyExists(kind: RegistrationKind, name: string): StatusError {
  return new StatusError(
    'AlreadyExists',
    `${qualifiedResource(kind)} ${quote(name)} already exists`,
    { details: { name, group: kind.group, kind: kind.resource } },
  )
}

/** A replace says which state it replaces. @throws 422 */
export function requireResourceVersion(object: JsonObject, kind: RegistrationKind): void {
  if (metadataOf(object).resourceVersion) return
  const error = invalidField('metadata.resourceVersion', 0, 'must be specified for an update')
  const message = 'Invalid value: 0x0: must be specified for an update'
  throw invalid({ group: kind.group, kind: kind.kind, name: nameOf(object) }, [
    { ...error, message },
  ])
}

/** @throws 400 when the body names another object than the path. */
export function requireName(object: JsonObject, name: string): void {
  const given = nameOf(object)
  if (given === name) return
  throw new StatusError(
    'BadRequest',
    `the name of the object (${given}) does not match the name on the URL (${name})`,
  )
}

/** Whether an object that is being deleted has nothing left to wait for. */
export function isFinalized(object: JsonObject): boolean {
  const metadata = metadataOf(object)
  return metadata.deletionTimestamp !== undefined && finalizersOf(metadata).length === 0
}

/** Marks an object whose finalizers must run first. */
export function markDeleted(object: JsonObject, now: number): JsonObject {
  return nextGeneration(
    withMetadata(object, {
      deletionTimestamp: timestamp(now),
      deletionGracePeriodSeconds: 0,
    }),
  )
}
