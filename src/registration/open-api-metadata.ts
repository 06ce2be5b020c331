/** OpenAPI schemas of what every object has in common: kubectl explains `metadata` by them. */
import type { JsonObject } from '../kube/kube-object.ts'

export const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'

export function reference(name: string): string {
  return `#/components/schemas/${name}`
}

/** A reference with a description: v3 allows none beside a `$ref`. */
export function refersTo(name: string, description: string): JsonObject {
  return { description, allOf: [{ $ref: reference(`${META}.${name}`) }] }
}

const text = (description: string): JsonObject => ({ description, type: 'string' })
const flag = (description: string): JsonObject => ({ description, type: 'boolean' })
const int64 = (description: string): JsonObject => ({
  description,
  type: 'integer',
  format: 'int64',
})
const textMap = (description: string): JsonObject => ({
  description,
  type: 'object',
  additionalProperties: { type: 'string', default: '' },
})

function listOf(description: string, name: string, rest: JsonObject = {}): JsonObject {
  return {
    description,
    type: 'array',
    items: { default: {}, allOf: [{ $ref: reference(`${META}.${name}`) }] },
    ...rest,
  }
}

function object(
  description: string,
  properties: JsonObject,
  required: readonly string[] = [],
): JsonObject {
  return { description, type: 'object', ...(required.length > 0 && { required }), properties }
}

const TYPE = {
  apiVersion: text('Group and version of this representation of the object.'),
  kind: text('The kind of the object, in CamelCase.'),
}

const OBJECT_META = object('What every object that is stored has.', {
  annotations: textMap(
    'Notes that programs and people attach to the object. Nothing can be selected by them.',
  ),
  creationTimestamp: refersTo('Time', 'When the object was created. Set by the server.'),
  deletionGracePeriodSeconds: int64(
    'Seconds that the object may take to go. Set together with deletionTimestamp.',
  ),
  deletionTimestamp: refersTo(
    'Time',
    'When deletion was asked for. The object goes once its list of finalizers is empty.',
  ),
  finalizers: {
    description: 'What must be done before the object goes; each entry is removed by who did it.',
    type: 'array',
    items: { type: 'string', default: '' },
    'x-kubernetes-list-type': 'set',
    'x-kubernetes-patch-strategy': 'merge',
  },
  generateName: text(
    'Start of a name that the server completes, for an object created without a name.',
  ),
  generation: int64('Counts the changes of what is wanted. Set by the server.'),
  labels: textMap('Keys and values by which objects are selected.'),
  managedFields: listOf('Who last wrote which field. Kept by the server.', 'ManagedFieldsEntry', {
    'x-kubernetes-list-type': 'atomic',
  }),
  name: text('Name of the object: there is one of it in a resource. It cannot be changed.'),
  namespace: text('Namespace of the object; empty for resources without namespaces.'),
  ownerReferences: listOf('Objects that this one depends on.', 'OwnerReference', {
    'x-kubernetes-list-map-keys': ['uid'],
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-patch-merge-key': 'uid',
    'x-kubernetes-patch-strategy': 'merge',
  }),
  resourceVersion: text(
    'Changes with every write. Sent back with a write, it refuses one that was meant for another state.',
  ),
  selfLink: text('No longer used.'),
  uid: text('Identifies the object among all that ever had its name. Set by the server.'),
})

const LIST_META = object('What every list has.', {
  continue: text('Token that asks for the rest of the list, when it is not complete.'),
  remainingItemCount: int64('How many objects follow, when that is known.'),
  resourceVersion: text('The state that is listed; a watch can start from it.'),
  selfLink: text('No longer used.'),
})

const STATUS = {
  ...object('The outcome of a request that is answered with no object.', {
    ...TYPE,
    code: {
      description: 'Suggested HTTP code.',
      type: 'integer',
      format: 'int32',
    },
    details: refersTo('StatusDetails', 'What the reason is about.'),
    message: text('The outcome in a sentence.'),
    metadata: refersTo('ListMeta', 'Standard metadata of a list.'),
    reason: text('The outcome in one word that programs may rely on.'),
    status: text('Success or Failure.'),
  }),
  'x-kubernetes-group-version-kind': [{ group: '', kind: 'Status', version: 'v1' }],
}

const DELETE_OPTIONS = {
  ...object('How an object is to be deleted.', {
    ...TYPE,
    dryRun: {
      description: 'All: everything is checked and nothing is deleted.',
      type: 'array',
      items: { type: 'string', default: '' },
      'x-kubernetes-list-type': 'atomic',
    },
    gracePeriodSeconds: int64('Accepted, and without effect here.'),
    orphanDependents: flag('Accepted, and without effect here. Use propagationPolicy.'),
    preconditions: refersTo('Preconditions', 'What must hold for the object to be deleted.'),
    propagationPolicy: text(
      'Orphan, Background or Foreground: what becomes of dependents, of which there are none here.',
    ),
  }),
  'x-kubernetes-group-version-kind': [{ group: '', kind: 'DeleteOptions', version: 'v1' }],
}

const MANAGED_FIELDS_ENTRY = object('What one manager wrote.', {
  apiVersion: text('The version in which the fields were written.'),
  fieldsType: text('FieldsV1.'),
  fieldsV1: refersTo('FieldsV1', 'The fields.'),
  manager: text('Name of the manager.'),
  operation: text('Apply or Update.'),
  subresource: text('The subresource that was written, if any.'),
  time: refersTo('Time', 'When the manager last took a field.'),
})

const OWNER_REFERENCE = {
  ...object(
    'An object that another one depends on.',
    {
      apiVersion: { ...text('Group and version of the owner.'), default: '' },
      blockOwnerDeletion: flag('Whether a foreground deletion of the owner waits for this object.'),
      controller: flag('Whether the owner is the one that manages this object.'),
      kind: { ...text('Kind of the owner.'), default: '' },
      name: { ...text('Name of the owner.'), default: '' },
      uid: { ...text('uid of the owner.'), default: '' },
    },
    ['apiVersion', 'kind', 'name', 'uid'],
  ),
  'x-kubernetes-map-type': 'atomic',
}

/** By their names without {@link META}. */
const SCHEMAS: Readonly<Record<string, JsonObject>> = {
  DeleteOptions: DELETE_OPTIONS,
  FieldsV1: { description: 'A set of fields, as a tree of their names.', type: 'object' },
  ListMeta: LIST_META,
  ManagedFieldsEntry: MANAGED_FIELDS_ENTRY,
  ObjectMeta: OBJECT_META,
  OwnerReference: OWNER_REFERENCE,
  Patch: {
    description: 'What is to be changed, in the form that Content-Type names.',
    type: 'object',
  },
  Preconditions: object('What must hold for a deletion.', {
    resourceVersion: text('The state that is to be deleted.'),
    uid: text('The object that is to be deleted.'),
  }),
  Status: STATUS,
  StatusCause: object('One thing that is wrong.', {
    field: text('The field that it is about.'),
    message: text('What is wrong, in a sentence.'),
    reason: text('What is wrong, in one word.'),
  }),
  StatusDetails: object('What a Status is about.', {
    causes: listOf('Everything that is wrong.', 'StatusCause', {
      'x-kubernetes-list-type': 'atomic',
    }),
    group: text('Group of the resource.'),
    kind: text('The resource, or the kind.'),
    name: text('Name of the object.'),
    retryAfterSeconds: {
      description: 'Seconds after which to try again.',
      type: 'integer',
      format: 'int32',
    },
    uid: text('uid of the object.'),
  }),
  Time: { description: 'A time as in RFC 3339.', type: 'string', format: 'date-time' },
}

export const METADATA_SCHEMAS: JsonObject = Object.fromEntries(
  Object.entries(SCHEMAS).map(([name, schema]) => [`${META}.${name}`, schema]),
)
