/** The API server on a store: everything it needs put together, listening over TLS. */
import type { Server } from 'node:https'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Access } from '../../apiserver/access/access.ts'
import type { CertificateBundle } from '../../apiserver/access/authentication/certificate-bundle.ts'
import { createAccess } from '../../apiserver/access/create-access.ts'
import { everyoneMayRead } from '../../apiserver/access/everyone.ts'
import { type CatalogCache, createCatalogCache } from '../../apiserver/catalog.ts'
import type { DirectAddress } from '../../apiserver/cluster-configs.ts'
import { FLEET_KINDS, fleetOpenApi } from '../../apiserver/fleet/kinds.ts'
import { fleetRoutes } from '../../apiserver/fleet/plugin.ts'
import type { ReadinessCheck } from '../../apiserver/health/plugin.ts'
import { mirrorStates } from '../../apiserver/mirror-states.ts'
import { storedOpenApi } from '../../apiserver/openapi/catalogue.ts'
import { Draining } from '../../apiserver/plugins/draining.ts'
import type { ReaderLimits } from '../../apiserver/plugins/in-flight.ts'
import { registrationRoutes } from '../../apiserver/registration/plugin.ts'
import { untilKnown } from '../../apiserver/registration/until-known.ts'
import { buildServer, type TlsOptions } from '../../apiserver/server.ts'
import type { Clock } from '../../clock.ts'
import type { ListenAddress } from '../../config.ts'
import type { Logger } from '../../log.ts'
import type { ManagementClient } from '../../management/client.ts'
import { watchReachability } from '../../management/reachability.ts'
import { databaseAccessSource } from '../../registration/database-source.ts'
import { REGISTRATION_KINDS } from '../../registration/kinds.ts'
import { registrationOpenApi } from '../../registration/open-api.ts'
import type { Registrations } from '../../registration/registrations.ts'
import type { Store } from '../../store/connect.ts'
import { CommandFailure, hasCode } from '../failure.ts'
import { storedWishes } from '../fleet/mirror-wishes.ts'
import { portOf } from '../listen.ts'
import type { Readers } from './readers.ts'

export interface ApiServerParts {
  readonly store: Store
  readonly registrations: Registrations
  readonly tls: TlsOptions
  readonly listen: ListenAddress
  /** Whether a page that is not the last has a `continue` although nobody asked for it. */
  readonly continueByDefault: boolean
  readonly readerLimits: ReaderLimits
  readonly log: Logger
  readonly clock: Clock
  /** Where registrations live, when they are not our own: then none are served here. */
  readonly management?: ManagementClient
  /** Left out: the tokens of this installation alone. */
  readonly readers?: Readers
  /** CAs of client certificates, beside those of the readers. */
  readonly ownCas?: () => readonly CertificateBundle[]
  readonly direct?: DirectAddress
  /** How long a list takes at most that goes through a front proxy. */
  readonly proxiedListSeconds?: number
  /** Left out: it stops at once, and cuts off what takes longer than a moment. */
  readonly shutdown?: Shutdown
  /** For /metrics, with what is counted elsewhere in it. Left out: one of its own. */
  readonly registry?: Registry
  /** Of the syncer that runs beside it, in the text that Prometheus reads. */
  readonly syncerMetrics?: () => Promise<string>
}

export interface Shutdown {
  /** How long it goes on answering although /readyz fails: until no balancer sends anything. */
  readonly delaySeconds: number
  /** How long answers that are under way then may take. */
  readonly graceSeconds: number
}

export interface ApiServer {
  /** The one it got, when any was asked for. */
  readonly port: number
  /** For new connections; open ones go on with the old certificate. */
  useCertificate(tls: TlsOptions): void
  /** Lets answers that are under way end. */
  stop(): Promise<void>
}

/** @throws CommandFailure when the address cannot be had; nothing is left open then. */
export async function startApiServer(parts: ApiServerParts): Promise<ApiServer> {
  const started = new AsyncDisposableStack()
  try {
    const server = await build(parts, started)
    const port = await listen(server, parts.listen)
    return {
      port,
      useCertificate: (tls) => {
        const { server: tlsServer } = server as unknown as { readonly server: Server }
        // No CA: apiserver/server.ts says why.
        tlsServer.setSecureContext({ ...tls, ca: [] })
      },
      stop: () => started.disposeAsync(),
    }
  } catch (error) {
    await started.disposeAsync()
    throw error
  }
}

async function build(
  parts: ApiServerParts,
  started: AsyncDisposableStack,
): Promise<FastifyInstance> {
  const { store, registrations, tls, continueByDefault, readerLimits, log, clock } = parts
  const catalog = await createCatalogCache(store, log)
  started.defer(() => catalog.close())
  const source = parts.readers?.authorizePaths
    ? everyoneMayRead
    : databaseAccessSource(registrations)
  const access = await createAccess({ catalog, source, log, clock })
  started.defer(() => access.close())
  const own = parts.management ? NO_REGISTRATIONS : ownRegistrations(parts, { access, catalog })
  const { registry = processMetrics() } = parts
  const draining = new Draining()
  const wishes = () => storedWishes(store)
  const server = await buildServer({
    ...{ store, catalog, access, log, clock, tls, continueByDefault, readerLimits, registry },
    ...readerOptions(parts),
    draining,
    ...(parts.shutdown && { graceMilliseconds: parts.shutdown.graceSeconds * 1000 }),
    metrics: metricsOf(registry, parts.syncerMetrics),
    readiness: readinessOf(parts, started),
    root: {
      rootKinds: [...own.kinds, ...FLEET_KINDS],
      source: storedOpenApi(store),
      rootDocuments: new Map([...own.documents, ...fleetOpenApi()]),
    },
    plugins: [
      ...own.plugins,
      (inner) => mirrorStates(inner, { access, clock, wishes }),
      fleetRoutes({
        ...{ store, catalog, access, clock, log, wishes },
        proxiedListMilliseconds: millisecondsBehindProxy(parts),
      }),
    ],
  })
  started.defer(async () => {
    draining.begin()
    await clock.sleep((parts.shutdown?.delaySeconds ?? 0) * 1000)
    await server.close()
  })
  return server
}

function millisecondsBehindProxy({ proxiedListSeconds: most }: ApiServerParts) {
  return most === undefined ? undefined : most * 1000
}

function readerOptions(parts: ApiServerParts) {
  const { readers, ownCas = () => [], direct } = parts
  const limit = millisecondsBehindProxy(parts)
  const { trust, authorize, authorizePaths } = readers ?? {}
  const clientCas = () => [...ownCas(), ...(trust?.clientCas() ?? [])]
  return {
    trust: { ...trust, clientCas },
    ...(authorize && { authorize }),
    ...(authorizePaths !== undefined && { authorizePaths }),
    ...(direct && { direct }),
    ...(limit !== undefined && { proxiedListMilliseconds: limit }),
  }
}

/** What the root serves of registrations. */
interface ServedRegistrations {
  readonly kinds: typeof REGISTRATION_KINDS
  readonly documents: ReturnType<typeof registrationOpenApi>
  readonly plugins: readonly FastifyPluginAsync[]
}

/** There is one truth, and it is not here: what was written here would be lost at the next list. */
const NO_REGISTRATIONS: ServedRegistrations = { kinds: [], documents: new Map(), plugins: [] }

function ownRegistrations(
  { registrations, clock }: ApiServerParts,
  { access, catalog }: { readonly access: Access; readonly catalog: CatalogCache },
): ServedRegistrations {
  const authorize: Access['authorizeRegistration'] = (identity, request) =>
    access.authorizeRegistration(identity, request)
  return {
    kinds: REGISTRATION_KINDS,
    documents: registrationOpenApi(),
    plugins: [
      registrationRoutes({
        ...{ registrations, authorize, clock },
        rightsOf: (identity) => access.rulesOf(identity),
        untilKnown: (clusters) => untilKnown(catalog, clusters),
      }),
    ],
  }
}

function readinessOf(
  { store, management, readers, clock, log }: ApiServerParts,
  started: AsyncDisposableStack,
): readonly ReadinessCheck[] {
  const ofReaders = [...replicaCheck(store), ...(readers?.readiness ?? [])]
  if (!management) return ofReaders
  const reachability = watchReachability(management, { clock, log })
  started.defer(() => reachability.stop())
  return [{ name: 'management-cluster', trouble: () => reachability.trouble }, ...ofReaders]
}

/** Without it the primary answers: that is no reason to send work elsewhere. */
function replicaCheck({ replica }: Store): readonly ReadinessCheck[] {
  return replica ? [{ name: 'read-replica', trouble: () => replica.trouble, advisory: true }] : []
}

function metricsOf(own: Registry, syncerMetrics: ApiServerParts['syncerMetrics']) {
  return {
    contentType: own.contentType,
    metrics: async () => {
      const [ours, theirs = ''] = await Promise.all([own.metrics(), syncerMetrics?.()])
      return theirs === '' ? ours : `${ours}\n${theirs}`
    },
  }
}

/** A registry that tells of this process. */
export function processMetrics(): Registry {
  const register = new Registry()
  collectDefaultMetrics({ register })
  return register
}

async function listen(server: FastifyInstance, { host, port }: ListenAddress): Promise<number> {
  try {
    await server.listen({ host, port })
  } catch (error) {
    throw cannotListen(error, `${host}:${port}`)
  }
  return portOf(server.server)
}

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something else listens there',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EACCES: 'this user may not listen there',
  ENOTFOUND: 'the host name is not known',
}

function cannotListen(error: unknown, where: string): unknown {
  const code = Object.keys(WHY).find((known) => hasCode(error, known))
  if (!code) return error
  return new CommandFailure(`cannot listen on ${where}: ${WHY[code]}; give another --listen`)
}
