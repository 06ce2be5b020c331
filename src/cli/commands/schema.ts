/** `fleetglass schema NAME`: the JSON schemas of what commands print, without a network. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { USAGE_EXIT_CODE } from '../../fleet/verdict.ts'
import { CommandFailure } from '../failure.ts'

/** Where parts keep them: `fleet/schemas/fleet.json` is the schema `fleet`. */
const FOLDERS = ['fleet', 'drift'].map((part) =>
  join(import.meta.dirname, '../..', part, 'schemas'),
)

export function defineSchema(program: Command): void {
  const files = schemaFiles()
  program
    .command('schema <NAME>')
    .description(`print the JSON schema of an output: ${[...files.keys()].sort().join(', ')}`)
    .action((name: string) => {
      const path = files.get(name)
      if (path === undefined) {
        const known = [...files.keys()].sort().join(', ')
        throw new CommandFailure(`there is no schema ${JSON.stringify(name)}: there are ${known}`, {
          exitCode: USAGE_EXIT_CODE,
        })
      }
      process.stdout.write(readFileSync(path, 'utf8'))
    })
}

function schemaFiles(): ReadonlyMap<string, string> {
  const folders = FOLDERS.filter((folder) => existsSync(folder))
  const files = folders.flatMap((folder) =>
    readdirSync(folder).map((file) => [file.replace(/\.json$/, ''), join(folder, file)] as const),
  )
  return new Map(files)
}
