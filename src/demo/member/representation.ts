/** The form a client asks for: whole objects, or their metadata alone. */
import { apiVersionOf } from '../../kube/group-resource.ts'
import { memberNamed, membersOf, setString, stringOf } from './json-text.ts'
import { MemberError } from './reply.ts'
import type { MemberResource } from './served-resources.ts'
import { metadataOnly, type StoredObject, withoutTypeMeta } from './stored-object.ts'

export interface Representation {
  readonly listKind: string
  readonly listApiVersion: string
  item(object: StoredObject): Buffer
  /** As the answer to a get, and inside watch events: always with `kind` and `apiVersion`. */
  single(object: StoredObject): Buffer
  bookmark(revision: bigint, annotations?: Readonly<Record<string, string>>): string
}

/** @throws {@link MemberError} 406 when nothing that is asked for is offered. */
export function representationOf(resource: MemberResource, accept: string): Representation {
  for (const clause of accept === '' ? ['*/*'] : accept.split(',')) {
    const [type = '', ...parameters] = clause.split(';').map((part) => part.trim())
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue
    const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice(3)
    if (as === undefined) return wholeObjects(resource)
    if (as.startsWith('PartialObjectMetadata')) return onlyMetadata(resource)
  }
  throw new MemberError({
    code: 406,
    reason: 'NotAcceptable',
    message:
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  })
}

function wholeObjects(resource: MemberResource): Representation {
  const apiVersion = apiVersionOf(resource)
  // One object is served in every version of its type; where it is not kept in that one, it is
  // put into its form. Text that needs nothing stays as it is, to the byte.
  const convert = (text: Buffer) => {
    const of = stringOf(text, memberNamed(membersOf(text), 'apiVersion'))
    if (of === apiVersion) return text
    const converted = resource.convert ? resource.convert(text) : text
    return setString(converted, 0, { key: 'apiVersion', value: apiVersion })
  }
  return {
    listKind: resource.listKind ?? `${resource.kind}List`,
    listApiVersion: apiVersion,
    single: (object) => convert(object.text),
    item: (object) =>
      resource.custom
        ? convert(object.text)
        : withoutTypeMeta({ ...object, text: convert(object.text) }),
    bookmark: (revision, annotations) =>
      JSON.stringify({
        // The order in which real servers write built-in and custom kinds.
        ...(resource.custom
          ? { apiVersion, kind: resource.kind }
          : { kind: resource.kind, apiVersion }),
        metadata: { ...(annotations && { annotations }), resourceVersion: String(revision) },
      }),
  }
}

function onlyMetadata(resource: MemberResource): Representation {
  const type = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' }
  return {
    ...wholeObjects(resource),
    listKind: 'PartialObjectMetadataList',
    listApiVersion: type.apiVersion,
    single: metadataOnly,
    item: metadataOnly,
    bookmark: (revision, annotations) =>
      JSON.stringify({
        ...type,
        metadata: { ...(annotations && { annotations }), resourceVersion: String(revision) },
      }),
  }
}
