/** `fleetglass migrate`: brings a database to the schema of this release. */
import type { Command } from 'commander'
import { connectStore } from '../../store/connect.ts'
import { migrate } from '../../store/migrate.ts'
import { addSettings, readSettings } from '../setting-options.ts'
import { REQUIRED_APART, required } from './required.ts'

const TAKES = ['databaseUrl'] as const

export function defineMigrate(program: Command): void {
  const command = program
    .command('migrate')
    .description('bring a database to this release’s schema')
  addSettings(command, TAKES, { required: REQUIRED_APART }).action(async () => {
    const url = required(readSettings(command, TAKES), 'databaseUrl')
    const store = await connectStore({ url, applicationName: 'fleetglass migrate' })
    try {
      const applied = await migrate(store)
      for (const name of applied) console.log(`applied ${name}`)
      if (applied.length === 0) console.log('nothing to do')
    } finally {
      await store.close()
    }
  })
}
