/**
 * Finds what a watch did not tell: keys, uids and versions of a type, compared with the member's.
 *
 * Only metadata is read, so it costs little. Changes go on meanwhile: what differs is looked at
 * again after a while, and only what has not moved until then was lost.
 */
import type { Clock } from '../clock.ts'
import type { Store } from '../store/connect.ts'
import { type StoredVersion, storedVersions } from '../store/reconcile.ts'
import { isNumber } from './followed-paths.ts'
import { type ListSource, listPages } from './list-pages.ts'
import { identityOf, versionOf } from './object-identity.ts'

export interface ReconcileOptions {
  readonly store: Store
  readonly clock: Clock
  readonly source: ListSource
  /** Those that may be read; of a divided type, with their namespaces. */
  readonly paths: readonly { readonly path: string; readonly namespace?: string }[]
  readonly of: { readonly clusterId: number; readonly typeId: number }
  /** Not all of what the member has is mirrored: what it has more is no loss. */
  readonly isFiltered: boolean
  readonly pageItems: number
  readonly objectBytes: number
  readonly settleMilliseconds: number
}

const METADATA_ONLY =
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json'

/** @returns how many objects differ for good. @throws MemberError */
export async function countLost(options: ReconcileOptions, signal: AbortSignal): Promise<number> {
  const listed = await listVersions(options, signal)
  const differing = await compare(options, listed)
  if (differing.size === 0) return 0
  await options.clock.sleep(options.settleMilliseconds, signal)
  const missing = new Set([...differing].filter(([, stored]) => !stored).map(([key]) => key))
  let lost = 0
  for await (const page of storedVersions(options.store, options.of)) {
    for (const row of page) {
      const key = keyOf(row)
      missing.delete(key)
      const before = differing.get(key)
      if (before && before.resourceVersion === row.resourceVersion && before.uid === row.uid) lost++
    }
  }
  return lost + missing.size
}

interface Listed {
  /** resourceVersion by key: no two states of a key, recreated or not, share one. */
  readonly byKey: Map<string, string>
  readonly namespaces: ReadonlySet<string> | undefined
  /** Of the list: what is newer came after it. */
  readonly resourceVersion: string
}

async function listVersions(options: ReconcileOptions, signal: AbortSignal): Promise<Listed> {
  const { source, paths, pageItems, objectBytes } = options
  const byKey = new Map<string, string>()
  let resourceVersion = ''
  for (const { path } of paths) {
    const part: string[] = []
    const meta = await listPages(source, {
      ...{ path, pageItems, objectBytes, signal, accept: METADATA_ONLY, fromStorage: true },
      restarted: () => {
        for (const key of part.splice(0)) byKey.delete(key)
      },
      item: async (item) => {
        if (!('bytes' in item)) return
        const key = keyOf(identityOf(item.bytes))
        part.push(key)
        byKey.set(key, versionOf(item.bytes))
      },
    })
    // The oldest of several: what is newer than it may have come after any of them.
    if (resourceVersion === '') resourceVersion = meta.resourceVersion
  }
  const divided = paths.length > 1 || paths[0]?.namespace !== undefined
  const namespaces = divided ? new Set(paths.map(({ namespace = '' }) => namespace)) : undefined
  return { byKey, namespaces, resourceVersion }
}

/** What differs, by key; undefined for what is not stored. */
async function compare(
  { store, of, isFiltered }: ReconcileOptions,
  { byKey, namespaces, resourceVersion }: Listed,
): Promise<Map<string, StoredVersion | undefined>> {
  const differing = new Map<string, StoredVersion | undefined>()
  for await (const page of storedVersions(store, of)) {
    for (const row of page) {
      const key = keyOf(row)
      const listed = byKey.get(key)
      byKey.delete(key)
      if (listed === row.resourceVersion || isNewer(row.resourceVersion, resourceVersion)) continue
      if (namespaces && !namespaces.has(row.namespace)) continue
      differing.set(key, row)
    }
  }
  if (!isFiltered) for (const key of byKey.keys()) differing.set(key, undefined)
  return differing
}

function isNewer(version: string, than: string): boolean {
  return isNumber(version) && isNumber(than) && BigInt(version) > BigInt(than)
}

function keyOf({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`
}
