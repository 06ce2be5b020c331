/**
 * Keeps the OpenAPI v3 documents of the group versions that are synced from a member.
 *
 * The index names each document with its digest, so only what changed is fetched. A member without
 * v3 has one document of v2 for all, from which they are made. Nothing here holds up the sync of
 * objects.
 */
import { parseExactly } from '../kube/exact-json.ts'
import { groupVersionPath, parseApiVersion } from '../kube/group-resource.ts'
import { fields } from '../printers/read-field.ts'
import type { Lease } from '../store/leases.ts'
import {
  listOpenApiPaths,
  putOpenApiDocument,
  removeOpenApiDocument,
} from '../store/openapi-documents.ts'
import type { MemberClient } from './member-client.ts'
import { MemberError } from './member-error.ts'
import { documentFromV2 } from './openapi-from-v2.ts'
import type { SyncServices } from './services.ts'

export interface OpenApiMirrorOptions {
  readonly services: SyncServices
  readonly lease: Lease
  readonly client: MemberClient
}

interface Listed {
  readonly path: string
  readonly url: string
  /** Lower-case hex of SHA-512; `''` when the index does not say. */
  readonly digest: string
}

export class OpenApiMirror {
  readonly #options: OpenApiMirrorOptions
  /** Digest by path, as far as fetched or found in the store. */
  #have: Map<string, string> | undefined
  /** Set once the document of v2 was read. */
  #v2: { readonly etag: string | undefined } | undefined
  #running: Promise<void> | undefined

  constructor(options: OpenApiMirrorOptions) {
    this.#options = options
  }

  /** Returns at once. One update at a time; what is skipped meanwhile comes with the next discovery. */
  updateSoon(apiVersions: readonly string[], signal: AbortSignal): void {
    this.#running ??= this.#update(apiVersions, signal).finally(() => {
      this.#running = undefined
    })
  }

  async idle(): Promise<void> {
    await this.#running
  }

  /** Never throws: it is tried again with the next discovery. */
  async #update(apiVersions: readonly string[], signal: AbortSignal): Promise<void> {
    const { services, lease } = this.#options
    try {
      const paths = new Set(apiVersions.map((one) => groupVersionPath(parseApiVersion(one))))
      const have = this.#have ?? (await this.#stored())
      this.#have = have
      const index = await this.#index(signal)
      if (index === undefined) await this.#fromV2(paths, have, signal)
      for (const one of index ?? []) if (paths.has(one.path)) await this.#fetch(one, have, signal)
      for (const path of [...have.keys()]) {
        if (paths.has(path)) continue
        const remove = () => removeOpenApiDocument(services.store, lease, path)
        await services.notes.run(lease.clusterId, remove, signal)
        have.delete(path)
      }
    } catch (error) {
      if (signal.aborted || (error instanceof MemberError && error.failure === 'not-found')) return
      services.log.debug(
        { err: error, clusterId: lease.clusterId },
        'OpenAPI documents were not read',
      )
    }
  }

  async #stored(): Promise<Map<string, string>> {
    const { services, lease } = this.#options
    const paths = await listOpenApiPaths(services.store, [lease.clusterId])
    return new Map(paths.map(({ path, digest }) => [path, digest]))
  }

  /** @returns undefined when the member has no v3. */
  async #index(signal: AbortSignal): Promise<Listed[] | undefined> {
    const asked = { path: '/openapi/v3', asked: 'read the OpenAPI index', signal }
    const index = (await this.#options.client.readJson(asked).catch((error) => {
      if (error instanceof MemberError && error.failure === 'not-found') return undefined
      throw error
    })) as { paths?: Record<string, { serverRelativeURL?: unknown }> } | null | undefined
    if (index === undefined) return undefined
    return Object.entries(index?.paths ?? {}).flatMap(([path, entry]) => {
      const url = entry?.serverRelativeURL
      if (typeof url !== 'string') return []
      const digest = new URL(url, 'http://member').searchParams.get('hash')?.toLowerCase() ?? ''
      return [{ path, url, digest }]
    })
  }

  async #fetch(
    { path, url, digest }: Listed,
    have: Map<string, string>,
    signal: AbortSignal,
  ): Promise<void> {
    // Without a digest one fetch has to do: nothing says whether another would differ.
    if (digest === '' ? have.has(path) : have.get(path) === digest) return
    const { services, lease, client } = this.#options
    const { pathname, searchParams } = new URL(url, 'http://member')
    const query = Object.fromEntries(searchParams)
    const { body } = await client.read({
      path: pathname,
      query,
      asked: `read the OpenAPI document ${path}`,
      signal,
    })
    const put = () => putOpenApiDocument(services.store, lease, { path, body })
    await services.notes.run(lease.clusterId, put, signal)
    have.set(path, digest)
  }

  /** Asked once, and again for types that are new; else only whether it has changed. */
  async #fromV2(
    paths: ReadonlySet<string>,
    have: Map<string, string>,
    signal: AbortSignal,
  ): Promise<void> {
    const { services, lease, client } = this.#options
    const isWhole = [...paths].every((path) => have.has(path))
    const tag = isWhole ? this.#v2?.etag : undefined
    if (isWhole && this.#v2 !== undefined && tag === undefined) return
    const { headers, body } = await client.read({
      path: '/openapi/v2',
      asked: 'read the OpenAPI document',
      ...(tag !== undefined && { headers: { 'if-none-match': tag } }),
      signal,
    })
    if (body.length === 0) return // it is the same
    const v2 = fields(parseExactly(body))
    for (const path of paths) {
      const document = documentFromV2(v2, path)
      const made = Buffer.from(JSON.stringify(document ?? {}))
      const put = () => putOpenApiDocument(services.store, lease, { path, body: made })
      if (document !== undefined) await services.notes.run(lease.clusterId, put, signal)
      have.set(path, '')
    }
    this.#v2 = { etag: headers.etag }
  }
}
