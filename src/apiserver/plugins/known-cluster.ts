/**
 * A member that the catalog does not know may have been registered this moment: it is loaded again
 * before anybody is told that there is no such cluster.
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { CatalogCache } from '../catalog.ts'

export interface KnownClusterOptions {
  readonly catalog: CatalogCache
}

async function install(server: FastifyInstance, { catalog }: KnownClusterOptions): Promise<void> {
  server.addHook('onRequest', async ({ params }) => {
    const { cluster } = params as { readonly cluster?: string }
    if (cluster === undefined) return
    if (!catalog.current().clusters.some(({ name }) => name === cluster)) await catalog.refresh()
  })
}

/** Fastify plugin; comes after authentication, so that nobody unknown causes work. */
export const knownCluster = fp(install, { name: 'known-cluster' })
