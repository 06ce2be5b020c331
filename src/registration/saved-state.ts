/**
 * Everything of our own API groups as a backup holds it, and its way back into an empty store.
 *
 * Credentials stay sealed: without the key that goes with the backup they are of no use. What is
 * mirrored is not in it, because the members still have that.
 */
import type { Keyring } from '../keyring.ts'
import type { GroupResource } from '../kube/group-resource.ts'
import type { JsonObject } from '../kube/kube-object.ts'
import type { Store } from '../store/connect.ts'
import { allRegistrations, writeRegistrations } from '../store/registrations.ts'
import {
  restoreAccessTokens,
  type SavedAccessToken,
  saveAccessTokens,
} from '../store/saved-access-tokens.ts'
import { keepClusterInStep } from './cluster-step.ts'
import { openSecrets, sealingContext } from './credentials.ts'
import { formatJson, isObject, parseJson, withField } from './json-text.ts'
import { keyOf, kindOfResource, type RegistrationKind } from './kinds.ts'
import { metadataOf, nameOf, withMetadata } from './lifecycle.ts'
import { validateMetadata } from './validate-metadata.ts'
import { validateSchema } from './validate-schema.ts'

export interface SavedRegistration extends GroupResource {
  /** JSON as served. */
  readonly object: string
  /** Sealed, in base64. */
  readonly credentials: string | null
}

export interface SavedState {
  readonly registrations: readonly SavedRegistration[]
  readonly accessTokens: readonly SavedAccessToken[]
}

/** What is to be restored is not a saved state, or the store is not empty. */
export class RestoreRefused extends Error {
  override readonly name = 'RestoreRefused'
}

export async function saveState(store: Store): Promise<SavedState> {
  const rows = await allRegistrations(store)
  return {
    registrations: rows.map(({ group, resource, object, credentials }) => ({
      group,
      resource,
      object,
      credentials: credentials?.toString('base64') ?? null,
    })),
    accessTokens: await saveAccessTokens(store.db),
  }
}

interface Checked {
  readonly kind: RegistrationKind
  readonly object: JsonObject
  readonly credentials: Buffer | null
}

export interface RestoreParts {
  readonly store: Store
  /** Of the key that goes with the saved state. */
  readonly keyring: Keyring
  /** Called when everything is checked, just before it counts. */
  readonly beforeCommit: () => void
}

/**
 * All of it, or nothing.
 *
 * @throws {@link RestoreRefused} naming the first thing that is wrong.
 */
export async function restoreState(
  { store, keyring, beforeCommit }: RestoreParts,
  state: SavedState,
): Promise<void> {
  const checked = state.registrations.map((saved) => check(saved, keyring))
  await writeRegistrations(store, async (writer) => {
    const present = await saveState({ ...store, db: writer.transaction })
    if (present.registrations.length + present.accessTokens.length > 0) {
      throw new RestoreRefused('the store has registrations, rights or tokens already')
    }
    for (const { kind, object, credentials } of checked) {
      const metadata = metadataOf(object)
      // What a syncer said there is not so here until one has said it again.
      const next = withField(
        withMetadata(object, { resourceVersion: writer.nextRevision() }),
        'status',
        undefined,
      )
      await writer.write(keyOf(kind, nameOf(object)), {
        type: 'ADDED',
        uid: String(metadata.uid),
        object: formatJson(next),
        previous: null,
        credentials,
      })
      await keepClusterInStep(writer.transaction, kind, { after: metadata })
    }
    await restoreAccessTokens(writer.transaction, state.accessTokens)
    beforeCommit()
  })
}

function check({ group, resource, object, credentials }: SavedRegistration, keyring: Keyring) {
  const checked: Checked = {
    kind: kindOf(group, resource),
    object: parsed(object),
    credentials: credentials === null ? null : Buffer.from(credentials, 'base64'),
  }
  const name = `${resource} ${JSON.stringify(nameOf(checked.object))}`
  const errors = [
    ...validateMetadata(metadataOf(checked.object)),
    ...validateSchema(checked.object, checked.kind.schema),
  ]
  const [first] = errors
  if (first) throw new RestoreRefused(`${name}: ${first.field}: ${first.message}`)
  refuseOtherKey(checked, name, keyring)
  return checked
}

function refuseOtherKey({ kind, object, credentials }: Checked, name: string, keyring: Keyring) {
  try {
    openSecrets(credentials, keyring, sealingContext(kind, String(metadataOf(object).uid)))
  } catch (error) {
    throw new RestoreRefused(`${name}: its credentials were sealed with another key`, {
      cause: error,
    })
  }
}

function kindOf(group: string, resource: string): RegistrationKind {
  try {
    return kindOfResource(group, resource)
  } catch (error) {
    throw new RestoreRefused(`${resource}.${group} is not known to this release`, { cause: error })
  }
}

function parsed(text: string): JsonObject {
  try {
    const { value } = parseJson(text)
    if (isObject(value)) return value
  } catch (error) {
    throw new RestoreRefused('an object in it is not JSON', { cause: error })
  }
  throw new RestoreRefused('an object in it is no JSON object')
}
