/**
 * Puts the API server together: one Fastify instance that does not listen yet.
 *
 * Owns     the order of plugins, limits of HTTP, TLS, how it stops.
 * Not here what each path answers: routes/, discovery/, openapi/, reviews/, registration/.
 */
import { randomUUID } from 'node:crypto'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
  LogController,
} from 'fastify'
import { Registry } from 'prom-client'
import type { Clock } from '../clock.ts'
import { FLEET_GROUP, FLEET_VERSION } from '../kube/fleet-prefix.ts'
import type { Logger } from '../log.ts'
import { findAbsentFields } from '../store/absent-fields.ts'
import { findAccessToken } from '../store/access-tokens.ts'
import type { Store } from '../store/connect.ts'
import { countGroups } from '../store/count-groups.ts'
import { currentRevision } from '../store/fleet-revision.ts'
import { countCollection, listCollection } from '../store/list-collection.ts'
import { countObjects, getObject, listObjects } from '../store/list-objects.ts'
import { findOwners } from '../store/owners.ts'
import { type Freshness, openReadView } from '../store/read-view.ts'
import type { Access } from './access/access.ts'
import { authenticatorOf, type Trust } from './access/authentication/trust.ts'
import { type Authorizer, standaloneAuthorizer } from './access/authorizer.ts'
import type { CatalogCache } from './catalog.ts'
import { clusterConfigs, type DirectAddress } from './cluster-configs.ts'
import { collectionRoutes } from './collections/plugin.ts'
import { type DiscoveryOptions, discovery } from './discovery/plugin.ts'
import { type HealthOptions, health, type ReadinessCheck } from './health/plugin.ts'
import type { ObjectView } from './objects.ts'
import { OpenStreams } from './open-streams.ts'
import { type OpenApiOptions, openApi } from './openapi/plugin.ts'
import { accessLog } from './plugins/access-log.ts'
import { authentication } from './plugins/authenticate.ts'
import { pathAuthorization } from './plugins/authorize-paths.ts'
import { answerClientError, nodeAnswers } from './plugins/client-errors.ts'
import { closeConnections, Draining } from './plugins/draining.ts'
import { DEFAULT_READER_LIMITS, inFlight, type ReaderLimits } from './plugins/in-flight.ts'
import { knownCluster } from './plugins/known-cluster.ts'
import { pipelining } from './plugins/pipelining.ts'
import { refusals } from './plugins/refusals.ts'
import { sendStatus, statusErrors } from './plugins/status-errors.ts'
import { RequestMetrics } from './request-metrics.ts'
import { reviews } from './reviews/plugin.ts'
import { resourceRoutes } from './routes/resources.ts'
import { servedTypes } from './served-types.ts'

/** A selector of 100 KB, three bytes for each of its characters, and what else is in a request. */
const HEADERS_MOST_BYTES = 512 * 1024
/** A name has at most 253 characters; its escapes three times as many. */
const SEGMENT_MOST_CHARACTERS = 1024
/** All of a request, its body of at most 3 MiB included. */
const REQUEST_MOST_MILLISECONDS = 60_000
/**
 * Of a connection between requests. kube-aggregator keeps one for 90 s: what it sends on one that we
 * close at that moment is answered with 503, unless it may be sent twice.
 */
const IDLE_MOST_MILLISECONDS = 120_000

const HANDSHAKE_MOST_MILLISECONDS = 30_000

const GRACE_MILLISECONDS = 2_000
const COLLECTIONS = { group: FLEET_GROUP, version: FLEET_VERSION, resource: 'collectionresources' }

export interface TlsOptions {
  readonly key: string | Buffer
  readonly cert: string | Buffer
  /** Milliseconds until a client must have begun to speak TLS. */
  readonly handshakeTimeout?: number
}

export interface ServerOptions {
  readonly store: Store
  readonly catalog: CatalogCache
  readonly access: Access
  /** What /metrics tells: our own, and whatever runs beside us. */
  readonly metrics: HealthOptions['metrics']
  /** Where our own are counted. Left out: nowhere that anybody reads. */
  readonly registry?: Registry
  readonly readerLimits?: ReaderLimits
  /** What the root serves besides the fleet: our own kinds, and their OpenAPI. */
  readonly root: Pick<DiscoveryOptions, 'rootKinds'> &
    Pick<OpenApiOptions, 'source' | 'rootDocuments'>
  /** Routes of their own, such as those of registrations; `request.identity` is set for them. */
  readonly plugins?: readonly FastifyPluginAsync[]
  /** False is Clusterpedia's habit: one page unless `with-continue` asks. */
  readonly continueByDefault: boolean
  readonly readiness?: readonly ReadinessCheck[]
  /** Begun from outside some time before the server is closed. */
  readonly draining?: Draining
  /** How long a list that is under way may take to finish once the server is closed. */
  readonly graceMilliseconds?: number
  /** Left out: our own tokens alone. */
  readonly trust?: Trust
  /** What FleetAccess does not speak of. Left out: the standalone one. */
  readonly authorize?: Authorizer
  /** Every path is authorised as the management cluster's RBAC would, unless a proxy has done so. */
  readonly authorizePaths?: boolean
  /** How this server is reached past the aggregator. */
  readonly direct?: DirectAddress
  /** How long a list takes at most that goes through a proxy. Left out: however long it takes. */
  readonly proxiedListMilliseconds?: number
  /** Left out: plain HTTP, for tests and behind a proxy on the same machine. */
  readonly tls?: TlsOptions
  readonly log: Logger
  readonly clock: Clock
}

export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const { catalog, clock } = options
  const server = createFastify(options)
  let stopping = false
  await server.register(statusErrors)
  await server.register(nodeAnswers)
  await server.register(pipelining)
  // First of what refuses, so that whatever follows is in the log, and its answer has the id.
  await server.register(accessLog)
  const draining = options.draining ?? new Draining()
  await server.register(closeConnections, draining)
  await server.register(refusals, { isStopping: () => stopping })
  await identifyReaders(server, options)
  await server.register(inFlight, {
    limits: options.readerLimits ?? DEFAULT_READER_LIMITS,
    metrics: new RequestMetrics({
      registry: options.registry ?? new Registry(),
      isServed: servedTypes(catalog, [...options.root.rootKinds, COLLECTIONS]),
    }),
  })
  await server.register(knownCluster, { catalog })
  const openStreams = new OpenStreams()
  server.addHook('preClose', async () => {
    stopping = true
    draining.begin()
    await openStreams.close(clock, options.graceMilliseconds ?? GRACE_MILLISECONDS)
  })
  for (const plugin of routesOf(options, { openStreams, draining })) await server.register(plugin)
  return server
}

/** Everything that is answered, in the order in which paths are looked up. */
function routesOf(
  options: ServerOptions,
  { openStreams, draining }: { readonly openStreams: OpenStreams; readonly draining: Draining },
): readonly FastifyPluginAsync[] {
  const { store, access, catalog, clock, root, continueByDefault } = options
  const { authorize = standaloneAuthorizer, authorizePaths = false } = options
  const objects = { view: (freshness: Freshness) => openObjects(store, freshness) }
  const parts = {
    ...{ access, catalog, clock, openStreams, objects, continueByDefault },
    proxiedListMilliseconds: options.proxiedListMilliseconds,
  }
  return [
    (inner) => discovery(inner, { access, rootKinds: root.rootKinds }),
    (inner) => openApi(inner, { access, ...root }),
    (inner) =>
      reviews(inner, {
        ...{ access, rootKinds: root.rootKinds },
        rights: { authorize, byPath: authorizePaths },
      }),
    (inner) =>
      health(
        inner,
        healthOptions(options, () => draining.hasBegun),
      ),
    (inner) => clusterConfigs(inner, { access, ...(options.direct && { direct: options.direct }) }),
    (inner) => collectionRoutes(inner, parts),
    (inner) => resourceRoutes(inner, parts),
    ...(options.plugins ?? []),
  ]
}

/** Who asks is known before anything else is looked at, and is in the log whatever follows. */
async function identifyReaders(server: FastifyInstance, options: ServerOptions): Promise<void> {
  const { store, clock, trust = {}, authorize = standaloneAuthorizer } = options
  const findToken = (token: string) => findAccessToken(store, token)
  const authenticate = authenticatorOf({ trust, findToken, clock })
  await server.register(authentication, { authenticate, authorize })
  if (options.authorizePaths) await server.register(pathAuthorization, { authorize })
}

function createFastify({ log, tls }: ServerOptions): FastifyInstance {
  // Without a Host Node answers by itself: plugins/refusals.ts.
  const limits = { maxHeaderSize: HEADERS_MOST_BYTES, requireHostHeader: false }
  const common = {
    loggerInstance: log as unknown as FastifyBaseLogger,
    // plugins/access-log.ts writes one line a request, with who asked.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    forceCloseConnections: 'idle' as const,
    return503OnClosing: false,
    rewriteUrl: ({ url = '/' }: { readonly url?: string | undefined }) => originForm(url),
    requestTimeout: REQUEST_MOST_MILLISECONDS,
    keepAliveTimeout: IDLE_MOST_MILLISECONDS,
    routerOptions: { maxParamLength: SEGMENT_MOST_CHARACTERS },
    frameworkErrors: sendStatus,
    clientErrorHandler: answerClientError,
  }
  if (!tls) return Fastify({ ...common, http: limits })
  // A certificate is asked for, not demanded: most readers have a token. TLS makes sure that the
  // client holds its key; certificate-bundle.ts, whose word it is. Without CAs of its own, TLS shows
  // the chain as it was sent.
  const clients = { ca: [], requestCert: true, rejectUnauthorized: false }
  const https = { ...limits, handshakeTimeout: HANDSHAKE_MOST_MILLISECONDS, ...tls, ...clients }
  return Fastify({ ...common, https }) as unknown as FastifyInstance
}

/** A client may send a whole URL, as to a proxy; what it names is the same. RFC 9112, 3.2.2 */
function originForm(url: string): string {
  const [, path] = /^https?:\/\/[^/?#]*(.*)$/is.exec(url) ?? []
  if (path === undefined) return url
  return path.startsWith('/') ? path : `/${path}`
}

function healthOptions(options: ServerOptions, isStopping: () => boolean): HealthOptions {
  const { store, metrics, log, clock, readiness = [], authorize = standaloneAuthorizer } = options
  const pingDatabase = () => currentRevision(store)
  return { pingDatabase, isStopping, metrics, readiness, authorize, log, clock }
}

async function openObjects(primary: Store, freshness: Freshness): Promise<ObjectView> {
  const { store, revision } = await openReadView(primary, freshness)
  return {
    revision,
    list: (request, signal) => listObjects(store, request, { signal }),
    count: (request) => countObjects(store, request),
    get: (request) => getObject(store, request),
    listCollection: (request, signal) => listCollection(store, request, { signal }),
    countCollection: (request) => countCollection(store, request),
    countGroups: (request) => countGroups(store, request),
    owners: (search) => findOwners(store, search),
    absentFields: (question) => findAbsentFields(store, question),
  }
}
