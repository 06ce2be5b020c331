/**
 * Every command there is, in the order of `fleetglass --help`. One file each, loaded when it is
 * asked for: a command that lists tokens needs no API server in memory, and a syncer no demo.
 */
import type { Command } from 'commander'

/** Adds a command to the program. `exitWith` sets the exit code; without it, success is 0. */
export type DefineCommand = (program: Command, exitWith: (exitCode: number) => void) => void

export const COMMANDS: ReadonlyMap<string, () => Promise<DefineCommand>> = new Map([
  ['serve', async () => (await import('./serve.ts')).defineServe],
  ['demo', async () => (await import('./demo.ts')).defineDemo],
  ['drift', async () => (await import('./drift.ts')).defineDrift],
  ['fleet', async () => (await import('./fleet.ts')).defineFleet],
  ['gate', async () => (await import('./gate.ts')).defineGate],
  ['schema', async () => (await import('./schema.ts')).defineSchema],
  ['token', async () => (await import('./token.ts')).defineToken],
  ['resync', async () => (await import('./resync.ts')).defineResync],
  ['member-manifest', async () => (await import('./member-manifest.ts')).defineMemberManifest],
  ['apiserver', async () => (await import('./apiserver.ts')).defineApiserver],
  ['syncer', async () => (await import('./syncer.ts')).defineSyncer],
  ['migrate', async () => (await import('./migrate.ts')).defineMigrate],
  ['certificates', async () => (await import('./certificates.ts')).defineCertificates],
  ['backup', async () => (await import('./backup.ts')).defineBackup],
  ['restore', async () => (await import('./backup.ts')).defineRestore],
] as const)

/** The command that these arguments ask for; all of them when they ask for none, as help does. */
export async function commandsFor(args: readonly string[]): Promise<readonly DefineCommand[]> {
  const [first = ''] = args
  if (first === '-V' || first === '--version') return []
  const asked = COMMANDS.get(first)
  const loaders = asked ? [asked] : [...COMMANDS.values()]
  return Promise.all(loaders.map((load) => load()))
}
