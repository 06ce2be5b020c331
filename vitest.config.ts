import { defineConfig } from 'vitest/config'
import { hasContainerEngine } from './test/support/container-engine.ts'
import { systemPostgres } from './test/support/postgres-server.ts'
import { PATIENCE_MILLISECONDS } from './test/support/until.ts'

/** The store must work alike on every PostgreSQL: its tests run again on what else there is. */
const storeOn = (name: string, globalSetup: string) =>
  ({
    extends: true,
    test: { name, include: ['test/store/**/*.test.ts'], globalSetup: [globalSetup] },
  }) as const

const hasSystemPostgres = systemPostgres() !== undefined
if (!hasSystemPostgres) {
  console.warn('skipped: the store’s tests on the machine’s PostgreSQL, because it has none')
}
const hasContainers = await hasContainerEngine()
if (!hasContainers) {
  console.warn('skipped: the store’s tests on PostgreSQL 14, because no container engine answers')
}

export default defineConfig({
  test: {
    reporters: ['default', './test/support/count-reporter.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Limits for what hangs. What a slow machine does in time is in no test.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: PATIENCE_MILLISECONDS } },
    projects: [
      {
        extends: true,
        test: {
          name: 'main',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/chaos/**'],
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
      {
        extends: true,
        // It has a server of its own, to crash it, and processes of its own, to kill them.
        test: { name: 'chaos', include: ['test/chaos/**/*.test.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          // After the others and one by one: how long a start takes is measured there.
          sequence: { groupOrder: 1 },
          maxWorkers: 1,
        },
      },
      ...(hasSystemPostgres
        ? [storeOn('system-postgres', 'test/support/global-setup-system.ts')]
        : []),
      ...(hasContainers
        ? [storeOn('container-postgres', 'test/support/global-setup-container.ts')]
        : []),
    ],
  },
})
