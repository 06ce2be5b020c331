/** One object as a member holds it: its bytes, and the few facts that lists and watches select by. */
import {
  type JsonMember,
  memberNamed,
  membersOf,
  setString,
  stringOf,
  withoutMembers,
} from './json-text.ts'

export interface StoredObject {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly revision: bigint
  /** With `kind`, `apiVersion`, `metadata.uid` and this revision as `metadata.resourceVersion`. */
  readonly text: Buffer
}

const TYPE_META = new Set(['kind', 'apiVersion'])

export interface Identity {
  readonly apiVersion: string
  readonly kind: string
  readonly revision: bigint
  /** What is stored under a key now: an update keeps its uid and creation time. */
  readonly previous: (key: string) => StoredObject | undefined
  /** For an object that is new and brings none. */
  readonly fresh: { readonly uid: string; readonly creationTimestamp: string }
}

/**
 * Takes an object in as JSON text.
 *
 * What a server fills in is filled in (type, uid, creation time, resourceVersion); all other
 * bytes stay.
 */
export function storedObject(given: Buffer, identity: Identity): StoredObject {
  const { revision, fresh } = identity
  const typed = withTypeMeta(given, identity)
  const previous = identity.previous(keyOf(read(typed, revision)))
  const kept = (key: 'uid' | 'creationTimestamp') =>
    (previous && stringOf(previous.text, metadataMember(previous.text, key))) ?? fresh[key]
  let text = typed
  for (const key of ['uid', 'creationTimestamp'] as const) {
    const given = metadataMember(text, key)
    if (!given) text = setInMetadata(text, { key, value: kept(key) })
  }
  return read(setInMetadata(text, { key: 'resourceVersion', value: String(revision) }), revision)
}

function withTypeMeta(given: Buffer, { apiVersion, kind }: Identity): Buffer {
  let text = given
  for (const [key, value] of [
    ['apiVersion', apiVersion],
    ['kind', kind],
  ] as const) {
    if (!memberNamed(membersOf(text), key)) text = setString(text, 0, { key, value })
  }
  return text
}

/** The same object at another revision: what a DELETED event carries. */
export function atRevision(object: StoredObject, revision: bigint): StoredObject {
  const entry = { key: 'resourceVersion', value: String(revision) }
  return { ...object, revision, text: setInMetadata(object.text, entry) }
}

/** As an item of a list of a built-in type: without `kind` and `apiVersion`. */
export function withoutTypeMeta(object: StoredObject): Buffer {
  return withoutMembers(object.text, TYPE_META)
}

/** As `PartialObjectMetadata` of meta.k8s.io/v1. */
export function metadataOnly(object: StoredObject): Buffer {
  const metadata = memberNamed(membersOf(object.text), 'metadata')!
  return Buffer.concat([
    Buffer.from('{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":'),
    object.text.subarray(metadata.valueStart, metadata.end),
    Buffer.from('}'),
  ])
}

/** Under which an object is kept: lists are in the order of these. */
export function keyOf(object: { namespace: string; name: string }): string {
  return object.namespace === '' ? object.name : `${object.namespace}/${object.name}`
}

/** Labels as they are now; what is not a string is left out. */
export function labelsOf(object: StoredObject): ReadonlyMap<string, string> {
  const labels = metadataMember(object.text, 'labels')
  const entries = labels ? membersOf(object.text, labels.valueStart) : []
  return new Map(
    entries.flatMap((entry): [string, string][] => {
      const value = stringOf(object.text, entry)
      return value === undefined ? [] : [[entry.key, value]]
    }),
  )
}

function read(text: Buffer, revision: bigint): StoredObject {
  return {
    namespace: stringOf(text, metadataMember(text, 'namespace')) ?? '',
    name: stringOf(text, metadataMember(text, 'name')) ?? '',
    uid: stringOf(text, metadataMember(text, 'uid')) ?? '',
    revision,
    text,
  }
}

function metadataMember(text: Buffer, key: string): JsonMember | undefined {
  const metadata = memberNamed(membersOf(text), 'metadata')
  return metadata && memberNamed(membersOf(text, metadata.valueStart), key)
}

function setInMetadata(text: Buffer, entry: { key: string; value: string }): Buffer {
  const metadata = memberNamed(membersOf(text), 'metadata')
  if (!metadata) throw new Error('an object needs metadata')
  return setString(text, metadata.valueStart, entry)
}
