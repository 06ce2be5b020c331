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
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
      ...(hasSystemPostgres ? [onSystemPostgres] : []),
    ],
  },
})
