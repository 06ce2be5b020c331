/** `fleetglass serve`: database, API server and syncer in one process tree. */
import type { Command } from 'commander'
import { systemClock } from '../../clock.ts'
import { createLogger } from '../../log.ts'
import { STANDALONE_SETTINGS, type Standalone, startStandalone } from '../parts/standalone.ts'
import { databaseElsewhere } from '../postgres/embedded-postgres.ts'
import { addSettings, readSettings } from '../setting-options.ts'
import { aborted, stopSignal } from '../stop-signal.ts'

export function defineServe(program: Command, exitWith: (exitCode: number) => void): void {
  const command = program
    .command('serve')
    .description('run everything: the database, the API server and the syncer')
  addSettings(command, STANDALONE_SETTINGS).action(async () => {
    const config = readSettings(command, STANDALONE_SETTINGS)
    const log = createLogger(config.logLevel)
    const signal = stopSignal()
    const starting = startStandalone({ config, log, clock: systemClock })
    const standalone = await unlessInterrupted(starting, signal)
    if (!standalone) return exitWith(INTERRUPTED)
    if (!signal.aborted) console.log(readyLine(standalone))
    exitWith(await untilStopped(standalone, signal))
  })
}

function readyLine({ url, kubeconfig, dataDir }: Standalone): string {
  const elsewhere = databaseElsewhere(dataDir)
  const database = elsewhere ? `, database: ${elsewhere}` : ''
  return `fleetglass is ready at ${url} (kubeconfig: ${kubeconfig}${database})`
}

/** As a shell reports Ctrl-C. */
export const INTERRUPTED = 130

/** Ctrl-C at a terminal reaches every process, so what fails to start after it is no news. */
export async function unlessInterrupted<T>(
  starting: Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await starting
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

/** @returns the exit code: 0 when it was asked to stop. */
export async function untilStopped(standalone: Standalone, signal: AbortSignal): Promise<number> {
  const why = await Promise.race([aborted(signal), standalone.ended])
  if (why !== undefined) console.error(`error: ${why}`)
  await standalone.stop()
  return why === undefined ? 0 : 1
}
