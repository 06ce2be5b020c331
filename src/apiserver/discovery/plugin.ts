/**
 * Discovery, `/version` and the list of paths: at the root, for the fleet, for each member.
 *
 * All are made from what the reader may see, and kept for as long as that does not change.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { COLLECTION_API_VERSION } from '../../kube/collection-resource.ts'
import { type Conversion, negotiate, negotiateObjects } from '../../kube/media-type.ts'
import { noSuchResource } from '../../kube/status-error.ts'
import type { Access, VisibleCluster } from '../access/access.ts'
import { textColumn } from '../collections/documents.ts'
import type { Exchange } from '../exchange.ts'
import { isAnonymous } from '../identity.ts'
import type { Surface } from '../prefixes.ts'
import { JsonDocument, sendDocument, sendPageNotFound } from '../send-document.ts'
import { clustersOf, getWithSlash, onEverySurface } from '../surface.ts'
import {
  type AggregatedVersion,
  aggregated,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  pathList,
} from './documents.ts'
import { type ApiListing, listMirrored } from './listing.ts'
import { listRoot, type RootKind } from './root-listing.ts'
import { fleetVersion, memberVersion } from './version.ts'

export interface DiscoveryOptions {
  readonly access: Access
  /** The kinds of our own groups; empty where another API server serves them. */
  readonly rootKinds: readonly RootKind[]
}

/** Paths beside discovery that answer a GET on every surface. */
const OTHER_PATHS: readonly string[] = [
  ...['/healthz', '/livez', '/readyz', '/version'],
  ...['/openapi/v2', '/openapi/v3', '/openapi/v3/'],
]

/** Fastify plugin. */
export async function discovery(server: FastifyInstance, options: DiscoveryOptions): Promise<void> {
  const listings = rememberListings(options)
  await onEverySurface(server, (routes, surfaceOf) => {
    const listingOf = (request: FastifyRequest) => listings(request, surfaceOf(request))
    routes.get('/', (request, reply) => {
      const others = surfaceOf(request).kind === 'root' ? [...OTHER_PATHS, '/metrics'] : OTHER_PATHS
      const paths = pathList(listingOf(request).listing, others)
      const document = surfaceOf(request).kind === 'fleet' ? fleetRoot(request, paths) : paths
      return sendDocument({ request, reply }, new JsonDocument(document, { indented: true }))
    })
    getWithSlash(routes, '/version', (request, reply) =>
      sendDocument({ request, reply }, versionOf(options.access, request, surfaceOf(request))),
    )
    groupRoutes(routes, listingOf)
    resourceRoutes(routes, listingOf)
  })
}

/** To `kubectl get resources` the root of the fleet is an object, or a Table of what is below it. */
function fleetRoot({ headers }: FastifyRequest, list: { readonly paths: readonly string[] }) {
  const { as, metaVersion } = negotiateObjects(headers.accept, 'list')
  if (as !== 'Table') return { kind: 'Resources', apiVersion: COLLECTION_API_VERSION, ...list }
  return {
    ...{ kind: 'Table', apiVersion: `meta.k8s.io/${metaVersion}`, metadata: {} },
    columnDefinitions: [textColumn('Path', 'name', 'What can be asked of the whole fleet.')],
    rows: list.paths.map((path) => ({ cells: [path], object: null })),
  }
}

type ListingOf = (request: FastifyRequest) => KeptListing

/** `/api` and `/apis`, plain or aggregated as the client asks. */
function groupRoutes(routes: FastifyInstance, listingOf: ListingOf): void {
  getWithSlash(routes, '/api', (request, reply) => {
    const kept = listingOf(request)
    const version = aggregatedVersion(request)
    if (version) {
      const { core } = kept.listing
      const groups = core.length > 0 ? [{ name: '', versions: core }] : []
      return sendAggregated({ request, reply }, version, () =>
        kept.document(`/api ${version}`, () => aggregated(groups, version)),
      )
    }
    return sendDocument(
      { request, reply },
      new JsonDocument(apiVersions(kept.listing, request.host)),
    )
  })
  getWithSlash(routes, '/apis', (request, reply) => {
    const kept = listingOf(request)
    const version = aggregatedVersion(request)
    if (version) {
      return sendAggregated({ request, reply }, version, () =>
        kept.document(`/apis ${version}`, () => aggregated(kept.listing.groups, version)),
      )
    }
    const document = kept.document('/apis', () => apiGroupList(kept.listing))
    return sendDocument({ request, reply }, document)
  })
}

/** `/apis/GROUP`, `/apis/GROUP/VERSION` and `/api/VERSION`. */
function resourceRoutes(routes: FastifyInstance, listingOf: ListingOf): void {
  const sendVersion = (request: FastifyRequest, reply: FastifyReply) => {
    const { group = '', version } = request.params as { group?: string; version: string }
    const kept = listingOf(request)
    const known = kept.listing.groups.find(({ name }) => name === group)
    if (group !== '' && !known) return sendPageNotFound(reply)
    const listed = (known?.versions ?? kept.listing.core).find((each) => each.version === version)
    if (!listed) throw noSuchResource()
    const document = kept.document(`${group}/${version}`, () => apiResourceList(listed))
    return sendDocument({ request, reply }, document)
  }
  routes.get('/api/:version', sendVersion)
  routes.get('/apis/:group/:version', sendVersion)
  routes.get('/apis/:group', (request, reply) => {
    const { group: name } = request.params as { group: string }
    const kept = listingOf(request)
    const group = kept.listing.groups.find((each) => each.name === name)
    if (!group) return sendPageNotFound(reply)
    const document = kept.document(`/apis/${name}`, () => apiGroup(group))
    return sendDocument({ request, reply }, document)
  })
}

const AGGREGATED_GROUP = 'apidiscovery.k8s.io'

/** The version of the aggregated form that is wanted most; undefined for the plain one. */
function aggregatedVersion({ headers }: FastifyRequest): AggregatedVersion | undefined {
  const { convert } = negotiate(headers.accept, ['application/json', 'application/yaml'], isOffered)
  return convert?.version as AggregatedVersion | undefined
}

function isOffered({ kind, group, version }: Conversion, mediaType: string): boolean {
  return (
    mediaType === 'application/json' &&
    kind === 'APIGroupDiscoveryList' &&
    group === AGGREGATED_GROUP &&
    (version === 'v2' || version === 'v2beta1')
  )
}

function sendAggregated(
  exchange: Exchange,
  version: AggregatedVersion,
  document: () => JsonDocument,
): FastifyReply {
  const contentType = `application/json;g=${AGGREGATED_GROUP};v=${version};as=APIGroupDiscoveryList`
  return sendDocument(exchange, document(), { contentType })
}

/**
 * Which version we say we are: a member's own under its prefix, the newest visible one elsewhere.
 *
 * Anyone may ask for a version, so who may not see a member is answered as if there were none.
 */
function versionOf(access: Access, request: FastifyRequest, surface: Surface): JsonDocument {
  if (surface.kind !== 'member') return fleetVersion(access.visible(request.identity))
  if (isAnonymous(request.identity)) return fleetVersion([])
  return memberVersion(clustersOf(access, request, surface)[0]!.cluster)
}

/** A listing with the documents that were made of it. */
class KeptListing {
  readonly listing: ApiListing
  readonly #documents = new Map<string, JsonDocument>()

  constructor(listing: ApiListing) {
    this.listing = listing
  }

  document(key: string, make: () => unknown): JsonDocument {
    const kept = this.#documents.get(key) ?? new JsonDocument(make())
    this.#documents.set(key, kept)
    return kept
  }
}

/** The root's is made anew each time: it is small, and changes with the rules. */
function rememberListings({ access, rootKinds }: DiscoveryOptions) {
  const ofFleet = new WeakMap<readonly VisibleCluster[], KeptListing>()
  const ofMember = new WeakMap<VisibleCluster, KeptListing>()
  return (request: FastifyRequest, surface: Surface): KeptListing => {
    if (surface.kind === 'root') {
      return new KeptListing(listRoot(rootKinds, access, request.identity))
    }
    const clusters = clustersOf(access, request, surface)
    if (surface.kind === 'fleet') return keep(ofFleet, clusters, clusters)
    return keep(ofMember, clusters[0]!, clusters)
  }
}

function keep<Key extends WeakKey>(
  kept: WeakMap<Key, KeptListing>,
  key: Key,
  clusters: readonly VisibleCluster[],
): KeptListing {
  const known = kept.get(key) ?? new KeptListing(listMirrored(clusters))
  kept.set(key, known)
  return known
}
