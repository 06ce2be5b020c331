/**
 * The syncer as a process of its own beside the API server, so that reading members' objects never
 * holds up an answer. Started again when it ends by itself; ends by itself when we do.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { extname, join } from 'node:path'
import type { Clock } from '../../clock.ts'
import { environmentWith } from '../../config.ts'
import type { Logger } from '../../log.ts'

export interface SyncerProcessOptions {
  /** FLEETGLASS_* variables; a password or key never stands on a command line. */
  readonly variables: Readonly<Record<string, string>>
  readonly log: Logger
  readonly clock: Clock
}

export interface SyncerProcess {
  /** What it counts, as its metrics page would show it; `''` while it does not run or does not answer. */
  metrics(): Promise<string>
  stop(): Promise<void>
}

const FIRST_RETRY_MILLISECONDS = 500
const LAST_RETRY_MILLISECONDS = 30_000
/** One that ran for this long had a good start. */
const GOOD_RUN_MILLISECONDS = 60_000
const STOPS_WITHIN_MILLISECONDS = 2500

export function startSyncerProcess(options: SyncerProcessOptions): SyncerProcess {
  const stopping = new AbortController()
  const running: { child?: ChildProcess } = {}
  const done = keepRunning(options, running, stopping.signal)
  return {
    metrics: () => askMetrics(running.child),
    async stop() {
      stopping.abort()
      const { child } = running
      child?.kill('SIGTERM')
      const kill = setTimeout(() => child?.kill('SIGKILL'), STOPS_WITHIN_MILLISECONDS)
      await done
      clearTimeout(kill)
    },
  }
}

/** What is asked over the channel of the child process, and what answers begin with. */
export const METRICS_QUESTION = 'metrics'

const ANSWERS_WITHIN_MILLISECONDS = 2_000

async function askMetrics(child: ChildProcess | undefined): Promise<string> {
  if (!child?.connected) return ''
  return new Promise((resolve) => {
    const finish = (text: string) => {
      clearTimeout(timer)
      child.off('message', answered)
      resolve(text)
    }
    const answered = (message: unknown) => finish(typeof message === 'string' ? message : '')
    const timer = setTimeout(() => finish(''), ANSWERS_WITHIN_MILLISECONDS)
    child.once('message', answered)
    child.send(METRICS_QUESTION, (error) => {
      if (error) finish('')
    })
  })
}

async function keepRunning(
  options: SyncerProcessOptions,
  running: { child?: ChildProcess },
  signal: AbortSignal,
): Promise<void> {
  const { log, clock } = options
  let waitMilliseconds = FIRST_RETRY_MILLISECONDS
  while (!signal.aborted) {
    const startedAt = clock.now()
    running.child = launch(options)
    const how = await untilExit(running.child)
    if (signal.aborted) return
    if (clock.now() - startedAt > GOOD_RUN_MILLISECONDS) waitMilliseconds = FIRST_RETRY_MILLISECONDS
    log.error({ how, waitMilliseconds }, 'the syncer ended by itself and is started again')
    await clock.sleep(waitMilliseconds, signal).catch(() => undefined)
    waitMilliseconds = Math.min(waitMilliseconds * 2, LAST_RETRY_MILLISECONDS)
  }
}

function launch({ variables }: SyncerProcessOptions): ChildProcess {
  const main = join(import.meta.dirname, `../../main${extname(import.meta.filename)}`)
  return fork(main, ['syncer'], {
    env: environmentWith(variables),
    // Standard output belongs to what the main process has to say.
    stdio: ['ignore', 2, 2, 'ipc'],
  })
}

function untilExit(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
}
