/** Reads a live cluster for a sweep with the client that the syncer uses: get and list only. */
import type { ListCall, MemberReader } from '../../fleet/member-reader.ts'
import { type Fields, fields, isRecord, text } from '../../printers/read-field.ts'
import { listPages } from '../../sync/list-pages.ts'
import type { ListItem } from '../../sync/list-splitter.ts'
import type { MemberAccess } from '../../sync/member-access.ts'
import { MemberClient } from '../../sync/member-client.ts'
import { MemberError } from '../../sync/member-error.ts'
import { version } from '../version.ts'

const PAGE_ITEMS = 500
/** etcd takes no object of this size. */
const OBJECT_BYTES = 16 * 1024 * 1024

export interface ReaderOptions {
  /** In front of every path: a member cluster within the fleet API. */
  readonly prefix?: string
}

export function memberReader(
  access: MemberAccess,
  { prefix = '' }: ReaderOptions = {},
): MemberReader {
  const client = new MemberClient(access, { userAgent: `fleetglass/${version()}` })
  return {
    list: (call) => {
      const within = { ...call, path: prefix + call.path }
      return call.isProbe ? probe(client, within) : listAll(client, within)
    },
    readJson: (path, signal, query = {}) =>
      client.readJson({ path: prefix + path, query, asked: `read ${path}`, signal }),
    close: () => client.close(),
  }
}

async function listAll(client: MemberClient, call: ListCall): Promise<readonly Fields[]> {
  const { resource, path, query, signal, keep } = call
  // A page that broke off is asked for again, and what came of it comes again.
  const kept = new Map<string, Fields>()
  await listPages(
    { client, resource },
    {
      ...{ path, query, signal, pageItems: PAGE_ITEMS, objectBytes: OBJECT_BYTES },
      item: async (item) => {
        const object = objectIn(item, resource)
        const { namespace, name } = fields(object.metadata)
        kept.set(`${text(namespace)}/${text(name)}`, keep(object))
      },
      restarted: () => kept.clear(),
    },
  )
  return [...kept.values()]
}

/** Half of a list is no list, and a list with something unreadable in it is half of one. */
function objectIn(item: ListItem, resource: string): Fields {
  if ('bytes' in item) {
    const object = parsed(item.bytes)
    if (isRecord(object)) return object
  }
  throw new MemberError('rubbish', `cannot list ${resource}: an item is no object`)
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined // told by whoever asked for an object
  }
}

async function probe(client: MemberClient, call: ListCall): Promise<readonly Fields[]> {
  const { path, query, signal, resource } = call
  const asked = `list ${resource}`
  const list = await client.readJson({ path, query: { ...query, limit: '1' }, asked, signal })
  if (isRecord(list) && (Array.isArray(list.items) || list.items === null)) return []
  throw new MemberError('rubbish', `cannot ${asked}: the answer is no list`)
}
