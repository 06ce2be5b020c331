/**
 * One complete list, page by page, item by item.
 *
 * A continue token lives as long as the member keeps its history; when one has expired the list
 * begins again, and at last is asked for in one piece, which needs no token.
 */
import { isNumber } from './followed-paths.ts'
import { JsonError } from './json-bytes.ts'
import { type ListItem, type ListMeta, ListSplitter } from './list-splitter.ts'
import type { MemberClient } from './member-client.ts'
import { connectionError, MemberError } from './member-error.ts'
import { readRevision } from './read-revision.ts'

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
  /**
   * Not from the member's watch cache, as far as it can be helped. Since 1.31 that cache answers a
   * list of the newest state too, and what it has lost is missing there; a list of exactly one
   * revision is read from etcd. From 1.34 on the cache answers that as well, from a snapshot, until
   * the server finds it to differ from etcd: it compares them every 5 to 7.5 minutes, drops the
   * snapshots of a type that differs and takes none until it agrees again. The newest state goes on
   * coming from the cache, so that the list which puts a loss right must be of one revision, too.
   *
   * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list
   * @see kubernetes/apiserver/pkg/storage/cacher/delegator.go, consistencyChecker
   */
  readonly fromStorage?: boolean
  /** A longer list has no end. Left out: {@link MOST_LISTED}. */
  readonly most?: ListBounds
  readonly signal: AbortSignal
  /** Called for every item; the next is read when it resolves. */
  readonly item: (item: ListItem) => Promise<void>
  readonly restarted: () => void
}

/** Of all pages together; time is what the member took, not what became of its items. */
export interface ListBounds {
  readonly items: number
  readonly milliseconds: number
}

/** More than an etcd of the usual 8 GB holds of one type, and longer than any continue token lasts. */
export const MOST_LISTED: ListBounds = { items: 2_000_000, milliseconds: 30 * 60_000 }

const RESTARTS = 3
/** Of one page that broke off. */
const PAGE_ATTEMPTS = 3

/** @throws MemberError when the list cannot be completed: then nothing may be concluded from it. */
export async function listPages(source: ListSource, request: ListRequest): Promise<ListMeta> {
  const bounded = new BoundedList(source, request.most ?? MOST_LISTED)
  for (let restart = 0; ; restart++) {
    try {
      const pageItems = restart < RESTARTS ? request.pageItems : 0
      return await allPages(bounded, { ...request, pageItems })
    } catch (error) {
      const expired = error instanceof MemberError && error.failure === 'expired'
      if (!expired || restart >= RESTARTS) throw error
      request.restarted()
    }
  }
}

/** What was listed so far, and how long the member took for it. */
class BoundedList {
  readonly source: ListSource
  readonly #most: ListBounds
  #items = 0
  #milliseconds = 0

  constructor(source: ListSource, most: ListBounds) {
    this.source = source
    this.#most = most
  }

  /** @throws MemberError when there is no end in sight. */
  count(): void {
    const { items } = this.#most
    if (++this.#items > items) this.#fail(`more than ${items} objects`)
  }

  /** Only what the connection does is the member's fault; what the consumer throws is not. */
  async nextChunk(chunks: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
    const startedAt = performance.now()
    try {
      const { done, value } = await chunks.next()
      this.#milliseconds += performance.now() - startedAt
      if (done) return undefined
      if (this.#milliseconds > this.#most.milliseconds) {
        this.#fail(`${this.#items} objects in ${Math.round(this.#milliseconds / 1000)} s`)
      }
      return value
    } catch (error) {
      throw connectionError(error)
    }
  }

  #fail(seen: string): never {
    const { resource } = this.source
    throw new MemberError('rubbish', `cannot list ${resource}: ${seen}, and no end`)
  }
}

/** Every page is of the first page's moment, so its resourceVersion is that of the whole list. */
async function allPages(list: BoundedList, request: ListRequest): Promise<ListMeta> {
  let page = await firstPage(list, request)
  const first = page
  while (page.continue !== '') {
    const before = page.continue
    page = await steadyPage(list, request, before)
    if (page.continue === before) {
      const { resource } = list.source
      throw new MemberError('rubbish', `cannot list ${resource}: a page leads to itself`)
    }
  }
  return { ...first, resourceVersion: first.resourceVersion || page.resourceVersion }
}

async function firstPage(list: BoundedList, request: ListRequest): Promise<ListMeta> {
  const at = request.fromStorage
    ? await readRevision(list.source, request.path, request.signal)
    : ''
  if (!isNumber(at)) return steadyPage(list, request, '')
  try {
    return await steadyPage(list, { ...request, at }, '')
  } catch (error) {
    if (!isNotUnderstood(error)) throw error
    return steadyPage(list, request, '')
  }
}

/** An API server of its own kind behind the aggregator may know no exact revisions. */
function isNotUnderstood(error: unknown): boolean {
  return error instanceof MemberError && (error.statusCode === 400 || error.statusCode === 422)
}

type PageRequest = ListRequest & { readonly at?: string }

/** A page that breaks off is asked for again: its items are put twice, which does no harm. */
async function steadyPage(list: BoundedList, request: PageRequest, token: string) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await onePage(list, request, token)
    } catch (error) {
      const broken = error instanceof MemberError && error.failure === 'unreachable'
      if (!broken || attempt === PAGE_ATTEMPTS || token === '') throw error
    }
  }
}

async function onePage(list: BoundedList, request: PageRequest, token: string): Promise<ListMeta> {
  const { source } = list
  const { signal, pageItems, path, objectBytes, accept, at } = request
  const asked = `list ${source.resource}`
  const query = {
    ...source.query,
    ...request.query,
    ...(pageItems > 0 && { limit: String(pageItems) }),
    ...(token !== '' && { continue: token }),
    // A continue token holds its revision.
    ...(at !== undefined && token === '' && { resourceVersion: at, resourceVersionMatch: 'Exact' }),
  }
  const { body } = await source.client.open({
    ...{ path, query, asked, signal },
    ...(accept !== undefined && { accept }),
  })
  const splitter = new ListSplitter(objectBytes)
  const chunks = body[Symbol.asyncIterator]()
  try {
    for (let chunk = await list.nextChunk(chunks); chunk; chunk = await list.nextChunk(chunks)) {
      for (const item of splitter.push(chunk)) {
        list.count()
        await request.item(item)
      }
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
