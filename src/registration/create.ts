/** Create: a new object, under the name given or one made up. */
import { apiVersionOf } from '../kube/group-resource.ts'
import type { JsonObject } from '../kube/kube-object.ts'
import { type RegistrationWriter, writeRegistrations } from '../store/registrations.ts'
import { conceal, secretFieldsOf } from './credentials.ts'
import { type Body, cannotBeHandled, decodeObject } from './decode.ts'
import { quote } from './json-text.ts'
import type { RegistrationKind } from './kinds.ts'
import {
  alreadyExists,
  generateName,
  metadataOf,
  nameOf,
  prepareCreate,
  withMetadata,
} from './lifecycle.ts'
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

export function strictProblem(complaints: readonly string[]): string {
  return `strict decoding error: ${complaints.join(', ')}`
}

export function warningsOf(
  complaints: readonly string[],
  { fieldValidation }: WriteOptions,
): readonly string[] {
  return fieldValidation === 'Ignore' ? [] : complaints
}

/** The manager of a write that is no apply. */
export function updater(
  kind: RegistrationKind,
  { fieldManager }: WriteOptions,
  subresource: '' | 'status',
) {
  return {
    manager: fieldManager,
    operation: 'Update',
    apiVersion: apiVersionOf(kind),
    subresource,
  } as const
}

async function named(
  writer: RegistrationWriter,
  kind: RegistrationKind,
  object: JsonObject,
): Promise<JsonObject> {
  const given = nameOf(object)
  const base = metadataOf(object).generateName
  const key = { group: kind.group, resource: kind.resource }
  if (given !== '' || typeof base !== 'string' || base === '') {
    if (await writer.read({ ...key, name: given })) throw alreadyExists(kind, given)
    return object
  }
  for (let attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
    const name = generateName(base)
    if (!(await writer.read({ ...key, name }))) return withMetadata(object, { name })
  }
  throw alreadyExists(kind, quote(base))
}
