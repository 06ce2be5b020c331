/** Apply patch: creates the object or lays the manager's fields over it (server-side-apply.ts). */
import { apiVersionOf } from '../kube/group-resource.ts'
import type { JsonObject } from '../kube/kube-object.ts'
import { notFound, StatusError } from '../kube/status-error.ts'
import { timestamp } from '../kube/timestamp.ts'
import { type RegistrationWriter, writeRegistrations } from '../store/registrations.ts'
import { conceal, type Secrets, secretFieldsOf } from './credentials.ts'
import { duplicateField, shape, warningsOf } from './decode.ts'
import { field, isObject, withField, withPath } from './json-text.ts'
import { keyOf, type RegistrationKind } from './kinds.ts'
import {
  metadataOf,
  nameOf,
  prepareCreate,
  prepareUpdate,
  requireName,
  type Subresource,
  withMetadata,
} from './lifecycle.ts'
import { prune } from './prune.ts'
import { applyObject } from './server-side-apply.ts'
import { bareObject, type ReplaceRequest, readBody } from './update.ts'
import { currentOf, type RegistrationContext, type Written, writeObject } from './write-object.ts'

export interface ApplyRequest extends ReplaceRequest {
  readonly force: boolean
}

interface Applied extends ApplyRequest {
  readonly applied: JsonObject
  readonly secrets: Secrets
}

/** @throws 400, 404 (of a status alone), 409 with every conflict, 422 */
export async function applyPatch(
  context: RegistrationContext,
  request: ApplyRequest,
): Promise<Written> {
  const { kind, name, subresource, options } = request
  const { applied, complaints } = readApplied(request)
  const { object, secrets } = conceal(applied, context.keyring, secretFieldsOf(kind))
  const proposed = { ...request, applied: writable(object, kind, subresource), secrets }
  const written = await writeRegistrations(context.store, async (writer) => {
    const row = await writer.read(keyOf(kind, name))
    if (row)
      return { object: await applyOver(writer, context, { ...proposed, row }), created: false }
    if (subresource !== '') throw notFound(kind, name)
    return { object: await applyNew(writer, context, proposed), created: true }
  })
  return { ...written, warnings: warningsOf(complaints, options) }
}

function readApplied({ kind, name, body, options }: ApplyRequest) {
  const { value, duplicates } = readBody(body)
  if (!isObject(value)) throw new StatusError('BadRequest', 'an apply patch must be an object')
  const complaints = duplicates.map(duplicateField)
  if (options.fieldValidation === 'Strict' && complaints.length > 0) {
    throw new StatusError('BadRequest', `error strict decoding YAML: ${complaints.join(', ')}`)
  }
  checkVersion(value, kind)
  if (field(value, 'metadata', 'managedFields') !== undefined) {
    throw new StatusError('BadRequest', 'metadata.managedFields must be nil')
  }
  // Checks the types of metadata.
  shape(value, kind)
  const { value: pruned, unknown } = prune(value, kind.schema)
  if (unknown.length > 0) throw undeclared(unknown[0]!, { kind, name })
  const applied = pruned as JsonObject
  if (nameOf(applied) !== '') requireName(applied, name)
  return { applied: withMetadata(applied, { name }), complaints }
}

function checkVersion(value: JsonObject, kind: RegistrationKind): void {
  const expected = apiVersionOf(kind)
  if (value.apiVersion !== expected) {
    throw new StatusError(
      'BadRequest',
      `Incorrect version specified in apply patch. Specified patch version: ${value.apiVersion ?? ''}, expected: ${expected}`,
    )
  }
  if (value.kind === kind.kind) return
  throw new StatusError(
    'BadRequest',
    `Incorrect kind specified in apply patch. Specified patch kind: ${value.kind ?? ''}, expected: ${kind.kind}`,
  )
}

/** Always refused, whatever fieldValidation says; a real server uses these words with code 500. */
function undeclared(
  path: string,
  { kind, name }: { readonly kind: RegistrationKind; readonly name: string },
): StatusError {
  return new StatusError(
    'BadRequest',
    `failed to create typed patch object (/${name}; ${apiVersionOf(kind)}, Kind=${kind.kind}): .${path}: field not declared in schema`,
  )
}

/** What may be written here: status through its subresource only, and nothing else there. */
function writable(
  applied: JsonObject,
  kind: RegistrationKind,
  subresource: Subresource,
): JsonObject {
  if (subresource === '') {
    return kind.hasStatus ? withField(applied, 'status', undefined) : applied
  }
  const { name, resourceVersion, uid } = metadataOf(applied)
  return {
    ...bareObject(kind),
    metadata: { name, resourceVersion, uid },
    ...(applied.status !== undefined && { status: applied.status }),
  }
}

function manager({ kind, options, subresource }: ApplyRequest) {
  return {
    manager: options.fieldManager,
    operation: 'Apply',
    apiVersion: apiVersionOf(kind),
    subresource,
  } as const
}

function applyTo(live: JsonObject, request: Applied, context: RegistrationContext): JsonObject {
  const { kind, force } = request
  return applyObject({
    live,
    applied: request.applied,
    schema: kind.schema,
    by: manager(request),
    force,
    time: timestamp(context.clock.now()),
  })
}

async function applyOver(
  writer: RegistrationWriter,
  context: RegistrationContext,
  request: Applied & { readonly row: Parameters<typeof currentOf>[0] },
): Promise<string> {
  const { kind, subresource, options, secrets } = request
  const current = currentOf(request.row)
  const merged = applyTo(current.object, request, context)
  const next = prepareUpdate({ current: current.object, next: merged, kind, subresource })
  return writeObject(writer, context, { kind, current, next, secrets, options, subresource })
}

async function applyNew(
  writer: RegistrationWriter,
  context: RegistrationContext,
  request: Applied,
): Promise<string> {
  const { kind, options, secrets, subresource } = request
  const { uid, resourceVersion } = metadataOf(request.applied)
  if (uid || resourceVersion) throw notFound(kind, nameOf(request.applied))
  const made = applyTo(bareObject(kind), request, context)
  const managedFields = metadataOf(made).managedFields
  const next = withPath(
    prepareCreate(made, kind, context.clock.now()),
    ['metadata', 'managedFields'],
    managedFields,
  )
  return writeObject(writer, context, { kind, next, secrets, options, subresource })
}
