/** Delete, at once or once every finalizer has run. */
import { notFound } from '../kube/status-error.ts'
import { type RegistrationWriter, writeRegistrations } from '../store/registrations.ts'
import { NO_SECRETS } from './credentials.ts'
import { formatJson } from './json-text.ts'
import { keyOf, type RegistrationKind } from './kinds.ts'
import { conflict, markDeleted, metadataOf } from './lifecycle.ts'
import { finalizersOf } from './validate-metadata.ts'
import {
  type Current,
  currentOf,
  type RegistrationContext,
  removeObject,
  writeObject,
} from './write-object.ts'

export interface DeleteOptions {
  readonly dryRun?: boolean
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  /** Answered with 202 while the object is still there. */
  readonly waitsForDependents?: boolean
}

export interface DeleteRequest {
  readonly kind: RegistrationKind
  readonly name: string
  readonly options: DeleteOptions
}

export interface Deleted {
  readonly uid: string
  /** The last state, or the state that waits for its finalizers. */
  readonly object: string
  /** False while finalizers hold it. */
  readonly gone: boolean
}

/** @throws 404, 409 when it is not the object that was meant. */
export async function deleteObject(
  context: RegistrationContext,
  request: DeleteRequest,
): Promise<Deleted> {
  return writeRegistrations(context.store, (writer) => deleteOne(writer, context, request))
}

async function deleteOne(
  writer: RegistrationWriter,
  context: RegistrationContext,
  { kind, name, options }: DeleteRequest,
): Promise<Deleted> {
  const row = await writer.read(keyOf(kind, name))
  if (!row) throw notFound(kind, name)
  const current = currentOf(row)
  checkPreconditions(current, kind, options)
  const metadata = metadataOf(current.object)
  const waits = finalizersOf(metadata).length > 0
  if (waits && metadata.deletionTimestamp !== undefined) {
    return { uid: row.uid, object: row.object, gone: false }
  }
  if (waits) {
    const object = await writeObject(writer, context, {
      kind,
      current: withDeletion(current, context),
      next: markDeleted(current.object, context.clock.now()),
      secrets: NO_SECRETS,
      options: { fieldManager: '', dryRun: options.dryRun === true },
      subresource: '',
    })
    return { uid: row.uid, object, gone: false }
  }
  const object = options.dryRun ? row.object : await removeObject(writer, kind, current)
  return { uid: row.uid, object, gone: true }
}

/** The deletion time may be set here, and nowhere else. */
function withDeletion({ row, object }: Current, { clock }: RegistrationContext): Current {
  const marked = metadataOf(markDeleted(object, clock.now()))
  const { deletionTimestamp, deletionGracePeriodSeconds } = marked
  const metadata = { ...metadataOf(object), deletionTimestamp, deletionGracePeriodSeconds }
  return { row, object: { ...object, metadata } }
}

function checkPreconditions(
  { object, row }: Current,
  kind: RegistrationKind,
  { preconditions }: DeleteOptions,
): void {
  const { uid, resourceVersion } = preconditions ?? {}
  const metadata = metadataOf(object)
  if (uid && uid !== metadata.uid) {
    const sentence = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`
    throw conflict(kind, row.name, sentence)
  }
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
    const sentence = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`
    throw conflict(kind, row.name, sentence)
  }
}

export interface DeleteCollectionRequest {
  readonly kind: RegistrationKind
  readonly selects: (object: Current['object']) => boolean
  readonly options: DeleteOptions
}

/** Deletes what is selected, all or nothing. @returns the states before, as served. */
export async function deleteCollection(
  context: RegistrationContext,
  { kind, selects, options }: DeleteCollectionRequest,
): Promise<{ readonly resourceVersion: string; readonly objects: readonly string[] }> {
  return writeRegistrations(context.store, async (writer) => {
    const { objects, latest } = await writer.list(kind)
    const deleted: string[] = []
    for (const { name } of objects) {
      const row = await writer.read(keyOf(kind, name))
      if (!row || !selects(currentOf(row).object)) continue
      await deleteOne(writer, context, { kind, name, options })
      deleted.push(formatJson(currentOf(row).object))
    }
    return { resourceVersion: latest, objects: deleted }
  })
}
