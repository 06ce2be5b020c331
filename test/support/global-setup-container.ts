/** As global-setup.ts, on a PostgreSQL in a container: the oldest that is supported. */
import { PostgreSqlContainer } from '@testcontainers/postgresql'
import type { TestProject } from 'vitest/node'
import { setupOnServer } from './global-setup.ts'

const OLDEST = 'postgres:14-alpine'

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const container = await new PostgreSqlContainer(OLDEST).start()
  const stop = async () => {
    await container.stop()
  }
  return setupOnServer({ url: container.getConnectionUri(), version: OLDEST, stop }, project)
}
