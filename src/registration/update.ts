/** Replace and patch: of an object, or of its status alone. */
import { apiVersionOf } from '../kube/group-resource.ts'
import type { Json, JsonObject } from '../kube/kube-object.ts'
import { messageOf } from '../kube/message-of.ts'
import { notFound, StatusError } from '../kube/status-error.ts'
import { type RegistrationWriter, writeRegistrations } from '../store/registrations.ts'
import { type Body, parseBody } from './body-text.ts'
import { type Concealed, conceal, secretFieldsOf } from './credentials.ts'
import {
  cannotBeHandled,
  checkGroupVersionKind,
  decodeObject,
  duplicateField,
  shape,
  strictProblem,
  warningsOf,
} from './decode.ts'
import { jsonPatch } from './json-patch.ts'
import { formatJson, isObject } from './json-text.ts'
import { keyOf, type RegistrationKind } from './kinds.ts'
import {
  prepareUpdate,
  requireName,
  requireResourceVersion,
  type Subresource,
} from './lifecycle.ts'
import { updater } from './managed-fields.ts'
import { mergePatch } from './merge-patch.ts'
import { invalid, invalidField } from './validation.ts'
import {
  type Current,
  currentOf,
  type RegistrationContext,
  type WriteOptions,
  type Written,
  writeObject,
} from './write-object.ts'

export interface ReplaceRequest {
  readonly kind: RegistrationKind
  readonly name: string
  readonly subresource: Subresource
  readonly body: Body
  readonly options: WriteOptions
}

/** @throws 400, 404, 409 `Conflict`, 422 */
export async function replaceObject(
  context: RegistrationContext,
  asked: ReplaceRequest,
): Promise<Written> {
  const { kind, name, body, options } = asked
  const { object: given, complaints } = decodeObject(body, kind)
  const { object, secrets } = conceal(given, context.keyring, secretFieldsOf(kind))
  if (options.fieldValidation === 'Strict' && complaints.length > 0) {
    throw cannotBeHandled(object, kind, strictProblem(complaints))
  }
  requireName(object, name)
  const text = await writeRegistrations(context.store, async (writer) => {
    const row = await writer.read(keyOf(kind, name))
    if (!row) throw notFound(kind, name)
    requireResourceVersion(object, kind)
    return writeUpdate(writer, context, { ...asked, current: currentOf(row), object, secrets })
  })
  return { object: text, warnings: warningsOf(complaints, options), created: false }
}

async function writeUpdate(
  writer: RegistrationWriter,
  context: RegistrationContext,
  update: Pick<ReplaceRequest, 'kind' | 'subresource' | 'options'> &
    Concealed & { readonly current: Current },
): Promise<string> {
  const { kind, current, object, secrets, options, subresource } = update
  const next = prepareUpdate({ current: current.object, next: object, kind, subresource })
  const by = updater(kind, options, subresource)
  return writeObject(writer, context, { kind, current, next, secrets, options, subresource, by })
}

export interface PatchRequest extends ReplaceRequest {
  readonly type: 'merge' | 'json'
}

/** @throws 400, 404, 409 `Conflict`, 422 */
export async function patchObject(
  context: RegistrationContext,
  request: PatchRequest,
): Promise<Written> {
  const { kind, name, options } = request
  const patch = readPatch(request)
  return writeRegistrations(context.store, async (writer) => {
    const row = await writer.read(keyOf(kind, name))
    if (!row) throw notFound(kind, name)
    const current = currentOf(row)
    const { object: given, complaints } = patched(context, current, { ...request, ...patch })
    const { object, secrets } = conceal(given, context.keyring, secretFieldsOf(kind))
    requireName(object, name)
    const text = await writeUpdate(writer, context, { ...request, current, object, secrets })
    return { object: text, warnings: warningsOf(complaints, options), created: false }
  })
}

interface ReadPatch {
  readonly patch: Json
  readonly duplicates: readonly string[]
}

function readPatch({ body, type }: PatchRequest): ReadPatch {
  const { value, duplicates } = readBody(body)
  if (type === 'merge' && !isObject(value)) {
    throw new StatusError('BadRequest', 'a merge patch must be an object')
  }
  return { patch: value, duplicates: duplicates.map(duplicateField) }
}

export function readBody(body: Body) {
  try {
    return parseBody(body)
  } catch (error) {
    const message = messageOf(error)
    throw new StatusError('BadRequest', `error decoding patch: ${message}`, { cause: error })
  }
}

function patched(
  { keyring }: RegistrationContext,
  { object: current }: Current,
  { kind, type, patch, duplicates, options }: PatchRequest & ReadPatch,
): { readonly object: JsonObject; readonly complaints: readonly string[] } {
  const result = type === 'merge' ? mergePatch(current, patch) : jsonPatch(current, patch)
  if (!isObject(result)) throw new StatusError('BadRequest', 'the patch leaves no object')
  checkGroupVersionKind(result, kind, '')
  const { object, unknown } = shape(result, kind)
  const complaints = [...duplicates, ...unknown]
  if (options.fieldValidation === 'Strict' && complaints.length > 0) {
    // A real server shows the patched object here; ours shows it without its secrets.
    const shown = conceal(result, keyring, secretFieldsOf(kind)).object
    throw invalid({ group: '', kind: '', name: '' }, [
      invalidField('patch', formatJson(shown), strictProblem(complaints)),
    ])
  }
  return { object, complaints }
}

/** The kind and version that an object without anything else has. */
export function bareObject(kind: RegistrationKind): JsonObject {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind }
}
