/**
 * A server of everything but objects: who is asking, rights, discovery, OpenAPI, reviews, health.
 *
 * On a real store; only where FleetAccess objects come from is a list in memory.
 */
import Fastify, { type FastifyInstance } from 'fastify'
import { Registry } from 'prom-client'
import type { Access } from '../../src/apiserver/access/access.ts'
import { createAccess } from '../../src/apiserver/access/create-access.ts'
import { type CatalogCache, createCatalogCache } from '../../src/apiserver/catalog.ts'
import { discovery } from '../../src/apiserver/discovery/plugin.ts'
import type { RootKind } from '../../src/apiserver/discovery/root-listing.ts'
import { health } from '../../src/apiserver/health/plugin.ts'
import { storedOpenApi } from '../../src/apiserver/openapi/catalogue.ts'
import { openApi } from '../../src/apiserver/openapi/plugin.ts'
import { authentication } from '../../src/apiserver/plugins/authenticate.ts'
import { statusErrors } from '../../src/apiserver/plugins/status-errors.ts'
import { reviews } from '../../src/apiserver/reviews/plugin.ts'
import { systemClock } from '../../src/clock.ts'
import type { AccessRule, FleetAccess } from '../../src/kube/fleet-access.ts'
import type { JsonObject } from '../../src/kube/kube-object.ts'
import { createLogger } from '../../src/log.ts'
import { createAccessToken, findAccessToken } from '../../src/store/access-tokens.ts'
import type { Store } from '../../src/store/connect.ts'
import { currentRevision } from '../../src/store/fleet-revision.ts'

export interface DocumentServer {
  readonly server: FastifyInstance
  readonly access: Access
  readonly catalog: CatalogCache
  /** Replaces all FleetAccess objects, and tells the server. */
  setAccess(objects: readonly FleetAccess[]): void
  /** A new token of a user; `system:masters` makes an administrator of them. */
  token(user: string, ...groups: string[]): Promise<string>
  close(): Promise<void>
}

export interface DocumentServerOptions {
  readonly rootKinds?: readonly RootKind[]
  readonly rootDocuments?: ReadonlyMap<string, JsonObject>
  readonly isStopping?: () => boolean
}

const log = createLogger('silent')

export async function documentServer(
  store: Store,
  {
    rootKinds = [],
    rootDocuments = new Map(),
    isStopping = () => false,
  }: DocumentServerOptions = {},
): Promise<DocumentServer> {
  const catalog = await createCatalogCache(store, log)
  const source = accessList()
  const access = await createAccess({ catalog, source, log, clock: systemClock })
  const server: FastifyInstance = Fastify()
  await server.register(statusErrors)
  await server.register(authentication, {
    findToken: (token: string) => findAccessToken(store, token),
    clock: systemClock,
  })
  await server.register(discovery, { access, rootKinds })
  await server.register(openApi, { access, rootKinds, rootDocuments, source: storedOpenApi(store) })
  await server.register(reviews, { access, rootKinds })
  await server.register(health, {
    pingDatabase: () => currentRevision(store),
    isStopping,
    metrics: new Registry(),
    log,
    clock: systemClock,
  })
  return {
    ...{ server, access, catalog, setAccess: source.set },
    token: (userName, ...groups) =>
      createAccessToken(store, {
        name: crypto.randomUUID(),
        ...{ userName, groups, expiresAt: new Date(Date.now() + 3_600_000) },
      }),
    async close() {
      await server.close()
      await access.close()
      await catalog.close()
    },
  }
}

/** FleetAccess objects as a value that is replaced as a whole. */
export function accessList() {
  let objects: readonly FleetAccess[] = []
  const listeners = new Set<() => void>()
  return {
    accessObjects: async () => objects,
    onAccessChange: (listener: () => void, signal: AbortSignal) => {
      listeners.add(listener)
      signal.addEventListener('abort', () => listeners.delete(listener))
    },
    set(next: readonly FleetAccess[]) {
      objects = next
      for (const listener of listeners) listener()
    },
  }
}

/** A FleetAccess of one user, with rules that speak of all groups and resources unless they say so. */
export function grant(user: string, ...rules: readonly Partial<AccessRule>[]): FleetAccess {
  const full = rules.map((rule) => ({
    ...{ namespaces: ['*'], apiGroups: ['*'], resources: ['*'] },
    ...rule,
  }))
  return {
    metadata: { name: user },
    spec: { subjects: [{ kind: 'User', name: user }], rules: full },
  }
}
