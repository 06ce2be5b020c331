/**
 * The end of every write: ownership recorded, everything checked, secrets sealed, then stored.
 *
 * Runs inside the one writing transaction (store/registrations.ts), so what was read is still true.
 * Verbs are in create.ts, update.ts and delete.ts.
 */
import type { Clock } from '../clock.ts'
import type { Keyring } from '../keyring.ts'
import { apiVersionOf } from '../kube/group-resource.ts'
import type { JsonObject } from '../kube/kube-object.ts'
import { timestamp } from '../kube/timestamp.ts'
import type { Store } from '../store/connect.ts'
import type { RegistrationWriter, StoredRegistration } from '../store/registrations.ts'
import { keepClusterInStep } from './cluster-step.ts'
import {
  byDigest,
  keepSecrets,
  openedSecrets,
  type Secrets,
  sealingContext,
  sealSecrets,
  secretFieldsOf,
} from './credentials.ts'
import {
  field,
  formatJson,
  isArray,
  isObject,
  parseJson,
  sameJson,
  withField,
} from './json-text.ts'
import { keyOf, type RegistrationKind } from './kinds.ts'
import { isFinalized, metadataOf, nameOf, type Subresource, withMetadata } from './lifecycle.ts'
import { type Manager, recordUpdate } from './managed-fields.ts'
import { validateKind } from './validate-kind.ts'
import { validateMetadata, validateMetadataUpdate } from './validate-metadata.ts'
import { validateSchema } from './validate-schema.ts'
import { type FieldError, invalid } from './validation.ts'

export interface RegistrationContext {
  readonly store: Store
  readonly keyring: Keyring
  readonly clock: Clock
}

export interface WriteOptions {
  /** Who is recorded as the owner of what is written. */
  readonly fieldManager: string
  /** Everything is done and checked, and nothing stored. */
  readonly dryRun?: boolean
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore'
}

export interface Written {
  /** JSON as served. */
  readonly object: string
  /** For `Warning` headers. */
  readonly warnings: readonly string[]
  readonly created: boolean
}

/** An object as it is stored, and what is known of it. */
export interface Current {
  readonly row: StoredRegistration
  readonly object: JsonObject
}

export function currentOf(row: StoredRegistration): Current {
  return { row, object: parseJson(row.object).value as JsonObject }
}

export interface Proposal {
  readonly kind: RegistrationKind
  /** Undefined for a new object. */
  readonly current?: Current | undefined
  /** With uid, times and generation (lifecycle.ts), and without secrets (credentials.ts). */
  readonly next: JsonObject
  /** Those that were in what was written, before digests took their place in `next`. */
  readonly secrets: Secrets
  readonly options: WriteOptions
  readonly subresource: Subresource
  /** Left out when ownership is recorded in `next` already, as by an apply. */
  readonly by?: Manager
}

/**
 * Stores a proposal, unless it changes nothing or is only tried.
 *
 * @returns the object as it is served from now on.
 * @throws 422 with every complaint.
 */
export async function writeObject(
  writer: RegistrationWriter,
  context: RegistrationContext,
  proposal: Proposal,
): Promise<string> {
  const { current, options } = proposal
  const owned = recordOwnership(proposal, context.clock.now())
  const { credentials, errors } = credentialsOf(proposal, owned, context)
  refuseInvalid(owned, proposal, errors)
  const isSealedAnew = current !== undefined && current.row.credentials !== credentials
  if (current && !isSealedAnew && isNoChange(current.object, owned) && !isFinalized(owned)) {
    return current.row.object
  }
  if (options.dryRun) return formatJson(owned)
  return storeObject(writer, proposal, { object: owned, credentials })
}

interface Credentials {
  /** Sealed; those of the current object itself when they are the same. */
  readonly credentials: Buffer | null
  readonly errors: readonly FieldError[]
}

function credentialsOf(
  { kind, current, secrets }: Proposal,
  object: JsonObject,
  { keyring }: RegistrationContext,
): Credentials {
  const fields = secretFieldsOf(kind)
  const sealed = current?.row.credentials ?? null
  const isUntouched = (name: string) =>
    sameJson(field(current?.object, 'spec', name), field(object, 'spec', name))
  // They need not be opened then: what another key sealed keeps nobody from the rest of the object.
  if (current && secrets.size === 0 && fields.every(isUntouched)) {
    return { credentials: sealed, errors: [] }
  }
  const context = sealingContext(kind, String(metadataOf(object).uid))
  // Those that do not open are to be given again.
  const stored = openedSecrets(sealed, keyring, context)
  const known = new Map([...byDigest(stored ?? {}, keyring), ...secrets])
  const kept = keepSecrets(object, known, fields)
  const isSame = current !== undefined && stored !== undefined && sameJson(stored, kept.secrets)
  return {
    credentials: isSame ? sealed : sealSecrets(kept.secrets, keyring, context),
    errors: kept.errors,
  }
}

function recordOwnership({ next, by, current, kind }: Proposal, now: number): JsonObject {
  if (!by) return next
  const live = current?.object ?? { apiVersion: apiVersionOf(kind), kind: kind.kind }
  return recordUpdate({ live, now: next, schema: kind.schema, by, time: timestamp(now) })
}

function refuseInvalid(
  object: JsonObject,
  { kind, current }: Proposal,
  more: readonly FieldError[],
): void {
  const errors = [
    ...validateMetadata(metadataOf(object)),
    ...(current ? validateMetadataUpdate(metadataOf(object), metadataOf(current.object)) : []),
    ...validateSchema(object, withoutMetadata(kind)),
    ...validateKind(object, kind),
    ...more,
  ]
  if (errors.length === 0) return
  throw invalid({ group: kind.group, kind: kind.kind, name: nameOf(object) }, errors)
}

/** Metadata has rules of its own. */
function withoutMetadata({ schema }: RegistrationKind) {
  return { ...schema, properties: { ...schema.properties, metadata: {} } }
}

/** Whether two states differ in nothing but when somebody claimed a field. */
function isNoChange(current: JsonObject, next: JsonObject): boolean {
  return sameJson(withoutTimes(current), withoutTimes(next))
}

function withoutTimes(object: JsonObject): JsonObject {
  const entries = field(object, 'metadata', 'managedFields')
  if (!isArray(entries)) return object
  const managedFields = entries.map((entry) =>
    isObject(entry) ? withField(entry, 'time', undefined) : entry,
  )
  return withMetadata(object, { managedFields })
}

async function storeObject(
  writer: RegistrationWriter,
  { kind, current }: Proposal,
  { object, credentials }: { object: JsonObject; credentials: Buffer | null },
): Promise<string> {
  // The last finalizer is gone: that was the deletion.
  if (current && isFinalized(object)) return removeObject(writer, kind, { ...current, object })
  const text = formatJson(withMetadata(object, { resourceVersion: writer.nextRevision() }))
  const metadata = metadataOf(object)
  await writer.write(keyOf(kind, nameOf(object)), {
    type: current ? 'MODIFIED' : 'ADDED',
    uid: String(metadata.uid),
    object: text,
    previous: current?.row.object ?? null,
    credentials,
  })
  await keepClusterInStep(writer.transaction, kind, {
    ...(current && { before: metadataOf(current.object) }),
    after: metadata,
  })
  return text
}

/** @returns the last state, with the resourceVersion of the deletion. */
export async function removeObject(
  writer: RegistrationWriter,
  kind: RegistrationKind,
  { row, object }: Current,
): Promise<string> {
  const text = formatJson(withMetadata(object, { resourceVersion: writer.nextRevision() }))
  await writer.write(keyOf(kind, row.name), {
    type: 'DELETED',
    uid: row.uid,
    object: text,
    previous: row.object,
    credentials: null,
  })
  await keepClusterInStep(writer.transaction, kind, { before: metadataOf(object) })
  return text
}
