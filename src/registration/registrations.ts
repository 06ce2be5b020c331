/**
 * Everything that can be done with registrations and rights, whatever asks for it.
 *
 * HTTP is in apiserver/registration; what syncers see is in database-source.ts.
 */
import { type ApplyRequest, applyPatch } from './apply.ts'
import { type CreateRequest, createObject } from './create.ts'
import {
  type DeleteCollectionRequest,
  type Deleted,
  type DeleteRequest,
  deleteCollection,
  deleteObject,
} from './delete.ts'
import {
  type GetRequest,
  getObject,
  listObjects,
  type ObjectList,
  type ObjectListRequest,
  type Served,
} from './list.ts'
import { type PatchRequest, patchObject, type ReplaceRequest, replaceObject } from './update.ts'
import { createWakes, type Wakes } from './wakes.ts'
import { type WatchEvent, type WatchRequest, watchObjects } from './watch.ts'
import type { RegistrationContext, Written } from './write-object.ts'

export interface Registrations {
  get(request: GetRequest): Promise<Served>
  list(request: ObjectListRequest): Promise<ObjectList>
  watch(request: WatchRequest, signal: AbortSignal): AsyncGenerator<WatchEvent>
  create(request: CreateRequest): Promise<Written>
  replace(request: ReplaceRequest): Promise<Written>
  patch(request: PatchRequest): Promise<Written>
  apply(request: ApplyRequest): Promise<Written>
  delete(request: DeleteRequest): Promise<Deleted>
  deleteCollection(
    request: DeleteCollectionRequest,
  ): Promise<{ readonly resourceVersion: string; readonly objects: readonly string[] }>
  /** What the parts of this folder work with. */
  readonly context: RegistrationContext & { readonly wakes: Wakes }
  /** Ends the listening; the store is closed by whoever opened it. */
  close(): Promise<void>
}

export function createRegistrations(parts: RegistrationContext): Registrations {
  const context = { ...parts, wakes: createWakes(parts.store) }
  return {
    get: (request) => getObject(context, request),
    list: (request) => listObjects(context, request),
    watch: (request, signal) => watchObjects(context, request, signal),
    create: (request) => createObject(context, request),
    replace: (request) => replaceObject(context, request),
    patch: (request) => patchObject(context, request),
    apply: (request) => applyPatch(context, request),
    delete: (request) => deleteObject(context, request),
    deleteCollection: (request) => deleteCollection(context, request),
    context,
    close: () => context.wakes.close(),
  }
}
