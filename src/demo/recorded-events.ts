/**
 * Recorded events, naming what they are about as controllers do: by version and uid.
 *
 * They were made by hand, with a kind and a name. `kubectl describe` asks for the events of a uid,
 * `kubectl events --for` (1.28 and later) for those of an apiVersion.
 */
import { type JsonMember, memberNamed, membersOf, setString, stringOf } from './member/json-text.ts'
import type { RecordedObject } from './recorded.ts'

interface Identity {
  readonly apiVersion: string
  readonly uid: string
}

/** The same objects; an event about one of them says which it is, unless it says so already. */
export function withEventsOfObjects(recorded: readonly RecordedObject[]): RecordedObject[] {
  const identities = new Map(recorded.flatMap(({ text }) => identityOf(text)))
  return recorded.map((object) =>
    object.of.resource === 'events' ? { ...object, text: named(object.text, identities) } : object,
  )
}

function identityOf(text: Buffer): Array<[key: string, identity: Identity]> {
  const members = membersOf(text)
  const metadata = membersAt(text, memberNamed(members, 'metadata'))
  const string = (of: readonly JsonMember[], key: string) => stringOf(text, memberNamed(of, key))
  const [apiVersion, uid] = [string(members, 'apiVersion'), string(metadata, 'uid')]
  if (apiVersion === undefined || uid === undefined) return []
  const key = keyOf({
    kind: string(members, 'kind'),
    namespace: string(metadata, 'namespace'),
    name: string(metadata, 'name'),
  })
  return [[key, { apiVersion, uid }]]
}

function named(text: Buffer, identities: ReadonlyMap<string, Identity>): Buffer {
  const about = memberNamed(membersOf(text), 'involvedObject')
  const members = membersAt(text, about)
  const string = (key: string) => stringOf(text, memberNamed(members, key))
  const [kind, namespace, name] = [string('kind'), string('namespace'), string('name')]
  const identity = identities.get(keyOf({ kind, namespace, name }))
  if (!about || !identity || string('uid') !== undefined) return text
  const versioned = setString(text, about.valueStart, {
    key: 'apiVersion',
    value: identity.apiVersion,
  })
  return setString(versioned, about.valueStart, { key: 'uid', value: identity.uid })
}

function membersAt(text: Buffer, member: JsonMember | undefined): JsonMember[] {
  return member ? membersOf(text, member.valueStart) : []
}

function keyOf(of: Readonly<Record<'kind' | 'namespace' | 'name', string | undefined>>): string {
  return `${of.kind}/${of.namespace ?? ''}/${of.name}`
}
