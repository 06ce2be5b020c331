/**
 * Keeps our own store in line with registrations that live elsewhere: in a management cluster.
 *
 * What is stored is what syncers and API servers work from: with credentials sealed, with the status
 * that our syncers wrote, and without who owns which field. Nobody is served from it, so nothing is
 * checked here: the API server that took the object in has done that.
 */
import type { Json, JsonObject } from '../kube/kube-object.ts'
import { CLUSTER_GROUP } from '../kube/pedia-cluster.ts'
import { checkLease } from '../store/leases.ts'
import {
  allRegistrations,
  type RegistrationWriter,
  readRegistration,
  type StoredRegistration,
  writeRegistrations,
} from '../store/registrations.ts'
import { keepClusterInStep } from './cluster-step.ts'
import {
  conceal,
  keepSecrets,
  openedSecrets,
  sealingContext,
  sealSecrets,
  secretFieldsOf,
} from './credentials.ts'
import { field, formatJson, sameJson, withField } from './json-text.ts'
import { keyOf, kindOfResource, type RegistrationKind } from './kinds.ts'
import { metadataOf, nameOf, withMetadata } from './lifecycle.ts'
import type { StatusWrite } from './registration-source.ts'
import { currentOf, type RegistrationContext, removeObject } from './write-object.ts'

/** All that there is of one kind. */
export interface WantedRegistrations {
  readonly kind: RegistrationKind
  /** As the management cluster has them, credentials in their fields. */
  readonly objects: readonly JsonObject[]
  /** Names that are left as they are stored: what they should be is not known now. */
  readonly unknown: ReadonlySet<string>
}

export interface MirrorFailure {
  /** `pediaclusters "dot-01"` */
  readonly what: string
  readonly error: unknown
}

/**
 * Writes what differs, each object in a transaction of its own, so that one that cannot be stored
 * holds up no other.
 *
 * @param mayWrite - asked before each transaction: false once another process does this.
 * @returns what could not be written: to be tried again.
 * @throws StatusError when the database cannot be read.
 */
export async function mirrorRegistrations(
  context: RegistrationContext,
  wanted: readonly WantedRegistrations[],
  mayWrite: () => boolean,
): Promise<readonly MirrorFailure[]> {
  const failures: MirrorFailure[] = []
  for (const change of await changesOf(context, wanted)) {
    if (!mayWrite()) return failures
    try {
      await writeRegistrations(context.store, (writer) => change.write(writer))
    } catch (error) {
      failures.push({ what: `${change.kind.resource} ${JSON.stringify(change.name)}`, error })
    }
  }
  return failures
}

interface Change {
  readonly kind: RegistrationKind
  readonly name: string
  readonly write: (writer: RegistrationWriter) => Promise<void>
}

async function changesOf(
  context: RegistrationContext,
  wanted: readonly WantedRegistrations[],
): Promise<readonly Change[]> {
  const stored = await allRegistrations(context.store)
  return wanted.flatMap(({ kind, objects, unknown }) => {
    const rows = new Map(
      stored
        .filter(({ group, resource }) => group === kind.group && resource === kind.resource)
        .map((row) => [row.name, row] as const),
    )
    const names = new Set(objects.map(nameOf))
    const gone = [...rows.keys()].filter((name) => !names.has(name) && !unknown.has(name))
    const differing = objects.filter((object) => {
      const row = rows.get(nameOf(object))
      return !row || differs(context, row, { kind, object })
    })
    return [
      ...gone.map((name) => removal(kind, name)),
      ...differing.map((object) => writing(context, { kind, object })),
    ]
  })
}

interface Wanted {
  readonly kind: RegistrationKind
  readonly object: JsonObject
}

function removal(kind: RegistrationKind, name: string): Change {
  return {
    ...{ kind, name },
    write: async (writer) => {
      const row = await writer.read(keyOf(kind, name))
      if (row) await removeObject(writer, kind, currentOf(row))
    },
  }
}

function writing(context: RegistrationContext, wanted: Wanted): Change {
  const { kind, object } = wanted
  const name = nameOf(object)
  return { kind, name, write: (writer) => put(writer, context, wanted) }
}

async function put(
  writer: RegistrationWriter,
  context: RegistrationContext,
  wanted: Wanted,
): Promise<void> {
  const { kind, object } = wanted
  const key = keyOf(kind, nameOf(object))
  const found = await writer.read(key)
  const uid = uidOf(object)
  // Deleted and created again: another registration, with objects of its own.
  const replaced = found && found.uid !== uid
  if (replaced) await removeObject(writer, kind, currentOf(found))
  const row = replaced ? undefined : found
  const { next, secrets } = asStored(context, row, wanted)
  await writer.write(key, {
    type: row ? 'MODIFIED' : 'ADDED',
    uid,
    object: formatJson(withMetadata(next, { resourceVersion: writer.nextRevision() })),
    previous: row?.object ?? null,
    credentials: sealSecrets(secrets, context.keyring, sealingContext(kind, uid)),
  })
  await keepClusterInStep(writer.transaction, kind, {
    ...(row && { before: metadataOf(currentOf(row).object) }),
    after: metadataOf(next),
  })
}

function uidOf(object: JsonObject): string {
  return String(metadataOf(object).uid)
}

interface Stored {
  /** Without a resourceVersion. */
  readonly next: JsonObject
  readonly secrets: Readonly<Record<string, string>>
}

function asStored(
  { keyring }: RegistrationContext,
  row: StoredRegistration | undefined,
  { kind, object }: Wanted,
): Stored {
  const fields = secretFieldsOf(kind)
  const concealed = conceal(object, keyring, fields)
  const bare = withMetadata(concealed.object, {
    managedFields: undefined,
    resourceVersion: undefined,
  })
  const status = row ? field(currentOf(row).object, 'status') : field(object, 'status')
  return {
    next: withField(bare, 'status', status),
    secrets: keepSecrets(bare, concealed.secrets, fields).secrets,
  }
}

function differs(context: RegistrationContext, row: StoredRegistration, wanted: Wanted): boolean {
  if (row.uid !== uidOf(wanted.object)) return true
  const { next, secrets } = asStored(context, row, wanted)
  const current = withMetadata(currentOf(row).object, { resourceVersion: undefined })
  const sealing = sealingContext(wanted.kind, row.uid)
  // Those that another key sealed are sealed anew.
  const opened = openedSecrets(row.credentials, context.keyring, sealing)
  return !sameJson(current, next) || !sameJson(opened, secrets)
}

const CLUSTERS = kindOfResource(CLUSTER_GROUP, 'pediaclusters')

/** The status that is stored of the registration `uid`; undefined when there is no such one. */
export async function storedStatus(
  { store }: RegistrationContext,
  { name, uid }: Pick<StatusWrite, 'name' | 'uid'>,
): Promise<{ readonly status: Json | undefined } | undefined> {
  const row = await readRegistration(store, keyOf(CLUSTERS, name))
  return row?.uid === uid ? { status: field(currentOf(row).object, 'status') } : undefined
}

/**
 * Remembers the status that was written to the management cluster.
 *
 * @throws LeaseLost when another process speaks for the cluster now.
 */
export async function storeStatus(
  { store }: RegistrationContext,
  { name, uid, lease, status }: StatusWrite,
): Promise<void> {
  const wanted = JSON.parse(JSON.stringify(status)) as Json
  await writeRegistrations(store, async (writer) => {
    const row = await writer.read(keyOf(CLUSTERS, name))
    if (row?.uid !== uid) return
    await checkLease(writer.transaction, lease)
    const { object } = currentOf(row)
    if (sameJson(field(object, 'status'), wanted)) return
    const next = withMetadata(withField(object, 'status', wanted), {
      resourceVersion: writer.nextRevision(),
    })
    await writer.write(keyOf(CLUSTERS, name), {
      ...{ type: 'MODIFIED', uid, object: formatJson(next) },
      previous: row.object,
      credentials: row.credentials,
    })
  })
}
