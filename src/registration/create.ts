/** Create: a new object, under the name given or one made up. */
import type { JsonObject } from '../kube/kube-object.ts'
import { type RegistrationWriter, writeRegistrations } from '../store/registrations.ts'
import type { Body } from './body-text.ts'
import { conceal, secretFieldsOf } from './credentials.ts'
import { cannotBeHandled, decodeObject, strictProblem, warningsOf } from './decode.ts'
import { keyOf, type RegistrationKind } from './kinds.ts'
import {
  alreadyExists,
  generateName,
  metadataOf,
  nameOf,
  prepareCreate,
  withMetadata,
} from './lifecycle.ts'
import { updater } from './managed-fields.ts'
import {
  type RegistrationContext,
  type WriteOptions,
  type Written,
  writeObject,
} from './write-object.ts'

const NAME_ATTEMPTS = 8

export interface CreateRequest {
  readonly kind: RegistrationKind
  readonly body: Body
  readonly options: WriteOptions
}

/** @throws 400, 409 `AlreadyExists`, 422 */
export async function createObject(
  context: RegistrationContext,
  { kind, body, options }: CreateRequest,
): Promise<Written> {
  const { object: given, complaints } = decodeObject(body, kind)
  const { object, secrets } = conceal(given, context.keyring, secretFieldsOf(kind))
  if (options.fieldValidation === 'Strict' && complaints.length > 0) {
    throw cannotBeHandled(object, kind, strictProblem(complaints))
  }
  const prepared = prepareCreate(object, kind, context.clock.now())
  const text = await writeRegistrations(context.store, async (writer) => {
    const next = await named(writer, kind, prepared)
    return writeObject(writer, context, {
      kind,
      next,
      secrets,
      options,
      subresource: '',
      by: updater(kind, options, ''),
    })
  })
  return { object: text, warnings: warningsOf(complaints, options), created: true }
}

async function named(
  writer: RegistrationWriter,
  kind: RegistrationKind,
  object: JsonObject,
): Promise<JsonObject> {
  const given = nameOf(object)
  const base = metadataOf(object).generateName
  if (given !== '' || typeof base !== 'string' || base === '') {
    if (await writer.read(keyOf(kind, given))) throw alreadyExists(kind, given)
    return object
  }
  for (let attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
    const name = generateName(base)
    if (!(await writer.read(keyOf(kind, name)))) return withMetadata(object, { name })
  }
  throw alreadyExists(kind, base)
}
