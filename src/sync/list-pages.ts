/**
 * One complete list, page by page, item by item.
 *
 * A continue token lives as long as the member keeps its history; when one has expired the list
 * begins again, and at last is asked for in one piece, which needs no token.
 */
import { JsonError } from './json-bytes.ts'
import { type ListItem, type ListMeta, ListSplitter } from './list-splitter.ts'
import type { MemberClient } from './member-client.ts'
import { connectionError, MemberError } from './member-error.ts'

export interface ListSource {
  readonly client: MemberClient
  /** The plural, for messages: `cannot list secrets`. */
  readonly resource: string
  /** Selectors of every list and watch. */
  readonly query?: Readonly<Record<string, string>>
}

export interface ListRequest {
  readonly path: string
  /** Selectors. */
  readonly query?: Readonly<Record<string, string>>
  /** Left out: whole objects. */
  readonly accept?: string
  readonly pageItems: number
  readonly objectBytes: number
  readonly signal: AbortSignal
  /** Called for every item; the next is read when it resolves. */
  readonly item: (item: ListItem) => Promise<void>
  readonly restarted: () => void
}

const RESTARTS = 3
/** Of one page that broke off. */
const PAGE_ATTEMPTS = 3

/** @throws MemberError when the list cannot be completed: then nothing may be concluded from it. */
export async function listPages(source: ListSource, request: ListRequest): Promise<ListMeta> {
  for (let restart = 0; ; restart++) {
    try {
      const pageItems = restart < RESTARTS ? request.pageItems : 0
      return await allPages(source, { ...request, pageItems })
    } catch (error) {
      const expired = error instanceof MemberError && error.failure === 'expired'
      if (!expired || restart >= RESTARTS) throw error
      request.restarted()
    }
  }
}

/** Every page is of the first page's moment, so its resourceVersion is that of the whole list. */
async function allPages(source: ListSource, request: ListRequest): Promise<ListMeta> {
  let page = await steadyPage(source, request, '')
  const first = page
  while (page.continue !== '') {
    const before = page.continue
    page = await steadyPage(source, request, before)
    if (page.continue === before) {
      throw new MemberError('rubbish', `cannot list ${source.resource}: a page leads to itself`)
    }
  }
  return { ...first, resourceVersion: first.resourceVersion || page.resourceVersion }
}

/** A page that breaks off is asked for again: its items are put twice, which does no harm. */
async function steadyPage(source: ListSource, request: ListRequest, token: string) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await onePage(source, request, token)
    } catch (error) {
      const broken = error instanceof MemberError && error.failure === 'unreachable'
      if (!broken || attempt === PAGE_ATTEMPTS || token === '') throw error
    }
  }
}

async function onePage(source: ListSource, request: ListRequest, token: string): Promise<ListMeta> {
  const { signal, pageItems, path, objectBytes, accept } = request
  const asked = `list ${source.resource}`
  const query = {
    ...source.query,
    ...request.query,
    ...(pageItems > 0 && { limit: String(pageItems) }),
    ...(token !== '' && { continue: token }),
  }
  const { body } = await source.client.open({
    ...{ path, query, asked, signal },
    ...(accept !== undefined && { accept }),
  })
  const splitter = new ListSplitter(objectBytes)
  const chunks = body[Symbol.asyncIterator]()
  try {
    for (let chunk = await nextChunk(chunks); chunk; chunk = await nextChunk(chunks)) {
      for (const item of splitter.push(chunk)) await request.item(item)
    }
    return splitter.end()
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof JsonError
      ? new MemberError('rubbish', `cannot ${asked}: ${error.message}`, { cause: error })
      : error
  } finally {
    body.destroy()
  }
}

/** Only what the connection does is the member's fault; what the consumer throws is not. */
async function nextChunk(chunks: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
  try {
    const { done, value } = await chunks.next()
    return done ? undefined : value
  } catch (error) {
    throw connectionError(error)
  }
}
