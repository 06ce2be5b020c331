import { defineConfig } from 'vitest/config'
import { systemPostgres } from './test/support/postgres-server.ts'

/** The store must work alike on the embedded PostgreSQL and on any other: its tests run on both. */
const onSystemPostgres = {
  extends: true,
  test: {
    name: 'system-postgres',
    include: ['test/store/**/*.test.ts'],
    globalSetup: ['test/support/global-setup-system.ts'],
  },
} as const

const hasSystemPostgres = systemPostgres() !== undefined
if (!hasSystemPostgres) {
  console.warn('skipped: the tests on the machine’s PostgreSQL, because it has none')
}

export default defineConfig({
  test: {
    reporters: ['default', './test/support/count-reporter.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'main',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**'],
          globalSetup: ['test/support/global-setup.ts'],
        },
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
      ...(hasSystemPostgres ? [onSystemPostgres] : []),
    ],
  },
})
