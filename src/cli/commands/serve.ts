/** `fleetglass serve`: database, API server and syncer in one process tree. */
import type { Command } from 'commander'
import { systemClock } from '../../clock.ts'
import { createLogger } from '../../log.ts'
import { STANDALONE_SETTINGS, type Standalone, startStandalone } from '../parts/standalone.ts'
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
    const standalone = await startStandalone({ config, log, clock: systemClock })
    const { url, kubeconfig } = standalone
    if (!signal.aborted) console.log(`fleetglass is ready at ${url} (kubeconfig: ${kubeconfig})`)
    exitWith(await untilStopped(standalone, signal))
  })
}

/** @returns the exit code: 0 when it was asked to stop. */
export async function untilStopped(standalone: Standalone, signal: AbortSignal): Promise<number> {
  const why = await Promise.race([aborted(signal), standalone.ended])
  if (why !== undefined) console.error(`error: ${why}`)
  await standalone.stop()
  return why === undefined ? 0 : 1
}
