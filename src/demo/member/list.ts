/** Lists: a consistent snapshot, in pages, in key order. */
import { readContinue, writeContinue } from './continue-token.ts'
import { type ListOptions, readListOptions } from './list-options.ts'
import type { ObjectHistory } from './object-history.ts'
import { MemberError, type Reply } from './reply.ts'
import { type Representation, representationOf } from './representation.ts'
import type { MemberRequest } from './request.ts'
import { readSelection, type Selection } from './selection.ts'
import { type MemberResource, storageOf } from './served-resources.ts'
import { keyOf, type StoredObject } from './stored-object.ts'

export interface ResourceRequest {
  readonly request: MemberRequest
  readonly resource: MemberResource
  readonly history: ObjectHistory
}

export function listObjects({ request, resource, history }: ResourceRequest): Reply {
  const representation = representationOf(resource, request.headers.accept ?? '')
  const options = readListOptions(request)
  const selection = readSelection(request, resource)
  const page = readPage({ history, of: storageOf(resource), options, selection, request })
  return {
    code: 200,
    contentType: 'application/json',
    body: encodeList(page, representation),
  }
}

interface Page {
  readonly items: readonly StoredObject[]
  readonly revision: bigint
  readonly continueToken: string | undefined
  /** undefined where etcd3 does not know it: with selectors, and on the last page. */
  readonly remaining: number | undefined
}

function readPage(of: {
  history: ObjectHistory
  of: string
  options: ListOptions
  selection: Selection
  request: MemberRequest
}): Page {
  const { history, options, selection, request } = of
  const start = options.continueToken === '' ? undefined : readContinue(options.continueToken)
  const revision = snapshotRevision(history, { ...options, start })
  const relative = (object: StoredObject) =>
    request.namespace === '' ? keyOf(object) : object.name
  const snapshot = history.snapshot(of.of, revision)
  const prefix = request.namespace === '' ? '' : `${request.namespace}/`
  const first = start ? indexAfter(snapshot, prefix + start.after) : 0
  const all = snapshot.slice(first).filter((object) => selection.matches(object))
  const items = options.limit > 0 ? all.slice(0, options.limit) : all
  if (items.length === all.length) {
    return { items, revision, continueToken: undefined, remaining: undefined }
  }
  return {
    items,
    revision,
    continueToken: writeContinue({ revision, after: relative(items.at(-1)!) }),
    remaining: selection.everything ? all.length - items.length : undefined,
  }
}

/** Where in a sorted snapshot the objects behind `key` begin. */
function indexAfter(snapshot: readonly StoredObject[], key: string): number {
  let [low, high] = [0, snapshot.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (keyOf(snapshot[middle]!) > key) high = middle
    else low = middle + 1
  }
  return low
}

function snapshotRevision(
  history: ObjectHistory,
  options: ListOptions & { start: { revision: bigint; after: string } | undefined },
): bigint {
  const { start, match, limit } = options
  if (start) {
    if (start.revision < 0n) return history.revision
    if (start.revision < history.floor) throw continueExpired(start.after)
    return start.revision
  }
  const asked = options.revision
  if (asked === undefined || asked === 0n) return history.revision
  if (asked > history.revision) throw tooLarge(asked, history.revision)
  // Without a match, a page of a given revision is a page of exactly that one.
  const exact = match === 'Exact' || (match === '' && limit > 0)
  if (!exact) return history.revision
  if (asked < history.floor) throw listExpired()
  return asked
}

function continueExpired(after: string): MemberError {
  return new MemberError({
    code: 410,
    reason: 'Expired',
    message:
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    continueToken: writeContinue({ revision: -1n, after }),
  })
}

function listExpired(): MemberError {
  return new MemberError({
    code: 410,
    reason: 'Expired',
    message: 'The resourceVersion for the provided list is too old.',
  })
}

function tooLarge(asked: bigint, current: bigint): MemberError {
  return new MemberError({
    code: 504,
    reason: 'Timeout',
    message: `Too large resource version: ${asked}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  })
}

function encodeList(page: Page, as: Representation): Buffer {
  const metadata = {
    resourceVersion: String(page.revision),
    ...(page.continueToken !== undefined && { continue: page.continueToken }),
    ...(page.remaining !== undefined && { remainingItemCount: page.remaining }),
  }
  const head = JSON.stringify({ kind: as.listKind, apiVersion: as.listApiVersion, metadata })
  const parts: Buffer[] = [Buffer.from(`${head.slice(0, -1)},"items":[`)]
  for (const [index, object] of page.items.entries()) {
    if (index > 0) parts.push(COMMA)
    parts.push(as.item(object))
  }
  parts.push(Buffer.from(']}\n'))
  return Buffer.concat(parts)
}

const COMMA = Buffer.from(',')
