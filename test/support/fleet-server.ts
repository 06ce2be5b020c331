/** The whole API server on a real store, with FleetAccess objects and tokens from the test. */
import type { AddressInfo } from 'node:net'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { Registry } from 'prom-client'
import { createAccess } from '../../src/apiserver/access/create-access.ts'
import { type CatalogCache, createCatalogCache } from '../../src/apiserver/catalog.ts'
import { FLEET_KINDS, fleetOpenApi } from '../../src/apiserver/fleet/kinds.ts'
import { fleetRoutes } from '../../src/apiserver/fleet/plugin.ts'
import type { FleetParts } from '../../src/apiserver/fleet/view.ts'
import { mirrorStates } from '../../src/apiserver/mirror-states.ts'
import { storedOpenApi } from '../../src/apiserver/openapi/catalogue.ts'
import { buildServer, type ServerOptions } from '../../src/apiserver/server.ts'
import { systemClock } from '../../src/clock.ts'
import type { AccessRule, FleetAccess } from '../../src/kube/fleet-access.ts'
import { FLEET_PREFIX } from '../../src/kube/fleet-prefix.ts'
import { createLogger } from '../../src/log.ts'
import { createAccessToken } from '../../src/store/access-tokens.ts'
import type { Store } from '../../src/store/connect.ts'

export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly warnings: readonly string[]
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  readonly json: any
}

export interface Asking {
  readonly accept?: string
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly payload?: string
}

/** Asks as one reader: `ask('/api/v1/pods')` under the fleet prefix. */
export interface Reader {
  readonly token: string
  ask(path: string, asking?: Asking): Promise<Answer>
  askMember(cluster: string, path: string, asking?: Asking): Promise<Answer>
  askRoot(path: string, asking?: Asking): Promise<Answer>
}

export interface FleetServer {
  readonly server: FastifyInstance
  readonly catalog: CatalogCache
  readonly admin: Reader
  /** A user whom one FleetAccess object gives these rules. */
  viewer(rules: readonly AccessRule[]): Promise<Reader>
  /** Waits until requests see everything that was stored. */
  refresh(): Promise<void>
  listen(): Promise<string>
  close(): Promise<void>
}

const silent = createLogger('silent')

export interface FleetServerOptions
  extends Partial<
    Pick<
      ServerOptions,
      | 'clock'
      | 'tls'
      | 'trust'
      | 'authorize'
      | 'authorizePaths'
      | 'proxiedListMilliseconds'
      | 'continueByDefault'
      | 'log'
      | 'readerLimits'
      | 'draining'
      | 'registry'
    >
  > {
  /** With `fleet.fleetglass.io` at the root; tells what registrations ask for. */
  readonly wishes?: FleetParts['wishes']
  /** Routes of their own; `request.identity` is set for them. */
  readonly plugins?: readonly FastifyPluginAsync[]
  /** Closed with the server; left out, one that hears of changes. */
  readonly catalog?: CatalogCache
}

export async function fleetServer(
  store: Store,
  options: FleetServerOptions = {},
): Promise<FleetServer> {
  const { clock = systemClock, log = silent, continueByDefault = true } = options
  const objects: FleetAccess[] = []
  const listeners = new Set<() => void>()
  const source = {
    accessObjects: async () => [...objects],
    onAccessChange: (listener: () => void) => void listeners.add(listener),
  }
  const catalog = options.catalog ?? (await createCatalogCache(store, log))
  const access = await createAccess({ catalog, source, log, clock: systemClock })
  const { wishes, proxiedListMilliseconds } = options
  const root = {
    rootKinds: wishes ? FLEET_KINDS : [],
    rootDocuments: wishes ? fleetOpenApi() : new Map(),
    source: storedOpenApi(store),
  }
  const server = await buildServer({
    ...{ store, catalog, access, root, log, clock, continueByDefault, metrics: new Registry() },
    ...(options.tls && { tls: options.tls }),
    ...(options.trust && { trust: options.trust }),
    ...(options.authorize && { authorize: options.authorize }),
    ...(options.authorizePaths && { authorizePaths: true }),
    ...(options.readerLimits && { readerLimits: options.readerLimits }),
    ...(options.draining && { draining: options.draining }),
    ...(options.registry && { registry: options.registry }),
    ...(options.proxiedListMilliseconds !== undefined && {
      proxiedListMilliseconds: options.proxiedListMilliseconds,
    }),
    plugins: [
      ...(options.plugins ?? []),
      ...(wishes
        ? [
            (inner: FastifyInstance) => mirrorStates(inner, { access, clock, wishes }),
            fleetRoutes({ store, catalog, access, clock, log, wishes, proxiedListMilliseconds }),
          ]
        : []),
    ],
  })
  const tokenOf = (userName: string, groups: readonly string[]) =>
    createAccessToken(store, {
      ...{
        name: crypto.randomUUID(),
        userName,
        groups,
        expiresAt: new Date(Date.now() + 3_600_000),
      },
    })
  const admin = readerOf(server, await tokenOf('admin', ['system:masters']))
  return {
    ...{ server, catalog, admin },
    async viewer(rules) {
      const user = `viewer-${objects.length}`
      objects.push({
        metadata: { name: user },
        spec: { subjects: [{ kind: 'User', name: user }], rules },
      })
      for (const listener of listeners) listener()
      // The rules are read again at once, and nothing there waits for I/O.
      await new Promise((resolve) => setImmediate(resolve))
      return readerOf(server, await tokenOf(user, []))
    },
    refresh: () => catalog.refresh(),
    async listen() {
      await server.listen({ host: '127.0.0.1', port: 0 })
      const { port } = server.server.address() as AddressInfo
      return `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`
    },
    async close() {
      await server.close()
      await access.close()
      await catalog.close()
    },
  }
}

function readerOf(server: FastifyInstance, token: string): Reader {
  const askRoot = async (url: string, asking: Asking = {}): Promise<Answer> => {
    const { accept, method = 'GET', headers, payload } = asking
    const answer = await server.inject({
      ...{ method, url },
      headers: {
        authorization: `Bearer ${token}`,
        ...(accept !== undefined && { accept }),
        ...headers,
      },
      ...(payload !== undefined && { payload }),
    })
    const text = answer.payload
    const contentType = String(answer.headers['content-type'] ?? '')
    return {
      status: answer.statusCode,
      contentType,
      headers: answer.headers,
      warnings: [answer.headers.warning ?? []].flat().map(String),
      text,
      json:
        contentType.startsWith('application/json') && text !== '' ? JSON.parse(text) : undefined,
    }
  }
  return {
    ...{ token, askRoot },
    ask: (path, asking) => askRoot(FLEET_PREFIX + path, asking),
    askMember: (cluster, path, asking) =>
      askRoot(`${FLEET_PREFIX}/clusters/${cluster}${path}`, asking),
  }
}
