/**
 * Writes to the objects of a member server, as an API server takes them: create, replace, the three
 * patches, delete, with ownership, finalizers and optimistic locking.
 *
 * The rules are those of our own registration API (src/registration/), which are held against what
 * a real API server answered; here they work on any kind, in memory, and hide no credentials.
 */
import type { Clock } from '../../../src/clock.ts'
import type { MemberResource, MemberServer } from '../../../src/demo/member-server.ts'
import { apiVersionOf } from '../../../src/kube/group-resource.ts'
import type { Json, JsonObject } from '../../../src/kube/kube-object.ts'
import { notFound, StatusError } from '../../../src/kube/status-error.ts'
import { timestamp } from '../../../src/kube/timestamp.ts'
import { parseBody } from '../../../src/registration/body-text.ts'
import { decodeObject } from '../../../src/registration/decode.ts'
import { jsonPatch } from '../../../src/registration/json-patch.ts'
import {
  field,
  formatJson,
  isArray,
  isObject,
  parseJson,
  sameJson,
  withField,
} from '../../../src/registration/json-text.ts'
import { REGISTRATION_KINDS, type RegistrationKind } from '../../../src/registration/kinds.ts'
import {
  alreadyExists,
  conflict,
  generateName,
  isFinalized,
  markDeleted,
  metadataOf,
  nameOf,
  prepareCreate,
  prepareUpdate,
  requireResourceVersion,
  type Subresource,
  withMetadata,
} from '../../../src/registration/lifecycle.ts'
import { recordUpdate, withoutManagers } from '../../../src/registration/managed-fields.ts'
import { mergePatch } from '../../../src/registration/merge-patch.ts'
import { prune } from '../../../src/registration/prune.ts'
import { METADATA } from '../../../src/registration/schema.ts'
import { applyObject } from '../../../src/registration/server-side-apply.ts'
import { finalizersOf } from '../../../src/registration/validate-metadata.ts'
import { validateSchema } from '../../../src/registration/validate-schema.ts'
import { invalid } from '../../../src/registration/validation.ts'

export interface Write {
  readonly method: string
  readonly resource: MemberResource
  readonly namespace: string
  /** `''` for a create. */
  readonly name: string
  readonly subresource: Subresource
  readonly contentType: string
  readonly body: string
  readonly fieldManager: string
  readonly force: boolean
}

export interface WriteAnswer {
  readonly code: number
  readonly text: string
}

const NAMESPACES = { group: '', resource: 'namespaces' }

export class ObjectWrites {
  readonly #server: MemberServer
  readonly #clock: Clock

  constructor(server: MemberServer, clock: Clock) {
    this.#server = server
    this.#clock = clock
  }

  /** @throws StatusError in a real API server's words. */
  answer(write: Write): WriteAnswer {
    switch (write.method) {
      case 'POST':
        return { code: 201, text: this.#create(write) }
      case 'PUT':
        return { code: 200, text: this.#replace(write) }
      case 'PATCH':
        return this.#patch(write)
      case 'DELETE':
        return { code: 200, text: this.#delete(write) }
      default:
        throw new StatusError('MethodNotAllowed', 'the server does not allow this method')
    }
  }

  #create(write: Write): string {
    const kind = kindOf(write.resource)
    const { namespace } = write
    if (namespace !== '' && !this.#server.get(NAMESPACES, '', namespace)) {
      throw notFound(NAMESPACES, namespace)
    }
    const { object: given } = decodeObject({ text: write.body, format: 'json' }, kind)
    const generated = metadataOf(given).generateName
    const name = nameOf(given) || generateName(String(generated ?? ''))
    if (this.#server.get(kind, namespace, name)) throw alreadyExists(kind, name)
    return this.#store(write, undefined, withMetadata(this.#fresh(kind, given), { name }))
  }

  #fresh(kind: RegistrationKind, object: JsonObject): JsonObject {
    const { uid: _given, ...metadata } = metadataOf(prepareCreate(object, kind, this.#clock.now()))
    return { ...object, ...(kind.hasStatus && { status: undefined }), metadata }
  }

  #replace(write: Write): string {
    const kind = kindOf(write.resource)
    const current = this.#current(write)
    const { object } = decodeObject({ text: write.body, format: 'json' }, kind)
    if (write.resource.custom) requireResourceVersion(object, kind)
    return this.#store(write, current, this.#next(write, current, object))
  }

  #next(write: Write, current: JsonObject, next: JsonObject): JsonObject {
    const { subresource, resource } = write
    const kind = kindOf(resource)
    const prepared = prepareUpdate({ current, next, kind, subresource })
    return resource.custom ? prepared : withMetadata(prepared, { generation: undefined })
  }

  #patch(write: Write): WriteAnswer {
    if (write.contentType === 'application/apply-patch+yaml') return this.#apply(write)
    const current = this.#current(write)
    const { value: patch } = parseJson(write.body)
    const patched =
      write.contentType === 'application/json-patch+json'
        ? jsonPatch(current, patch)
        : mergePatch(current, patch)
    const next = this.#next(write, current, patched as JsonObject)
    return { code: 200, text: this.#store(write, current, next) }
  }

  #apply(write: Write): WriteAnswer {
    const { resource, namespace, name, subresource, force, fieldManager } = write
    const kind = kindOf(resource)
    const live = this.#find(write)
    const applied = writable(parseBody({ text: write.body, format: 'yaml' }).value, kind, write)
    const { uid } = metadataOf(applied)
    if (!live && (subresource !== '' || uid)) throw notFound(kind, name)
    const manager = { manager: fieldManager, operation: 'Apply' as const, subresource }
    const bare = { apiVersion: apiVersionOf(kind), kind: kind.kind }
    const merged = applyObject({
      live: live ?? bare,
      applied,
      schema: kind.schema,
      by: { ...manager, apiVersion: apiVersionOf(kind) },
      force,
      time: timestamp(this.#clock.now()),
    })
    if (live) {
      const next = this.#next(write, live, merged)
      return { code: 200, text: this.#storeOwned(write, live, next) }
    }
    const fresh = withMetadata(this.#fresh(kind, merged), {
      name,
      namespace: namespace || undefined,
    })
    return { code: 201, text: this.#storeOwned(write, undefined, fresh) }
  }

  #delete(write: Write): string {
    const kind = kindOf(write.resource)
    const current = this.#current(write)
    const metadata = metadataOf(current)
    const wanted =
      write.body === '' ? undefined : field(parseJson(write.body).value, 'preconditions')
    const uid = wanted === undefined ? undefined : field(wanted, 'uid')
    if (uid !== undefined && uid !== metadata.uid) {
      throw conflict(kind, write.name, `Precondition failed: UID in precondition: ${uid}`)
    }
    if (finalizersOf(metadata).length > 0) {
      if (metadata.deletionTimestamp !== undefined) return formatJson(current)
      return this.#put(write, markDeleted(current, this.#clock.now()))
    }
    this.#server.remove(kind, write.namespace, write.name)
    return JSON.stringify({
      ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' },
      details: { name: write.name, group: kind.group, kind: kind.resource, uid: metadata.uid },
    })
  }

  #store(write: Write, current: JsonObject | undefined, next: JsonObject): string {
    const kind = kindOf(write.resource)
    const { fieldManager: manager, subresource } = write
    const apiVersion = apiVersionOf(kind)
    const owned = recordUpdate({
      live: current ?? { apiVersion, kind: kind.kind },
      now: next,
      schema: kind.schema,
      by: { manager, operation: 'Update', apiVersion, subresource },
      time: timestamp(this.#clock.now()),
    })
    return this.#storeOwned(write, current, owned)
  }

  /** @param owned - with who owns what recorded in it. */
  #storeOwned(write: Write, current: JsonObject | undefined, owned: JsonObject): string {
    const kind = kindOf(write.resource)
    const errors = validateSchema(owned, kind.schema)
    if (errors.length > 0)
      throw invalid({ group: kind.group, kind: kind.kind, name: nameOf(owned) }, errors)
    if (current && isNoChange(current, owned)) return formatJson(current)
    if (!isFinalized(owned)) return this.#put(write, owned)
    this.#server.remove(kind, write.namespace, nameOf(owned))
    return formatJson(owned)
  }

  #put({ resource, namespace }: Write, object: JsonObject): string {
    const placed = withMetadata(object, {
      namespace: namespace || undefined,
      resourceVersion: undefined,
    })
    return this.#server.put(resource, formatJson(placed)).text.toString()
  }

  #find({ resource, namespace, name }: Write): JsonObject | undefined {
    const found = this.#server.get(resource, namespace, name)
    return found && (parseJson(found.text.toString()).value as JsonObject)
  }

  #current(write: Write): JsonObject {
    const found = this.#find(write)
    if (!found) throw notFound(write.resource, write.name)
    return found
  }
}

/** Of built-in kinds nothing is known but the metadata: maps merge, lists are one value. */
function kindOf(resource: MemberResource): RegistrationKind {
  const { group, version, kind } = resource
  const known = REGISTRATION_KINDS.find((one) => one.group === group && one.kind === kind)
  if (known) return known
  return {
    ...resource,
    ...{ group, version, kind, verbs: [], columns: [], hasStatus: false, listKind: `${kind}List` },
    schema: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { metadata: METADATA },
    },
  }
}

/** What an apply may write: of a status, nothing else, and which object it is meant for. */
function writable(given: Json, kind: RegistrationKind, { subresource, name }: Write): JsonObject {
  const { value, unknown } = prune(given, kind.schema)
  if (!isObject(value)) throw new StatusError('BadRequest', 'an apply patch must be an object')
  if (unknown.length > 0) {
    throw new StatusError('BadRequest', `.${unknown[0]}: field not declared in schema`)
  }
  const { uid, resourceVersion } = metadataOf(value)
  if (subresource === 'status') {
    return { ...value, spec: undefined, metadata: { name, uid, resourceVersion } }
  }
  return kind.hasStatus ? withField(value, 'status', undefined) : value
}

function isNoChange(before: JsonObject, after: JsonObject): boolean {
  const managers = (object: JsonObject) => {
    const entries = metadataOf(object).managedFields
    return isArray(entries)
      ? entries.map((entry) => withField(entry as JsonObject, 'time', undefined))
      : []
  }
  return (
    sameJson(withoutManagers(before), withoutManagers(after)) &&
    sameJson(managers(before), managers(after))
  )
}
