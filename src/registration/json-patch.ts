/**
 * JSON patch (RFC 6902), with a real API server's answers to what cannot be applied.
 *
 * @see apiserver/pkg/endpoints/handlers/patch.go
 */
import patches, { type Operation } from 'fast-json-patch'
import type { Json, JsonObject } from '../kube/kube-object.ts'
import { StatusError } from '../kube/status-error.ts'
import { formatJson, isArray, isObject } from './json-text.ts'

const OPERATIONS_MOST = 10_000
/** Of all copies of one patch together: a few that copy into themselves would double without end. */
const COPIED_BYTES_MOST = 3 * 1024 * 1024

/** @throws 400 when it is no patch, 413 when it is too long, 422 when it does not apply. */
export function jsonPatch(target: JsonObject, patch: Json): Json {
  if (!isArray(patch) || !patch.every(isObject)) {
    throw new StatusError('BadRequest', 'a JSON patch must be an array of operations')
  }
  if (patch.length > OPERATIONS_MOST) {
    throw new StatusError(
      'RequestEntityTooLarge',
      `The allowed maximum operations in a JSON patch is ${OPERATIONS_MOST}, got ${patch.length}`,
    )
  }
  let document: unknown = structuredClone(target)
  let copied = 0
  for (const operation of patch as unknown as readonly Operation[]) {
    if (operation.op === 'copy') copied = checkCopied(copied + copiedBytes(document, operation))
    document = applyOne(document, operation)
  }
  return document as Json
}

/** @throws 413 */
function checkCopied(bytes: number): number {
  if (bytes <= COPIED_BYTES_MOST) return bytes
  throw new StatusError(
    'RequestEntityTooLarge',
    `Unable to complete the copy, the accumulated size increase of copy is ${bytes}, exceeding the limit ${COPIED_BYTES_MOST}`,
  )
}

/** Zero for what cannot be copied: applying it says so. */
function copiedBytes(document: unknown, { from }: Operation & { op: 'copy' }): number {
  try {
    const value = patches.getValueByPointer(document, from) as Json | undefined
    return value === undefined ? 0 : Buffer.byteLength(formatJson(value))
  } catch {
    return 0
  }
}

function applyOne(document: unknown, operation: Operation): unknown {
  try {
    const plain = operation.op === 'copy' ? asAdd(document, operation) : structuredClone(operation)
    // The document is our own copy, so it is changed in place; paths to prototypes are refused.
    return patches.applyOperation(document, plain, patches.validator, true, true).newDocument
  } catch (error) {
    if (error instanceof patches.JsonPatchError || error instanceof TypeError)
      throw cannotApply(error)
    throw error
  }
}

/** The library copies by way of JSON text, which has no large integers. */
function asAdd(document: unknown, { from, path }: Operation & { op: 'copy' }): Operation {
  const value = patches.getValueByPointer(document, from)
  if (value === undefined) throw new TypeError('nothing to copy')
  return { op: 'add', path, value: structuredClone(value) }
}

/** A real server does not say which operation failed, either. */
function cannotApply(cause: unknown): StatusError {
  return new StatusError(
    'Invalid',
    'the server rejected our request due to an error in our request',
    { details: {}, cause },
  )
}
