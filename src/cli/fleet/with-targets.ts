/** The clusters that a command is about, from whatever source the flags say, for as long as it takes. */
import type { Command } from 'commander'
import { sweepEnvironment } from '../../config.ts'
import type { Target } from '../../fleet/sweep.ts'
import { addSettings, readSettings } from '../setting-options.ts'
import { liveTargets } from './live-targets.ts'
import type { SweepFlags, SweepSettings } from './options.ts'
import { readSweepSettings } from './options.ts'
import { servedTargets } from './served-targets.ts'
import { STORE_SETTINGS, withStoreTargets } from './store-targets.ts'
import { asUsage, usageError } from './usage.ts'

export type SweepWork = (targets: readonly Target[], settings: SweepSettings) => Promise<number>

export function addStoreFlags(command: Command): void {
  addSettings(command, STORE_SETTINGS)
}

/** @returns what `work` does. @throws CommandFailure, before anything was asked for usage errors. */
export async function withTargets(
  command: Command,
  given: Partial<SweepFlags>,
  work: SweepWork,
): Promise<number> {
  const flags = { ...command.opts<SweepFlags & StoreFlags>(), ...given }
  const settings = await asUsage(() => readSweepSettings(flags))
  const { kubeconfig: variable } = sweepEnvironment()
  if (settings.source === 'live') {
    refuseStoreFlags(command)
    const targets = await asUsage(() => liveTargets({ flags, settings, variable }))
    return work(targets, settings)
  }
  if (flags.kubeconfig === undefined) {
    const config = await asUsage(() => readSettings(command, STORE_SETTINGS))
    return withStoreTargets({ flags, settings, config }, (targets) => work(targets, settings))
  }
  if (flags.dataDir !== undefined || flags.databaseUrl !== undefined) {
    throw usageError('--kubeconfig cannot be used together with --data-dir or --database-url')
  }
  return servedTargets({ flags, settings, path: flags.kubeconfig }, (targets) =>
    work(targets, settings),
  )
}

/** Whoever gives one believes that a mirror is judged. */
function refuseStoreFlags(command: Command): void {
  for (const option of command.options) {
    const name = option.attributeName()
    if (!['dataDir', 'databaseUrl', 'maxStaleness'].includes(name)) continue
    if (command.getOptionValueSource(name) !== 'cli') continue
    throw usageError(`${option.long} is of a mirror: it needs --source store`)
  }
}

interface StoreFlags {
  readonly dataDir?: string
  readonly databaseUrl?: string
}
