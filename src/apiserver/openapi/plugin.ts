/**
 * `/openapi/v3` and `/openapi/v2`: at the root of our own groups, under the prefixes of what is
 * mirrored and may be seen. kubectl explains and validates by them.
 *
 * Nothing is made before it is asked for. What is made is named by a hash of what it is made from,
 * so it can be kept for good by whoever asked with that hash.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { groupVersionPath } from '../../kube/group-resource.ts'
import type { JsonObject } from '../../kube/kube-object.ts'
import { negotiate } from '../../kube/media-type.ts'
import type { Access } from '../access/access.ts'
import { MIRROR_API, mirrorOpenApi } from '../collections/kinds.ts'
import { mayKnow, type RootKind } from '../discovery/root-listing.ts'
import { fleetVersion } from '../discovery/version.ts'
import type { Exchange } from '../exchange.ts'
import { prefixOf, type Surface } from '../prefixes.ts'
import { splitUrl } from '../request-target.ts'
import {
  hashOf,
  JsonDocument,
  matchesEtag,
  sendDocument,
  sendPageNotFound,
} from '../send-document.ts'
import { clustersOf, getWithSlash, onEverySurface } from '../surface.ts'
import { type DescribedVersion, describedVersions, type OpenApiSource } from './catalogue.ts'
import { DocumentCache, type MadeDocument } from './document-cache.ts'
import { makeV2, makeV3 } from './make-document.ts'

export interface OpenApiOptions {
  readonly access: Access
  readonly source: OpenApiSource
  readonly rootKinds: readonly RootKind[]
  /** v3 documents of our own groups, by path: `apis/fleetglass.io/v1alpha1`. */
  readonly rootDocuments: ReadonlyMap<string, JsonObject>
  /** Bytes of made documents that may be held; {@link CACHE_BYTES} unless given. */
  readonly cacheBytes?: number
}

const CACHE_BYTES = 96 * 1024 * 1024

/** One group version that can be described, and how. */
interface Described {
  readonly path: string
  readonly hash: string
  readonly make: () => Promise<Buffer | undefined>
}

/** Fastify plugin. */
export async function openApi(server: FastifyInstance, options: OpenApiOptions): Promise<void> {
  const cache = new DocumentCache(options.cacheBytes ?? CACHE_BYTES)
  const describe = describer(options)
  await onEverySurface(server, (routes, surfaceOf) => {
    const index = async (request: FastifyRequest, reply: FastifyReply) => {
      const surface = surfaceOf(request)
      const described = await describe(request, surface)
      return sendDocument({ request, reply }, indexOf(described, prefixOf(surface)))
    }
    getWithSlash(routes, '/openapi/v3', index)
    routes.get('/openapi/v3/*', async (request, reply) => {
      const { '*': path } = request.params as { readonly '*': string }
      const described = await describe(request, surfaceOf(request))
      const found = described.find((each) => each.path === path)
      return found ? sendV3({ request, reply }, found, cache) : sendPageNotFound(reply)
    })
    routes.get('/openapi/v2', async (request, reply) => {
      const described = await describe(request, surfaceOf(request))
      return sendV2({ request, reply }, described, {
        cache,
        version: saidVersion(options, request),
      })
    })
  })
}

/** The URLs are relative to the server, so they hold the prefix. */
function indexOf(described: readonly Described[], prefix: string): JsonDocument {
  const paths = described.map(({ path, hash }) => [
    path,
    { serverRelativeURL: `${prefix}/openapi/v3/${path}?hash=${hash}` },
  ])
  return new JsonDocument({ paths: Object.fromEntries(paths) })
}

async function sendV3(
  { request, reply }: Exchange,
  described: Described,
  cache: DocumentCache,
): Promise<FastifyReply> {
  negotiate(request.headers.accept, ['application/json'])
  const { hash } = request.query as { readonly hash?: string }
  if (hash !== undefined && hash !== described.hash) {
    // The document has changed since the index was read: what is there now has another name.
    const { path } = splitUrl(request.url)
    return reply.redirect(`${path}?hash=${described.hash}`, 301)
  }
  const made = await cache.get(`v3 ${described.hash}`, () => makeOrThrow(described))
  reply.header('Cache-Control', hash ? 'private, immutable, max-age=31536000' : 'no-cache, private')
  return sendMade({ request, reply }, made, {
    etag: `"${described.hash}"`,
    contentType: 'application/json',
  })
}

async function makeOrThrow({ path, make }: Described): Promise<Buffer> {
  const made = await make()
  // It was removed between two queries; the next index does not name it.
  if (!made) throw new Error(`the OpenAPI document of ${path} is gone`)
  return made
}

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
/** The second name is not a valid media type, and is the one that kubectl asks by. */
const V2_MEDIA_TYPES: readonly string[] = [
  'application/json',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  PROTOBUF,
]

async function sendV2(
  { request, reply }: Exchange,
  described: readonly Described[],
  { cache, version }: { readonly cache: DocumentCache; readonly version: string },
): Promise<FastifyReply> {
  const { mediaType } = negotiate(request.headers.accept, V2_MEDIA_TYPES)
  const encoding = mediaType === 'application/json' ? 'json' : 'protobuf'
  const hash = hashOf(JSON.stringify([encoding, version, described.map((each) => each.hash)]))
  const made = await cache.get(`v2 ${hash}`, () =>
    makeV2({ documents: bodiesOf(described, cache), version, encoding }),
  )
  reply.header('Cache-Control', 'no-cache, private')
  return sendMade({ request, reply }, made, {
    etag: `"${hash}"`,
    contentType: encoding === 'json' ? 'application/json' : PROTOBUF,
  })
}

async function* bodiesOf(described: readonly Described[], cache: DocumentCache) {
  for (const each of described) {
    const { body } = await cache.get(`v3 ${each.hash}`, () => makeOrThrow(each))
    yield body
  }
}

function sendMade(
  { request, reply }: Exchange,
  { body, gzipped }: MadeDocument,
  { etag, contentType }: { readonly etag: string; readonly contentType: string },
): FastifyReply {
  reply.header('ETag', etag).header('Vary', 'Accept-Encoding, Accept')
  if (matchesEtag(request, etag)) return reply.code(304).send()
  reply.header('Content-Type', contentType)
  if (!acceptsGzip(request)) return reply.send(body)
  return reply.header('Content-Encoding', 'gzip').send(gzipped)
}

function acceptsGzip({ headers }: FastifyRequest): boolean {
  const accepted = [headers['accept-encoding'] ?? ''].flat().join(',')
  return accepted
    .split(',')
    .some((coding) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/.test(coding))
}

function saidVersion({ access }: OpenApiOptions, request: FastifyRequest): string {
  const said = fleetVersion(access.visible(request.identity)).value as { gitVersion: string }
  return said.gitVersion
}

/** What can be described on a surface, to the reader of a request. */
function describer({ access, source, rootKinds, rootDocuments }: OpenApiOptions) {
  const root = [...rootDocuments, ...mirrorOpenApi()].map(([path, document]) => {
    const body = Buffer.from(JSON.stringify(document))
    return { path, hash: hashOf(body), make: async () => body }
  })
  return async (request: FastifyRequest, surface: Surface): Promise<readonly Described[]> => {
    if (surface.kind === 'root') {
      const known = rootKinds.filter((kind) => mayKnow(access, request.identity, kind))
      // That the mirror is here everyone may know: discovery/root-listing.ts.
      const visible = new Set([...known, MIRROR_API].map(groupVersionPath))
      return root.filter(({ path }) => visible.has(path))
    }
    const described = await describedVersions(source, clustersOf(access, request, surface))
    return described.map((version: DescribedVersion) => ({
      path: version.path,
      hash: version.hash,
      make: () => makeV3(source, version),
    }))
  }
}
