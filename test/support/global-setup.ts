/** Once for a run of the tests: a PostgreSQL server, and in it a migrated database to copy. */
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { connectStore } from '../../src/store/connect.ts'
import { migrate } from '../../src/store/migrate.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string
  }
}

export const TEMPLATE = 'fleetglass_template'

export function setup(project: TestProject): Promise<() => Promise<void>> {
  return setupOn('embedded', project)
}

export async function setupOn(
  which: 'embedded' | 'system',
  project: TestProject,
): Promise<() => Promise<void>> {
  return setupOnServer(await startPostgres(which), project)
}

/** @returns what stops the server again. */
export async function setupOnServer(
  server: Pick<PostgresServer, 'url' | 'version' | 'stop'>,
  project: TestProject,
): Promise<() => Promise<void>> {
  try {
    await makeTemplate(server.url)
  } catch (error) {
    await server.stop()
    throw error
  }
  console.error(`${project.name} tests run on PostgreSQL ${server.version}`)
  project.provide('postgresUrl', server.url)
  return server.stop
}

async function makeTemplate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`create database ${TEMPLATE}`)
  await client.end()
  const template = new URL(url)
  template.pathname = TEMPLATE
  const store = await connectStore({ url: template.href, applicationName: 'template' })
  await migrate(store)
  await store.close()
}
