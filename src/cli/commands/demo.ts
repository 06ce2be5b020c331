/**
 * `fleetglass demo`: `serve` with four simulated member clusters, registered by applying manifests
 * to our own API, as a user would.
 */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { systemClock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { startDemoFleet } from '../../demo/fleet.ts'
import { DEMO_MEMBERS } from '../../demo/members.ts'
import { createLogger } from '../../log.ts'
import { keyFileIn, prepareDataDir } from '../data-dir/data-dir.ts'
import { replaceFile } from '../data-dir/write-file.ts'
import { adminApi } from '../demo/admin-api.ts'
import { freeAddress } from '../demo/free-address.ts'
import { demoGuide } from '../demo/guide.ts'
import { progress } from '../demo/progress.ts'
import { runCommand } from '../demo/run-command.ts'
import { untilInStep } from '../demo/until-in-step.ts'
import { CommandFailure } from '../failure.ts'
import { type Standalone, startStandalone } from '../parts/standalone.ts'
import { addSettings, readSettings } from '../setting-options.ts'
import { stopSignal } from '../stop-signal.ts'
import { INTERRUPTED, unlessInterrupted, untilStopped } from './serve.ts'

const TAKES = [
  'dataDir',
  'listen',
  'tlsSan',
  'secretValues',
  'firstLists',
  'firstListsPerMember',
  'continueTokens',
  'readerStreams',
  'readerQueries',
  'changeLogHours',
  'changeLogChanges',
  'logLevel',
] as const
/** Its progress and its guide are for people to read; the log is for when something is wrong. */
const OTHER_DEFAULTS = { dataDir: '.fleetglass/demo', logLevel: 'warn' }
const IN_STEP_WITHIN_SECONDS = 120

type DemoConfig = Config<(typeof TAKES)[number]>

interface DemoFlags {
  readonly exec?: string
  readonly listen?: string
}

export function defineDemo(program: Command, exitWith: (exitCode: number) => void): void {
  const command = program
    .command('demo')
    .description('run everything with four simulated member clusters, to try it out')
    .option('--exec <COMMAND>', 'run this with KUBECONFIG set once all is in step, then stop')
  addSettings(command, TAKES, { fallbacks: OTHER_DEFAULTS }).action(async () => {
    const config = readSettings(command, TAKES, OTHER_DEFAULTS)
    const flags = command.opts<DemoFlags>()
    // Only an address that the user chose must be that one.
    const listen = flags.listen === undefined ? await freeAddress(config.listen) : config.listen
    exitWith(await runDemo({ ...config, listen }, flags.exec))
  })
}

async function runDemo(config: DemoConfig, command: string | undefined): Promise<number> {
  const signal = stopSignal()
  await using started = new AsyncDisposableStack()
  const standalone = await unlessInterrupted(start(config, started), signal)
  if (!standalone) return INTERRUPTED
  const api = adminApi(standalone)
  const members = DEMO_MEMBERS.map(({ name }) => name)
  const timeout = AbortSignal.timeout(IN_STEP_WITHIN_SECONDS * 1000)
  await untilInStep(api, {
    members,
    clock: systemClock,
    signal: AbortSignal.any([signal, timeout]),
  })
  if (timeout.aborted && !signal.aborted) {
    throw new CommandFailure(`not all clusters came in step within ${IN_STEP_WITHIN_SECONDS} s`)
  }
  if (command !== undefined) return await runCommand(command, standalone.kubeconfig, signal)
  if (!signal.aborted) console.log(demoGuide(standalone))
  signal.addEventListener('abort', () => progress('stopping'))
  return await untilStopped(standalone, signal)
}

/** Fleet and server start at the same time; what started is stopped whatever becomes of the other. */
async function start(config: DemoConfig, started: AsyncDisposableStack): Promise<Standalone> {
  claimDataDir(prepareDataDir(config.dataDir))
  progress('starting the database, the API server and four simulated clusters')
  const log = createLogger(config.logLevel)
  const parts = { log, clock: systemClock }
  const fleet = startDemoFleet(parts)
  started.defer(() => stopped(fleet))
  const memberClusters = DEMO_MEMBERS.map(({ name }) => name)
  const starting = startStandalone({ config, ...parts, memberClusters, fresh: true })
  started.defer(() => stopped(starting))
  const standalone = await starting
  progress(`the API server is ready at ${standalone.url}`)
  const { manifests } = await fleet
  const api = adminApi(standalone)
  for (const manifest of manifests) {
    await api.apply(manifest)
    progress(`applied ${manifest.kind} ${manifest.metadata?.name}`)
  }
  return standalone
}

async function stopped(starting: Promise<{ stop(): Promise<void> }>): Promise<void> {
  // One that did not start has nothing to stop, and its failure is reported where it is awaited.
  const part = await starting.catch(() => undefined)
  await part?.stop()
}

/** What is in a demo's directory is thrown away by the next demo, so it must be one. */
function claimDataDir(dataDir: string): void {
  const mark = join(dataDir, 'demo')
  const found = statSync(mark, { throwIfNoEntry: false })
  // Where serve keeps its own, `demo` may be the directory of a demo.
  if ((!found && existsSync(keyFileIn(dataDir))) || found?.isDirectory()) {
    throw new CommandFailure(
      `${dataDir} belongs to a fleetglass that is no demo: give another --data-dir`,
    )
  }
  replaceFile(mark, 'What is here is thrown away by the next demo.\n')
}
