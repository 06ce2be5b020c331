/**
 * Keeps credentials out of everything that is served: a digest stands in place of each.
 *
 * The secrets themselves are sealed beside the object. A digest that is written back stands for
 * the secret that is stored, so that `kubectl edit` and `replace` work without knowing it.
 * A certificate and the addresses of a cluster are public, and stay.
 */
import type { Keyring } from '../keyring.ts'
import { type Json, type JsonObject, LAST_APPLIED_ANNOTATION } from '../kube/kube-object.ts'
import { field, formatJson, parsedObject, withPath } from './json-text.ts'
import { isBase64 } from './validate-schema.ts'
import { type FieldError, invalidField } from './validation.ts'

/** Fields of a spec that hold a secret, by resource. All are bytes: base64 in JSON. */
const SECRET_FIELDS: Readonly<Record<string, readonly string[]>> = {
  pediaclusters: ['kubeconfig', 'tokenData', 'keyData'],
}

export function secretFieldsOf({ resource }: { readonly resource: string }): readonly string[] {
  return SECRET_FIELDS[resource] ?? []
}

/** Digest as served → the secret as given (base64). */
export type Secrets = ReadonlyMap<string, string>

export interface Concealed {
  readonly object: JsonObject
  readonly secrets: Secrets
}

const DIGEST = /^hmac-sha256:[0-9a-f]{64}$/

function isDigest(value: string): boolean {
  return DIGEST.test(Buffer.from(value, 'base64').toString('latin1'))
}

function digestOf(bytes: Uint8Array, keyring: Keyring): string {
  return Buffer.from(keyring.digest(bytes)).toString('base64')
}

/** What stands for no secret at all. */
export const NO_SECRETS: Secrets = new Map()

/** Puts digests in place of secrets, in the spec and in what client-side apply copied from it. */
export function conceal(
  object: JsonObject,
  keyring: Keyring,
  fields: readonly string[],
): Concealed {
  const secrets = new Map<string, string>()
  let concealed = object
  for (const name of fields) {
    const value = field(object, 'spec', name)
    if (!isSecret(value)) continue
    const digest = digestOf(Buffer.from(value, 'base64'), keyring)
    secrets.set(digest, value.replaceAll(/[\r\n]/g, ''))
    concealed = withPath(concealed, ['spec', name], digest)
  }
  if (fields.length === 0) return { object, secrets }
  return { object: concealLastApplied(concealed, keyring, fields), secrets }
}

/** Anything else is no secret: it is missing, a digest already, or not base64 and will be refused. */
function isSecret(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '' && isBase64(value) && !isDigest(value)
}

/** Where client-side `kubectl apply` keeps what it applied. */
export const LAST_APPLIED_PATH: readonly string[] = [
  'metadata',
  'annotations',
  LAST_APPLIED_ANNOTATION,
]

function concealLastApplied(
  object: JsonObject,
  keyring: Keyring,
  fields: readonly string[],
): JsonObject {
  const text = field(object, ...LAST_APPLIED_PATH)
  if (typeof text !== 'string' || text === '') return object
  const applied = parsedObject(text)
  // What is no object was not written by kubectl; it may hold anything, so none of it is kept.
  if (!applied) return withPath(object, LAST_APPLIED_PATH, undefined)
  let concealed = applied
  for (const name of fields) {
    const value = field(applied, 'spec', name)
    if (value === undefined || value === null || value === '') continue
    if (typeof value === 'string' && isDigest(value)) continue
    const given = typeof value === 'string' ? value : formatJson(value)
    const bytes = isBase64(given) ? Buffer.from(given, 'base64') : Buffer.from(given)
    concealed = withPath(concealed, ['spec', name], digestOf(bytes, keyring))
  }
  if (concealed === applied) return object
  return withPath(object, LAST_APPLIED_PATH, `${formatJson(concealed)}\n`)
}

/** The secrets that a concealed object stands for. */
export interface Kept {
  /** Field → secret, base64. */
  readonly secrets: Readonly<Record<string, string>>
  readonly errors: readonly FieldError[]
}

/** @param known - those just given, and those stored with the object. */
export function keepSecrets(object: JsonObject, known: Secrets, fields: readonly string[]): Kept {
  const secrets: Record<string, string> = {}
  const errors: FieldError[] = []
  for (const name of fields) {
    const value = field(object, 'spec', name)
    if (typeof value !== 'string' || value === '' || !isBase64(value)) continue
    const secret = known.get(value)
    if (secret !== undefined) secrets[name] = secret
    else {
      const rule =
        'is the digest of a credential that is not stored here; give the credential itself'
      errors.push(invalidField(`spec.${name}`, value, rule))
    }
  }
  return { secrets, errors }
}

/** What is bound to sealed credentials, so that those of one object open for no other. */
export function sealingContext(
  of: { readonly group: string; readonly resource: string },
  uid: string,
): string {
  return `${of.group}/${of.resource}/${uid}`
}

export function sealSecrets(
  secrets: Readonly<Record<string, string>>,
  keyring: Keyring,
  context: string,
): Buffer | null {
  if (Object.keys(secrets).length === 0) return null
  return keyring.seal(Buffer.from(JSON.stringify(secrets)), context)
}

/** Field → secret, base64. @throws when they were sealed with another key. */
export function openSecrets(
  sealed: Uint8Array | null,
  keyring: Keyring,
  context: string,
): Readonly<Record<string, string>> {
  return sealed ? JSON.parse(keyring.open(sealed, context).toString()) : {}
}

/** Undefined when another key sealed them, or they are damaged: GCM does not say more. */
export function openedSecrets(
  ...sealed: Parameters<typeof openSecrets>
): ReturnType<typeof openSecrets> | undefined {
  try {
    return openSecrets(...sealed)
  } catch {
    return undefined
  }
}

/** By the digest that is served in their place. */
export function byDigest(secrets: Readonly<Record<string, string>>, keyring: Keyring): Secrets {
  return new Map(
    Object.values(secrets).map((secret) => [
      digestOf(Buffer.from(secret, 'base64'), keyring),
      secret,
    ]),
  )
}

/** The object with its secrets in place of their digests again: for the syncers only. */
export function reveal(
  object: JsonObject,
  secrets: Readonly<Record<string, string>>,
  fields: readonly string[],
): JsonObject {
  return fields.reduce((revealed, name) => {
    const value = field(object, 'spec', name)
    if (typeof value !== 'string' || value === '') return revealed
    // A digest is no credential: it is not to be tried on a member.
    return withPath(revealed, ['spec', name], secrets[name])
  }, object)
}
