/**
 * The whole API server on a real store, but for registrations: FleetAccess objects are a list in
 * memory. For tests of rights, and of what is answered about types.
 */
import type { FastifyInstance } from 'fastify'
import { Registry } from 'prom-client'
import type { Access } from '../../src/apiserver/access/access.ts'
import { createAccess } from '../../src/apiserver/access/create-access.ts'
import { type CatalogCache, createCatalogCache } from '../../src/apiserver/catalog.ts'
import type { RootKind } from '../../src/apiserver/discovery/root-listing.ts'
import { storedOpenApi } from '../../src/apiserver/openapi/catalogue.ts'
import { buildServer, type TlsOptions } from '../../src/apiserver/server.ts'
import { systemClock } from '../../src/clock.ts'
import type { AccessRule, FleetAccess } from '../../src/kube/fleet-access.ts'
import type { JsonObject } from '../../src/kube/kube-object.ts'
import { createLogger } from '../../src/log.ts'
import { createAccessToken } from '../../src/store/access-tokens.ts'
import type { Store } from '../../src/store/connect.ts'

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
  readonly tls?: TlsOptions
}

const log = createLogger('silent')

export async function documentServer(
  store: Store,
  { rootKinds = [], rootDocuments = new Map(), tls }: DocumentServerOptions = {},
): Promise<DocumentServer> {
  const catalog = await createCatalogCache(store, log)
  const source = accessList()
  const access = await createAccess({ catalog, source, log, clock: systemClock })
  const server = await buildServer({
    ...{ store, catalog, access, log, clock: systemClock, continueByDefault: true },
    root: { rootKinds, rootDocuments, source: storedOpenApi(store) },
    metrics: new Registry(),
    ...(tls && { tls }),
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
